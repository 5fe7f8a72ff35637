"""Clusters that join by an agent: their namespace, roles, lease and certificates, for as long as the hub accepts them.

`objects` says what the hub keeps for a cluster, `keeping` makes it so, `controller` decides when, `clearing` takes it
away, and `renewals` approves the certificates that agents ask for when theirs end.
"""
