"""What `benchmarks.hub` is made of: the two servers that are compared, and the load that both get."""
