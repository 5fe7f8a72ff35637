"""Hostile input, generated: what a tenant could write."""
