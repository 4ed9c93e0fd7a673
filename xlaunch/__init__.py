"""xlaunch: launches and watches elastic TPU training on Kubernetes."""

__version__ = "0.1.0"
