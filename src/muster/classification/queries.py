"""A query in use: compiled once, its outcomes remembered by what it can see, paused when it only wastes its budget.

Rosters keep one for each text that their classifications use. A failure is remembered like any other outcome, so that
a runaway costs its budget once for an inventory, however often the host reports; that a budget was exhausted is
remembered for the whole inventory, because more than the query sees can cost it. A query that exhausts its budget on
several hosts is paused: it fails on every host without running, until its text changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from muster.classification.outcomes import LIMITS, QUERY_LIMITS, Verdict, failed, judge
from muster.errors import InvalidExpressionError
from muster.jq import compile_query
from muster.reasons import Code
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.classification.outcomes import Outcome
    from muster.classification.projection import Key
    from muster.jq import Limits, Program
    from muster.values.paths import Path

PAUSED_AFTER: Final = 3
"""On how many hosts a query may exhaust its budget. One host alone, whatever it reports, pauses nothing."""

QUICK_LIMITS: Final = replace(LIMITS, steps=5_000, cells=20_000)
"""Enough for the queries that people write, on the hosts that there are; a runaway is through with it in no time."""

_MOST_KEPT: Final = 16_384


def _nobody(_: str) -> None:
    return None


@dataclass(slots=True)
class Work:
    """What queries cost so far, for those who measure. It only grows, also when queries go.

    `watcher` is told the text of a query before it is compiled or run.
    """

    runs: int = 0
    failures: int = 0  # of those
    hits: int = 0  # answers that were remembered
    pauses: int = 0
    watcher: Callable[[str], None] = _nobody


class Query:
    """One text and what it said so far. `fault` is the compiler's message when it cannot run."""

    __slots__ = (
        "_exhausted",
        "_is_slow",
        "_limits",
        "_outcomes",
        "_work",
        "fault",
        "paths",
        "paused",
        "program",
        "runs",
        "text",
    )

    def __init__(self, text: str, work: Work | None = None, limits: Limits | None = None) -> None:
        self.text = text
        self.fault = ""
        self.program: Program | None = None
        self.paused: Outcome | None = None
        self.paths: frozenset[Path] = frozenset()
        self.runs = 0
        self._is_slow = False
        self._limits = limits or QUERY_LIMITS.value.budgets()
        self._work = work or Work()
        self._exhausted: set[object] = set()
        self._outcomes: dict[Key, Outcome] = {}
        self._work.watcher(text)
        try:
            self.program = compile_query(text)
            self.paths = self.program.reads
        except InvalidExpressionError as error:
            self.fault = str(error)
            self.paused = failed(f"the query is not valid: {error.diagnostics[0].message}", invalid=True)
        except Exception as error:  # a bug of ours, which must not keep other classifications from being read
            self.fault = f"the query cannot be compiled: a fault of muster itself ({type(error).__name__})"
            self.paused = failed(self.fault, invalid=True)

    @property
    def is_slow(self) -> bool:
        """Whether it needed more than a quick look on some host."""
        return self._is_slow

    @property
    def is_paused(self) -> bool:
        """Whether it was stopped for what it cost. One that never could run is not paused."""
        return self.paused is not None and not self.fault

    def outcome(
        self, key: Key, inventory: Callable[[], Json], *, quick: bool = False, host: str = "", whole: bytes = b""
    ) -> Outcome | None:
        """What the query says of an inventory of which it sees this key. The inventory is fetched only for a run.

        None when the answer is wanted quickly and takes longer. `host` and `whole` (all of the inventory) tell apart
        what the key does not: a budget may be exhausted on one host, and not on another that looks the same.
        """
        if self.paused is not None:
            return self.paused
        outcome = self._outcomes.get(key)
        if outcome is None and self._exhausted:
            outcome = self._outcomes.get(_own_key(key, whole))
        if outcome is not None:
            self._work.hits += 1
            return outcome
        if not quick:
            return self._kept(key, self._ran(inventory(), self._limits), host or key, whole)
        if self._is_slow:
            return None
        outcome = self._ran(inventory(), QUICK_LIMITS)
        if outcome.exhausted:
            self._is_slow = True  # not worth another try
            return None
        return self._kept(key, outcome, host or key, whole)

    def _ran(self, inventory: Json, limits: Limits) -> Outcome:
        assert self.program is not None  # noqa: S101 - one that did not compile is paused from the start
        self.runs += 1
        self._work.runs += 1
        self._work.watcher(self.text)
        return judge(self.program, inventory, limits)

    def _kept(self, key: Key, outcome: Outcome, host: object, whole: bytes) -> Outcome:
        if len(self._outcomes) >= _MOST_KEPT:
            for oldest in list(self._outcomes)[: _MOST_KEPT // 8]:
                del self._outcomes[oldest]
        self._outcomes[_own_key(key, whole) if outcome.exhausted else key] = outcome
        if outcome.verdict is Verdict.FAILED:
            self._work.failures += 1
        if outcome.exhausted:
            self._exhausted.add(host)
            if len(self._exhausted) >= PAUSED_AFTER:
                return self._pause(outcome)
        return outcome

    def _pause(self, last: Outcome) -> Outcome:
        self._work.pauses += 1
        self._outcomes.clear()
        self.paused = failed(
            f"paused: the query exhausted its budget on {len(self._exhausted)} different inventories;"
            f" the last time {last.text}",
            exhausted=True,
            code=Code.QUERY_PAUSED,
        )
        return self.paused


def _own_key(key: Key, whole: bytes) -> Key:
    """For what holds only for inventories that are equal as a whole."""
    return (b"all", *(key if isinstance(key, tuple) else (key,)), blake2b(whole, digest_size=16).digest())
