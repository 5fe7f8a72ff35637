"""`muster kubernetes`."""
