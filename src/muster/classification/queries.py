"""A query in use: compiled once, its outcomes remembered by what it can see, paused when it only wastes its budget.

Rosters keep one for each text that their classifications use. A failure is remembered like any other outcome, so that
a runaway costs its budget once for an inventory, however often the host reports. A query that exhausts its budget on
several different inventories is paused: it fails on every host without running, until its text changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.classification.outcomes import LIMITS, failed, judge
from muster.errors import InvalidExpressionError
from muster.jq import compile_query

if TYPE_CHECKING:
    from muster.classification.outcomes import Outcome
    from muster.classification.projection import InventoryView, Key
    from muster.jq import Limits, Program, ReadPath

PAUSED_AFTER: Final = 3
"""How many different inventories may exhaust a query's budget."""

_MOST_KEPT: Final = 16_384


class Query:
    """One text and what it said so far. `fault` is the compiler's message when it cannot run."""

    __slots__ = ("_exhausted", "_limits", "_outcomes", "_paths", "fault", "paused", "program", "runs", "text")

    def __init__(self, text: str, limits: Limits = LIMITS) -> None:
        self.text = text
        self.fault = ""
        self.program: Program | None = None
        self.paused: Outcome | None = None
        self.runs = 0
        self._limits = limits
        self._exhausted = 0
        self._outcomes: dict[Key, Outcome] = {}
        self._paths: tuple[ReadPath, ...] = ()
        try:
            self.program = compile_query(text)
            self._paths = tuple(sorted(self.program.reads, key=repr))
        except InvalidExpressionError as error:
            self.fault = str(error)
            self.paused = failed(f"the query is not valid: {error.diagnostics[0].message}")

    @property
    def is_paused(self) -> bool:
        """Whether it was stopped for what it cost. One that never could run is not paused."""
        return self.paused is not None and not self.fault

    def key(self, view: InventoryView) -> Key:
        """What the query can see of an inventory."""
        return view.key(self._paths)

    def outcome(self, key: Key, view: InventoryView) -> Outcome:
        """What the query says of an inventory, of which it sees this key."""
        if self.paused is not None:
            return self.paused
        outcome = self._outcomes.get(key)
        if outcome is None:
            assert self.program is not None  # noqa: S101 - one that did not compile is paused from the start
            self.runs += 1
            outcome = judge(self.program, view.value, self._limits)
            self._keep(key, outcome)
            if outcome.exhausted:
                self._exhausted += 1
                if self._exhausted >= PAUSED_AFTER:
                    self.paused = failed(
                        f"paused: the query exhausted its budget on {self._exhausted} different inventories;"
                        f" the last time {outcome.text}",
                        exhausted=True,
                    )
                    self._outcomes.clear()
                    return self.paused
        return outcome

    def _keep(self, key: Key, outcome: Outcome) -> None:
        if len(self._outcomes) >= _MOST_KEPT:
            for oldest in list(self._outcomes)[: _MOST_KEPT // 8]:
                del self._outcomes[oldest]
        self._outcomes[key] = outcome
