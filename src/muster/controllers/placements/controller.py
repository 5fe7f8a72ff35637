"""The placement controller: watches what placements depend on, schedules those that something changed for, writes
decisions and status.

It reads only its own copy, decides by calling the core, and writes what differs, guarded by the revision it read. A
conflict means that somebody else was first: the key comes again with the newer state.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import GROUP
from muster.api.parts import plain_conditions
from muster.api.placement import PLACEMENT
from muster.controllers.duties import SCHEDULER
from muster.controllers.placements.decisions import DecisionWriter
from muster.controllers.placements.history import HistoryKeeper
from muster.controllers.placements.keys import Key
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.events import About
from muster.controllers.runtime.quarantine import CONDITION
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import keep_doing, work
from muster.placement.schedule.conditions import EVALUATED, SETS_USABLE
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.client import Client
    from muster.controllers.placements.mirrors import PlacementMirrors
    from muster.controllers.placements.plans import Held
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.placement import ScheduleResult

_MERGE: Final = "application/merge-patch+json"
_WORKERS: Final = 4  # they wait for the server most of the time
_SOMETIMES: Final = (EVALUATED, SETS_USABLE, CONDITION)  # conditions that are there while they have something to say
_SLICE: Final = 0.01  # seconds of evaluation after which others have their turn


class PlacementController:
    """The manager feeds the world and wakes keys; `run` works the queue."""

    def __init__(
        self,
        world: PlacementWorld,
        client: Client,
        events: EventRecorder,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        mirrors: PlacementMirrors,
    ) -> None:
        self.world = world
        self._mirror = mirrors.placements
        self.queue: WorkQueue[Key] = WorkQueue()
        self._client = client
        self._events = events
        self._clock = clock
        self._metrics = metrics
        self._decisions = DecisionWriter(world, client, events, metrics, mirrors.decisions)
        self.history = HistoryKeeper(world, client, events, clock, metrics, lambda: bool(len(self.queue)))

    def wake(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.queue.add(key)

    async def run(self) -> None:
        """Work for ever; start it when everything has been listed once."""
        self.history.start()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.history.run())
            tasks.create_task(keep_doing("time", self._watch_the_time, self._metrics))
            tasks.create_task(work("placement", self.queue, self.reconcile, self._metrics, _WORKERS))

    async def _watch_the_time(self) -> float:
        """Scores expire whether anybody writes or not. The seconds until that is looked at again."""
        self.wake(key for key in self.world.advance(self._clock()) if isinstance(key, Key))
        soonest = self.world.fleet.next_expiry()
        pause = 1.0 if soonest is None else (soonest - self._clock()).total_seconds()
        return min(max(pause, 0.05), 1.0)

    async def reconcile(self, key: Key) -> None:
        # Read: from our copy, never over the wire.
        known = self.world.placements.get(key)
        if known is None:
            self.history.forget(key)
            return
        if self.world.duties.keeps_away(known.obj.metadata.annotations) == SCHEDULER:
            return  # somebody else's: nothing of it is evaluated or written
        self.history.note_specs(key)
        if (held := self.world.plans.held(key)) is not None:
            await self._write_held(key, known.obj, held)
            return
        started = time.perf_counter()
        if not self._is_evaluated(key):
            self.queue.put_off(key)
            # Half of the time belongs to others, however many expressions want all of it.
            await asyncio.sleep(time.perf_counter() - started)
            return
        # Decide. The clock is asked first, so that nothing expires unnoticed between deciding and waiting.
        now = self._clock()
        with self._metrics.scheduling(), self.world.notes.evaluating(key):
            result = self.world.decide(key, now)
        if result is None:
            return
        if (seconds := self.world.plans.cel_seconds(key)) is not None:
            self._metrics.observe_cel(seconds)
        # Write: decisions first, so that the status never promises what is not there.
        if result.fault is None:
            with self.world.notes.evaluating(key):
                selected = result.selected
                self.world.decisions.assume(key, selected)
                draft = self.history.draft(key, known, result, selected)
            try:
                with self._metrics.binding():
                    await self._decisions.write(key, known.obj, result)
            except BaseException:  # being cancelled as well: what was not written has no history
                self.history.withdraw(key, draft)
                raise
            finally:
                self.world.decisions.settle(key)
            self.history.keep(key, draft)
            if result.requeue_at is not None:
                self.queue.add_after(key, (result.requeue_at - now).total_seconds() + 0.001)
        await self._write_status(key, result)

    def _is_evaluated(self, key: Key) -> bool:
        """Evaluate the placement's expressions for a moment; whether that was enough."""
        until = time.perf_counter() + _SLICE
        with self.world.notes.evaluating(key):
            return all(time.perf_counter() <= until for _ in self.world.steps(key))

    async def _write_held(self, key: Key, placement: Placement, held: Held) -> None:
        """Say that the placement is not evaluated. Its decisions stay."""
        if placement.metadata.is_going:
            return
        present = placement.status.conditions
        wanted = held.condition(self.world.quarantine.namespace)
        conditions = merged(present, {CONDITION: wanted}, self._clock())
        if conditions == present:
            return
        await self._patch_status(key, placement, {"conditions": plain_conditions(conditions)})
        self._events.record(About.of(PLACEMENT, placement.metadata), CONDITION, wanted[2], "Warning")

    async def _write_status(self, key: Key, result: ScheduleResult) -> None:
        known = self.world.placements.get(key)
        if known is None:
            return
        present = known.obj.status
        wanted = {
            kind: (condition.status, condition.reason, condition.message)
            for kind, condition in result.conditions.items()
        }
        conditions = merged(present.conditions, wanted, self._clock(), drop=_SOMETIMES)
        status: dict[str, object] = {"conditions": plain_conditions(conditions)}
        is_same = conditions == present.conditions
        if result.fault is None:
            count, groups = len(result.ranked), result.decision_groups()
            status |= {"numberOfSelectedClusters": count, "decisionGroups": msgspec.to_builtins(groups)}
            is_same &= (present.number_of_selected_clusters, present.decision_groups) == (count, groups)
        if not is_same:
            await self._patch_status(key, known.obj, status)

    async def _patch_status(self, key: Key, placement: Placement, status: dict[str, object]) -> None:
        path = object_path(GROUP, "v1beta1", "placements", key.namespace, key.name, "status")
        body = {"metadata": {"resourceVersion": placement.metadata.resource_version}, "status": status}
        reply = await self._client.request("PATCH", path, body=body, content_type=_MERGE)
        self._mirror.put_written(reply.body)
