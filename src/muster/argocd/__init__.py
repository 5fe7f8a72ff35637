"""Decisions for Argo CD: answers its plugin generator, and tells ApplicationSets to look again.

Knows only the Kubernetes API, through `client`, so that it works beside a hub and on Kubernetes alike.
"""
