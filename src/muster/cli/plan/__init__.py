"""`muster plan`."""
