"""A real API server behind the protocol of `local/kube.py`, for the node agent: over HTTPS, by a kubeconfig."""
