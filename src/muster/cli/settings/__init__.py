"""Defaults of the user's own, from a file: what may stand in it, and what it means to a command."""
