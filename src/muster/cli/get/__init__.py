"""`muster get`."""
