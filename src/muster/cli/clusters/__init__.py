"""`muster clusters`: let clusters join, see who asks, take them out."""
