"""Hosts carry the labels that classifications give them."""
