"""The function libraries of CEL, one module each: declarations with implementations, documentation and examples.

`environments.py` puts them together. A library that has versions is a function of its version.
"""
