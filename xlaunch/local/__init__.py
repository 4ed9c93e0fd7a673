"""The embedded cluster: API server, controllers, node agent and the stand-ins for the Pathways images."""
