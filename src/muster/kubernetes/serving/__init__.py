"""What every replica serves on Kubernetes: webhooks, questions as an aggregated API, health and metrics."""
