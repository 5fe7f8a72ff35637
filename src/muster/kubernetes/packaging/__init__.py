"""The same objects for those who install with other programs: a Helm chart and kustomizations, written by this code."""
