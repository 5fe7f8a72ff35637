"""What a shell is told when somebody presses Tab: quickly, and nothing when no server answers."""
