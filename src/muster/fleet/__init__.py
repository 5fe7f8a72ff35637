"""The in-memory fleet: columns, masks, incremental selection."""

from muster.fleet.fleet import Fleet
from muster.fleet.masks import Mask
from muster.fleet.scores import Score, ScoreTable, readable_score, score_of
from muster.fleet.sections import DELETION

__all__ = ["DELETION", "Fleet", "Mask", "Score", "ScoreTable", "readable_score", "score_of"]
