"""Resolutions stay resolved, in processes of their own."""
