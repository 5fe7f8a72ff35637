"""`muster explain`."""
