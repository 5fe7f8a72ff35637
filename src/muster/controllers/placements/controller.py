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
from muster.client.heads import Place
from muster.controllers.duties import SCHEDULER
from muster.controllers.placements.decisions import DecisionWriter
from muster.controllers.placements.drafts import draft_of
from muster.controllers.placements.guards.guarding import APPROVED, PlacementGuards
from muster.controllers.placements.guards.guarding import CONDITION as HELD
from muster.controllers.placements.history import HistoryKeeper
from muster.controllers.placements.keys import Key
from muster.controllers.placements.multicluster import MulticlusterWriter
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.events import About
from muster.controllers.runtime.quarantine import CONDITION
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import keep_doing, work
from muster.errors import ApiError
from muster.placement.schedule.conditions import EVALUATED, SETS_USABLE
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.client import Client
    from muster.controllers.placements.drafts import Draft
    from muster.controllers.placements.guards.guarding import Judgement
    from muster.controllers.placements.mirrors import PlacementMirrors
    from muster.controllers.placements.plans import Held
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.placement import ScheduleResult

_MERGE: Final = "application/merge-patch+json"
_WORKERS: Final = 16
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
        self._multicluster = MulticlusterWriter(client)
        self.guards = PlacementGuards(client, world.decisions, clock, self._wake_guarded)
        self.history = HistoryKeeper(world, client, events, clock, metrics, lambda: self.queue.has_work)

    def wake(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.queue.add(key)

    def _wake_guarded(self, keys: Iterable[Key] | None) -> None:
        self.wake(self.world.placements if keys is None else keys)

    async def run(self) -> None:
        """Work for ever; start it when everything has been listed once."""
        await self.guards.start()
        self.world.guards = self.guards  # from now on nobody knows more
        self.history.start()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.history.run())
            tasks.create_task(keep_doing("time", self._watch_the_time, self._metrics))
            tasks.create_task(keep_doing("guard records", self.guards.look_after_records, self._metrics))
            tasks.create_task(work("placement", self.queue, self.reconcile, self._metrics, _WORKERS))

    async def _watch_the_time(self) -> float:
        """Scores expire whether anybody writes or not. The seconds until that is looked at again."""
        self.wake(key for key in self.world.advance(self._clock()) if isinstance(key, Key))
        soonest = self.world.fleet.scores.next_expiry()
        pause = 1.0 if soonest is None else (soonest - self._clock()).total_seconds()
        return min(max(pause, 0.05), 1.0)

    async def reconcile(self, key: Key) -> None:
        # Read: from our copy, never over the wire.
        known = self.world.placements.get(key)
        if known is None:
            self.history.forget(key)
            self.guards.forget(key)
            self._decisions.forget(key)
            self._multicluster.forget(key)
            return
        if self.world.duties.keeps_away(known.obj.metadata.annotations) == SCHEDULER:
            self.guards.leave(key)
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
        self.queue.let_next(key)
        # Decide. The clock is asked first, so that nothing expires unnoticed between deciding and waiting.
        now = self._clock()
        with self._metrics.scheduling(), self.world.notes.evaluating(key):
            result = self.world.decide(key, now)
        if result is None:
            return
        if (seconds := self.world.plans.cel_seconds(key)) is not None:
            self._metrics.observe_cel(seconds)
        # Write: decisions first, so that the status never promises what is not there.
        if result.fault is not None:
            await self._write_status(key, result)
            return
        with self.world.notes.evaluating(key):
            judgement = self.guards.judge(key, known.obj, result, now)
            draft = self._draft(key, result, judgement)
            cautious = self._draft(key, result, judgement.cautious()) if judgement and judgement.must_write else None
            self.world.decisions.assume(key, draft.gained, (*draft.lost, *draft.surplus))
            entry = self.history.draft(key, known, result, draft)
        try:
            with self._metrics.binding():
                if judgement is not None and judgement.must_write:
                    await self._remember(key, known.obj, judgement, cautious)
                await self._decisions.write(key, known.obj, draft)
                await self._multicluster.write(key, known.obj, draft, enabled=self.guards.fleet.multicluster is True)
        except BaseException:  # being cancelled as well: what was not written has no history
            self.history.withdraw(key, entry)
            raise
        finally:
            self.world.decisions.settle(key)
        self.history.keep(key, entry)
        if judgement is not None:
            self._tell_of_guards(key, known.obj, judgement, now, draft)
        if result.requeue_at is not None:
            self.queue.add_after(key, (result.requeue_at - now).total_seconds() + 0.001)
        await self._write_status(key, result, draft, judgement)

    def _draft(self, key: Key, result: ScheduleResult, judgement: Judgement | None) -> Draft:
        if judgement is None:
            return draft_of(result, self.world.decisions.known(key))
        return draft_of(result, self.world.decisions.known(key), judgement.held, judgement.going)

    async def _remember(self, key: Key, placement: Placement, judgement: Judgement, cautious: Draft | None) -> None:
        """What guards must remember is written before anything goes. If it cannot be, only what comes is written."""
        try:
            await self.guards.remember(key, placement, judgement)
        except ApiError:
            if cautious is not None:
                await self._decisions.write(key, placement, cautious)
            raise

    def _tell_of_guards(
        self, key: Key, placement: Placement, judgement: Judgement, now: datetime, draft: Draft
    ) -> None:
        """The pages are written as the guards allow. Their verdict may be another when some time has passed."""
        self.guards.carried_out(key, draft.selected)
        found = judgement.verdict
        about = About.of(PLACEMENT, placement.metadata)
        if found.approved:
            text = f"{len(found.going)} clusters were removed because change {found.digest} was approved"
            self._events.record(about, APPROVED, text)
        if judgement.is_news and judgement.condition is not None:
            self._events.record(about, HELD, judgement.condition[2], "Warning")
        if found.retry_at is not None:
            self.queue.add_after(key, (found.retry_at - now).total_seconds() + 0.001)

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

    async def _write_status(
        self, key: Key, result: ScheduleResult, draft: Draft | None = None, judgement: Judgement | None = None
    ) -> None:
        known = self.world.placements.get(key)
        if known is None:
            return
        present = known.obj.status
        wanted = {
            kind: (condition.status, condition.reason, condition.message)
            for kind, condition in result.conditions.items()
        }
        drop: tuple[str, ...] = _SOMETIMES
        if judgement is not None and judgement.condition is not None:
            wanted[HELD] = judgement.condition
        elif draft is not None:
            drop = (*_SOMETIMES, HELD)
        conditions = merged(present.conditions, wanted, self._clock(), drop=drop)
        status: dict[str, object] = {"conditions": plain_conditions(conditions)}
        is_same = conditions == present.conditions
        if draft is not None:
            count, groups = draft.count, draft.groups
            status |= {"numberOfSelectedClusters": count, "decisionGroups": msgspec.to_builtins(groups)}
            is_same &= (present.number_of_selected_clusters, present.decision_groups) == (count, groups)
        if not is_same:
            await self._patch_status(key, known.obj, status)

    async def _patch_status(self, key: Key, placement: Placement, status: dict[str, object]) -> None:
        path = object_path(GROUP, "v1beta1", "placements", key.namespace, key.name, "status")
        body = {"metadata": {"resourceVersion": placement.metadata.resource_version}, "status": status}
        with self._mirror.writing(Place(*key)):
            reply = await self._client.request("PATCH", path, body=body, content_type=_MERGE)
            self._mirror.put_written(reply.body)
