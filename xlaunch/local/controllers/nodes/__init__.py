"""What happens when machines are lost: health, taints, evictions, forgotten pods (Kubernetes 1.37)."""
