"""Compiling the expressions of one object at admission: one budget for all of them, and no text twice.

Used by the checks of Placement and AgentClassification, which run beside the API server's loop. What compiles is kept
by the languages themselves; here faults are remembered, so that sending the same bad expression again costs nothing.
What failed for want of budget is not remembered: it says nothing of the expression alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import muster.cel.environments
import muster.cel.program  # noqa: F401 - of a server, the first request need not wait for the language
from muster.cel import CompileBudget
from muster.errors import InvalidExpressionError, InvalidObjectError
from muster.selectors.cel import CelLimits, compile_cel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.selectors.match import Selector

MOST_TEXT: Final = 64 * 1024  # characters of all different expressions of one object
MOST_QUERY: Final = 64 * 1024  # bytes of a jq query
_REMEMBERED: Final = 256  # faults; each holds its text, and a text has up to 64 KiB


class CompileLimitError(InvalidObjectError):
    """The expressions of one object together are more than is compiled for one object."""


class _Faults:
    """The newest faults, by text and limits: how to make them again. An error that was raised holds on to the frames it
    went through, and those to everything the compiler had made of the text."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, CelLimits], tuple[type[InvalidObjectError], str, str]] = {}

    def get(self, key: tuple[str, CelLimits]) -> InvalidObjectError | None:
        known = self._known.get(key)
        return None if known is None else known[0](known[1], known[2])

    def put(self, key: tuple[str, CelLimits], fault: InvalidObjectError) -> None:
        while len(self._known) >= _REMEMBERED:
            self._known.pop(next(iter(self._known)), None)
        self._known[key] = (type(fault), fault.path, fault.reason)


_FAULTS: Final = _Faults()


class ObjectExpressions:
    """The CEL expressions of one object, compiled within one budget."""

    def __init__(self, limits: CelLimits) -> None:
        self._limits = limits
        self._good: set[str] = set()
        self._left = MOST_TEXT
        self._budget = CompileBudget()

    def compile(self, text: str) -> None:
        """Raises InvalidObjectError for a bad expression, CostLimitError for a dear one, CompileLimitError."""
        if text in self._good:
            return
        key = (text, self._limits)
        fault = _FAULTS.get(key)
        if fault is not None:
            raise fault
        self._left -= len(text)
        if self._left < 0:
            raise CompileLimitError("", f"the expressions of one object may have {MOST_TEXT} characters together")
        try:
            compile_cel(text, self._limits, self._budget)
        except InvalidObjectError as error:
            if self._budget.left < 0:
                raise CompileLimitError("", error.reason) from None
            _FAULTS.put(key, error)
            raise
        self._good.add(text)

    def compile_all(self, expressions: Sequence[str]) -> tuple[Selector, ...]:
        """The same as a compiler of predicates whose selectors nobody needs."""
        for text in expressions:
            self.compile(text)
        return ()


@lru_cache(maxsize=_REMEMBERED)
def query_fault(text: str) -> str:
    """Why a jq query does not compile; empty if it does."""
    from muster.jq import compile_query  # most writes need no jq, and it takes a while to load

    try:
        compile_query(text)
    except InvalidExpressionError as error:
        return str(error)
    return ""
