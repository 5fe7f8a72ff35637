"""What a query means: names bound, and which parts of its input it reads."""
