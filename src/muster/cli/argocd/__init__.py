"""`muster argocd`."""
