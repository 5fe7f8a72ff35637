"""ClusterProfiles of the clusters that a namespace may use, for tools that know SIG-Multicluster's inventory API."""
