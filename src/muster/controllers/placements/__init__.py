"""Placements stay decided: the world they depend on, the schedule's turn, decisions, history."""
