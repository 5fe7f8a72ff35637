"""Catalogs as they are read: bundles, channels, properties, indexed."""
