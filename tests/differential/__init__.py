"""The real programs beside ours: cel-go, gojq, OLM's constraints and OCM's placement controllers.

`python -m tests.differential` builds them from their published modules, generates programs, runs them in both, and
compares. One folder per language holds our Go program that feeds the peer (`peer/` with go.mod and go.sum), a
generator, a comparison and its documented rules.
"""
