"""`muster hub`: the command, its processes, its credentials, its directory."""
