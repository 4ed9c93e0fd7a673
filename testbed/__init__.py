"""The real control plane as a test bed: etcd, Kubernetes, JobSet, Kueue and kwok, built from Go modules."""
