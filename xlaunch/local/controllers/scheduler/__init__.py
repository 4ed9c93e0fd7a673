"""The scheduler: which node a pod goes to, and why none will do (the filters of kube-scheduler 1.37)."""
