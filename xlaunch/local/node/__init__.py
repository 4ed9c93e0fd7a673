"""The node agent: registers nodes and runs their pods as processes of this machine, by way of a Kube only."""
