"""The in-memory fleet: columns, masks, incremental selection."""

from muster.fleet.fleet import Fleet
from muster.fleet.masks import Mask
from muster.fleet.scores import Score, ScoreTable, score_of

__all__ = ["Fleet", "Mask", "Score", "ScoreTable", "score_of"]
