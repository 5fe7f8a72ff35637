"""A fleet that lives for minutes or hours under everything that happens to one: `make soak`."""
