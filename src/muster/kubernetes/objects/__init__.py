"""What is installed, one module for each concern; `muster.kubernetes.manifests` puts them together, in order."""
