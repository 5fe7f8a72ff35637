"""What belongs to an object goes with it."""
