module muster.dev/benchmarks/load

go 1.24.0
