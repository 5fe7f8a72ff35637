"""Programs that run the same work in other engines. They are started by the benchmarks, never imported by them."""
