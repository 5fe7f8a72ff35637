module muster.dev/differential/cel/answering

go 1.24.0

require github.com/google/cel-go v0.16.1
