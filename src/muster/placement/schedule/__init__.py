"""Filter, score, pick, spread, group: what is decided."""
