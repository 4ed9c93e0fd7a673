"""The Job controller, as of Kubernetes 1.37."""
