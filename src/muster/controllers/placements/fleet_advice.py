"""Lint of a placement that is being written, against the fleet: in a thread of its own, over a copy.

Lint runs a placement's expressions, which are whatever a user wrote, and knows nothing of turns; so it must not run
where controllers work. The copy shares the clusters' bytes with the original. It is made anew when it is old, and how
old it may get depends on what it costs: a few clusters are copied for nearly every question, a hundred thousand rarely.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from muster.fleet import Fleet
from muster.placement import plan_read, visible
from muster.placement.lint.placements import GroupedFleet, lint, vocabulary
from muster.selectors.cel import CEL_LIMITS, cel_compiler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.controllers.placements.world import PlacementWorld
    from muster.fleet.scores import ScoreTable
    from muster.placement import Rule
    from muster.placement.lint.placements import Finding, Vocabulary

_SHARE: Final = 20  # a copy serves so many times as long as it took to make
_QUICK: Final = 0.02  # seconds: a copy that takes no longer is waited for
_MOST_QUESTIONS: Final = 64  # after which what a grouped has remembered is forgotten


@dataclass(slots=True)
class _Copy:
    """The fleet of one moment, what is known of it, and when and in how many seconds it was made."""

    fleet: Fleet
    known: Vocabulary
    made: float
    seconds: float
    questions: int = 0

    @property
    def is_old(self) -> bool:
        return time.monotonic() - self.made > _SHARE * self.seconds


class FleetAdviser:
    """Gives advice on one placement at a time."""

    def __init__(self, world: PlacementWorld) -> None:
        self._world = world
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="advice")
        self._copy: _Copy | None = None
        self._renewal: asyncio.Task[_Copy] | None = None

    def close(self) -> None:
        """Have the thread end; what it is doing it finishes."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def findings(self, placement: Reading[Placement], seconds: float) -> list[Finding]:
        """What lint finds. Raises TimeoutError when that takes longer than this."""
        if self._world.plans.set_aside_like(placement.obj.spec) is not None:
            return []  # it would do to us what it has done before
        until = time.monotonic() + seconds
        copy = await self._current()
        world, namespace = self._world, placement.obj.metadata.namespace
        bindings, rules = list(world.bindings.get(namespace, {})), dict(world.rules)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._linted, copy, placement, bindings, rules, until)

    def _linted(self, *given: Any) -> list[Finding]:
        """In the thread. Whoever finds the process hung must know that it may be this, and not what the loop does."""
        vitals = self._world.notes.vitals
        vitals.note_helper(b"lint")
        try:
            return _linted(*given)
        finally:
            vitals.note_helper(b"")

    async def _current(self) -> _Copy:
        """The newest copy; a new one, if it is there soon enough."""
        copy = self._copy
        if copy is not None and not copy.is_old:
            return copy
        if self._renewal is None:
            self._renewal = asyncio.create_task(self._renewed())
        if copy is not None and copy.seconds > _QUICK:
            return copy
        # Others may wait for the same one: who gives up must not take it from them.
        return await asyncio.shield(self._renewal)

    async def _renewed(self) -> _Copy:
        try:
            fleet = self._world.fleet
            encoded, scores = fleet.encoded(fleet.rows().tolist()), fleet.scores.copy()
            self._copy = await asyncio.get_running_loop().run_in_executor(self._thread, _copied, encoded, scores)
            return self._copy
        finally:
            self._renewal = None


def _copied(encoded: Sequence[bytes], scores: ScoreTable) -> _Copy:
    started = time.monotonic()
    fleet = Fleet()
    fleet.scores = scores
    fleet.put_many(encoded)
    return _Copy(fleet, vocabulary(fleet), started, time.monotonic() - started)


def _linted(
    copy: _Copy,
    placement: Reading[Placement],
    bindings: Sequence[str],
    rules: Mapping[str, Rule],
    until: float,
) -> list[Finding]:
    def tick() -> None:
        if time.monotonic() > until:
            raise TimeoutError

    tick()
    copy.questions += 1
    if copy.questions % _MOST_QUESTIONS == 0:
        copy.known = replace(copy.known, grouped=GroupedFleet(copy.fleet))
    copy.known.grouped.tick = tick
    plan = plan_read(placement, cel_compiler(copy.fleet.scores))
    if plan.fault is not None:
        return []  # admission has said so
    visibility = visible(plan.cluster_sets, bindings, rules)
    return lint(plan, visibility, copy.known, CEL_LIMITS.value.estimate, placement.obj.spec)
