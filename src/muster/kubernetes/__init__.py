"""The Kubernetes home: what is installed, how it gets there, and the program that runs there."""
