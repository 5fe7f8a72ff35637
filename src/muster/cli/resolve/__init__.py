"""`muster resolve`."""
