"""A dry run of a placement: it is scheduled over the live fleet, a bit at a time, and nothing is written.

`questions` makes one for every dry run and explanation. The placement need not be saved. What it needs is evaluated
for a reader that is no placement, and forgotten when the run ends.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

from muster.controllers.placements.keys import Key
from muster.controllers.placements.timed_selectors import TimedSelector, timed
from muster.fleet import DELETION
from muster.placement import Cycle, plan_read, schedule, visible
from muster.selectors.cel import cel_compiler

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.controllers.placements.world import PlacementWorld
    from muster.placement import Plan, ScheduleResult, Visibility

_SLICE: Final = 0.01  # seconds of evaluation after which others have their turn


class DryRun:
    """Open it, let it evaluate, ask for the result. Placements that share its selectors share its masks."""

    def __init__(self, world: PlacementWorld, plan: Plan) -> None:
        self.key = Key(plan.namespace, plan.name)
        self.plan = plan
        self._world = world
        self._reader = object()  # nobody who could be woken
        bindings = world.bindings.get(self.key.namespace, {})
        self.visibility: Visibility = visible(plan.cluster_sets, bindings, world.rules)

    @classmethod
    async def of(cls, world: PlacementWorld, placement: Reading[Placement]) -> DryRun:
        """Compiled beside the loop: a placement may have hundreds of long expressions."""
        compile_cel = timed(cel_compiler(world.fleet.scores), world.plans.tally)
        return cls(world, await asyncio.to_thread(plan_read, placement, compile_cel))

    def __enter__(self) -> Self:
        rules = [rule for _, rule in self.visibility.eligible]
        paths = self.plan.paths | {DELETION}
        self._world.fleet.subscribe(self._reader, self.plan.selectors, paths, within=rules, lazily=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._world.fleet.unsubscribe(self._reader)

    async def evaluate(self, *, is_alone: bool = False) -> None:
        """Evaluate everything that the result needs. At least half of the time belongs to others, if there are any."""
        fleet = self._world.fleet
        while True:
            started = time.perf_counter()
            if all(time.perf_counter() <= started + _SLICE for _ in fleet.steps(self._reader)):
                return
            for each in self.plan.selectors:
                if isinstance(each, TimedSelector) and each.is_slow:
                    fleet.defer(each)  # a change of a cluster must not wait for it meanwhile
            await asyncio.sleep(0 if is_alone else time.perf_counter() - started)

    def seconds_per_cluster(self) -> float:
        """What the expressions take for one cluster, as measured when they were evaluated."""
        measured = [self._world.fleet.mask(each).selector for each in self.plan.selectors]
        return sum(each.average for each in measured if isinstance(each, TimedSelector))

    def result(self, now: datetime) -> ScheduleResult:
        """The schedule, with the decisions that stand for a placement of this name as its own."""
        world = self._world
        return schedule(Cycle(self.plan, world.fleet, self.visibility, now, world.decisions.decided(self.key)))

    def present(self) -> list[str]:
        """The clusters that are decided now, by name."""
        return sorted({name for page in self._world.decisions.of(self.key) for name in page.clusters})
