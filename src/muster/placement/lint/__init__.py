"""Mistakes that a placement can have and still be valid."""
