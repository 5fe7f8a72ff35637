"""Who asks, and what they may do. For now one administrator; roles and bindings plug in through the same protocols."""
