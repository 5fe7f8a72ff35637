"""Clusters that join: what their agents may write (`limits`)."""
