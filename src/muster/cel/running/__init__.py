"""From a checked tree to a plan, and the plain way to evaluate it."""
