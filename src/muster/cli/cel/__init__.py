"""`muster cel`."""
