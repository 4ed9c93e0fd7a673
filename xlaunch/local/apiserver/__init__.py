"""The API server of the embedded cluster: a store, the semantics of Kubernetes' API, and a thin HTTP layer."""
