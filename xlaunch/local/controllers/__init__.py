"""The controllers of the embedded cluster: what Kubernetes and JobSet do with the objects that a user creates."""
