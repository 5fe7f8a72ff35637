"""CEL, the Common Expression Language: parsed, checked, costed and compiled to Python.

Knows nothing of Kubernetes objects; libraries and declarations are plugged in through environments.
"""
