"""From text to a tree, and back."""
