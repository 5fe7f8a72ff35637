"""What is said of an outcome: plans, stories, fixes, locks, pictures."""
