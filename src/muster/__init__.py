"""Muster: which of my clusters, hosts and operators fit, and why?"""

__all__ = ["__version__"]

__version__ = "0.1.0"
