"""`muster classify`."""
