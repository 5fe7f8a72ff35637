"""Clusters from elsewhere as ManagedClusters: what was read of them in, objects and changes out. Pure.

`facts` is what can be known of a cluster, `rules` makes claims of it, `sources` reads what other inventories say,
`objects` puts a ManagedCluster and its status together, `changes` says what writing it would change. Who reads and
writes is `collecting`, `controllers/syncing` and `cli/importing`.
"""
