"""Controllers keep the fleet true by itself. They know only the Kubernetes API: read, decide (the core), write."""
