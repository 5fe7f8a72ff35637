"""How long deciding may go on. Time is not read here: whoever wants a limit passes a function that says so.

Rules, the building of a problem and the solver ask it between slices of work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from muster.errors import MusterError

GoOn: TypeAlias = Callable[[], bool]
"""Asked between slices of work; false ends it."""


class UndecidedError(MusterError):
    """The time was up before the question was decided."""

    def __str__(self) -> str:
        return "not decided in the time allowed"


def always() -> bool:
    """No limit of time."""
    return True
