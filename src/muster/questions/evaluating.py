"""Looks at a snapshot of the fleet: each group of objects that are equal in what is read is looked at once.

Everything here pauses after each object, so that whoever runs it can give others their turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from muster.controllers.questions.kinds import Refusal
from muster.errors import FailureKind
from muster.questions.looks import FAILED, MATCHED, UNMATCHED, Outcome
from muster.questions.shown import rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.fleet.snapshots import Snapshot
    from muster.questions.looks import Look
    from muster.questions.sharing import Work

_DECODER: Final = msgspec.json.Decoder()
_MOST_BYTES: Final = 64 * 2**20  # of the values of all objects
_TIMEOUT: Final = 504
_UNREADABLE: Final = Outcome(FAILED, up_to=0, error=FailureKind.OTHER.value)
_AT_ONCE: Final = 4096  # rows that are looked up without a pause
_LAST: Final = 2**31 - 1
_NUMBERS: Final = {MATCHED: 0, UNMATCHED: 1, FAILED: 2}


@dataclass(frozen=True)
class Looked:
    """What came of a look at many rows: `of[i]` is the outcome of the i-th of them."""

    rows: NDArray[np.intp]
    of: NDArray[np.int64]
    outcomes: list[Outcome]

    @cached_property
    def _verdicts(self) -> NDArray[np.int8]:
        """The verdict of each row, as a number."""
        found = np.fromiter((_NUMBERS[each.verdict] for each in self.outcomes), np.int8, len(self.outcomes))
        return found[self.of] if len(found) else np.zeros(0, dtype=np.int8)

    def has(self, verdict: str) -> NDArray[np.bool_]:
        """Which rows have this verdict."""
        having: NDArray[np.bool_] = self._verdicts == _NUMBERS[verdict]
        return having

    def counts(self, among: NDArray[np.bool_]) -> list[int]:
        """How many of the rows each outcome has."""
        counted: list[int] = np.bincount(self.of[among], minlength=len(self.outcomes)).tolist()
        return counted

    def verdicts(self) -> tuple[int, int, int]:
        """How many match, do not, and could not be evaluated."""
        matched, unmatched, failed = (int(self.has(each).sum()) for each in (MATCHED, UNMATCHED, FAILED))
        return matched, unmatched, failed

    def ranks(self, *, descending: bool) -> NDArray[np.int64]:
        """The place of each row in the order of values; those without any come last."""
        values = sorted({each.value for each in self.outcomes if each.value}, key=rank, reverse=descending)
        place = {value: number for number, value in enumerate(values)}
        by_outcome = np.array([place.get(each.value, _LAST) for each in self.outcomes], dtype=np.int64)
        return by_outcome[self.of] if len(by_outcome) else np.zeros(0, dtype=np.int64)


def looked_at(snapshot: Snapshot, rows: NDArray[np.intp], look: Look) -> Work[Looked]:
    """Look at all of the rows. Raises Refusal when that takes too long or too much room."""
    groups = snapshot.groups(rows, look.reads)
    yield False
    outcomes: list[Outcome] = []
    size = 0
    for row in groups.first.tolist():
        yield look.is_heavy
        outcomes.append(seen(snapshot, row, look))
        size = _sized(size, outcomes[-1])
    yield False
    # What was found of one stands for others as far as it says itself; whoever is beyond that is looked at by himself.
    sizes = snapshot.sizes(rows)
    up_to = np.fromiter((each.up_to for each in outcomes), np.int64, len(outcomes))
    beyond = np.flatnonzero(sizes > up_to[groups.of]) if len(outcomes) else np.zeros(0, dtype=np.intp)
    of = groups.of.copy() if len(beyond) else groups.of
    farthest: dict[int, int] = {}  # of each group: the outcome that holds for most
    for number, at in enumerate(beyond.tolist()):
        if number % _AT_ONCE == 0:
            yield False
        group = int(groups.of[at])
        if rows[at] == groups.first[group]:
            continue
        known = farthest.get(group)
        if known is not None and sizes[at] <= outcomes[known].up_to:
            of[at] = known
            continue
        yield look.is_heavy
        of[at] = len(outcomes)
        outcomes.append(seen(snapshot, int(rows[at]), look))
        size = _sized(size, outcomes[-1])
        if known is None or outcomes[-1].up_to > outcomes[known].up_to:
            farthest[group] = len(outcomes) - 1
    yield False
    return Looked(rows, of, outcomes)


def seen(snapshot: Snapshot, row: int, look: Look) -> Outcome:
    """Look at one object."""
    encoded = snapshot.encoded(row)
    try:
        return _UNREADABLE if encoded is None else look(_DECODER.decode(encoded))
    except (msgspec.MsgspecError, RecursionError):
        return _UNREADABLE


def why(snapshot: Snapshot, row: int, look: Look) -> str:
    """Why one object does not match, in words."""
    try:
        return look.why(_DECODER.decode(snapshot.encoded(row) or b"{}"))
    except (msgspec.MsgspecError, RecursionError):
        return "it cannot be decoded"


def _sized(size: int, outcome: Outcome) -> int:
    size += len(outcome.value)
    if size > _MOST_BYTES:
        raise Refusal(_TIMEOUT, f"the values have more than {_MOST_BYTES} bytes: ask for shorter ones, or for fewer")
    return size
