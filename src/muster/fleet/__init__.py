"""The in-memory fleet: columns, masks, incremental selection. Names are imported when somebody asks for them: whoever
reads files has no columns yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.fleet.fleet import Fleet
    from muster.fleet.masks import Mask
    from muster.fleet.scores import Score, ScoreTable, readable_score, score_of
    from muster.fleet.sections import DELETION

__all__ = ["DELETION", "Fleet", "Mask", "Score", "ScoreTable", "readable_score", "score_of"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.fleet.fleet": ("Fleet",),
        "muster.fleet.masks": ("Mask",),
        "muster.fleet.scores": ("Score", "ScoreTable", "readable_score", "score_of"),
        "muster.fleet.sections": ("DELETION",),
    },
)
