"""How the hub asks the controllers' process, and what it answers."""
