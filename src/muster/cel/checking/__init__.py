"""What a tree means: types, names, overloads, and what types cannot express."""
