"""The function libraries that Kubernetes adds to CEL, one module each."""
