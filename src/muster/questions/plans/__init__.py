"""What writing would change: objects tried on a fork of the fleet, with the verdicts of guards and a token."""
