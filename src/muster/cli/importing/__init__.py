"""`muster import`: clusters and hosts of other places become objects of the hub, or files."""
