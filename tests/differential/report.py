"""What a comparison of generated programs found, and how it is printed."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

SHOWN = 20
STEP = 10_000  # cases between two lines about how far a run has come


@dataclass(frozen=True, slots=True)
class Difference:
    """One generated case on which the peer and we disagree outside every documented rule, shrunk."""

    program: str
    ours: str
    theirs: str
    seed: int
    what: str  # value, type, error, text, cost, estimate, reads, back ends


@dataclass
class Report:
    """The sums of one comparison. `rules` are headings of docs/differences.md, each with how many cases it took."""

    name: str
    seed: int
    compared: int = 0
    equal: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    lost: int = 0  # questions the peer died of or never answered
    differences: list[Difference] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    @property
    def good(self) -> bool:
        return not self.differences and self.compared > 0

    def found(self, difference: Difference) -> None:
        """One more; the first ones are told at once, because a long run is long."""
        self.differences.append(difference)
        if len(self.differences) <= SHOWN:
            print(self.name, *_shown(difference), sep="\n", file=sys.stderr, flush=True)

    def text(self) -> str:
        took = time.monotonic() - self.started
        lines = [
            f"{self.name}: seed {self.seed}, {self.compared:,} compared, {self.equal:,} equal, "
            f"{self.rules.total():,} by rule, {self.lost} unanswered by the peer, "
            f"{len(self.differences)} different  [{took:.0f} s]"
        ]
        lines += [f"    {count:>7,}  {rule}" for rule, count in self.rules.most_common()]
        for one in self.differences[:SHOWN]:
            lines += _shown(one)
        if len(self.differences) > SHOWN:
            lines.append(f"    … and {len(self.differences) - SHOWN} more")
        return "\n".join(lines)


class Progress:
    """Says on standard error how far a long run has come."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = STEP

    def at(self, *reports: Report) -> None:
        compared = sum(each.compared for each in reports)
        if compared >= self._next:
            different = sum(len(each.differences) for each in reports)
            print(f"{self._name}: {compared:,} compared, {different} different", file=sys.stderr, flush=True)
            self._next = compared - compared % STEP + STEP


def _shown(one: Difference) -> list[str]:
    heading = f"    DIFFERENT {one.what} (seed {one.seed}): {one.program}"
    return [heading, f"        ours   {one.ours}", f"        theirs {one.theirs}"]


def skipped_means_failure() -> bool:
    """In CI what could not run counts as failed."""
    return bool(os.environ.get("CI"))
