"""`muster clusterset`."""
