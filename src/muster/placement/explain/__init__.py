"""Why it was decided so: for a placement, a cluster, a set, a move."""
