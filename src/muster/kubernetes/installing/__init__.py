"""Installing, upgrading and removing the Kubernetes home, with any kubeconfig: a plan first, then its steps."""
