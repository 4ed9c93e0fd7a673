"""The JobSet controller and its admission webhooks, as of JobSet v0.12.0."""
