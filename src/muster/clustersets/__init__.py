"""Cluster sets: which pairs of key and name are allowed, and what a change of clusters and sets needs. Pure."""
