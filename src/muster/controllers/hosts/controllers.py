"""Hosts that label themselves: one controller for the labels of agents, one for the status of classifications.

Both read the same world, decide by calling the core, and write what differs, guarded by the revision they read. An
agent's labels and the annotation that says which of them are ours go in one write, so that neither is ever without the
other; a classification keeps its finalizer until no agent carries its label and no write is under way that sets it.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, Protocol

from muster.api.agent import GROUP, Agent
from muster.api.agent_classification import AGENT_CLASSIFICATION
from muster.api.parts import plain_conditions
from muster.api.reading import Reader
from muster.classification import APPLIED, FINALIZER, SOMETIMES, UPDATED_AT, may_go, report
from muster.classification.classification import CLASSIFICATIONS
from muster.controllers.hosts.contests import PAUSE, Contests
from muster.controllers.hosts.reported import about, mirrors, path_of
from muster.controllers.hosts.world import AgentWorld
from muster.controllers.runtime.conditions import merged, timestamp
from muster.controllers.runtime.events import About
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.quarantine import CONDITION
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.importing.hosts import OTHER_KINDS, named_host
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.api.agent_classification import AgentClassification
    from muster.classification import Classification, LabelPlan
    from muster.client import Client
    from muster.client.heads import Place
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import AnyMirror, Stored
    from muster.controllers.runtime.quarantine import Quarantine
    from muster.supervision import Notes
    from muster.values.faults import Fault

_MERGE: Final = "application/merge-patch+json"
_COALESCE: Final = 0.1  # seconds: a thousand labelled agents are one new count
_WORKERS: Final = 8  # writes of agents under way at once
_SOMETIMES: Final = (*SOMETIMES, CONDITION)
_SLICE: Final = 0.01  # seconds after which the other queries of an agent wait until others have had their turn
_AGENTS: Final = Reader(Agent)


class HostControllers:
    """The two controllers, and what they listen to."""

    def __init__(
        self,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        events: EventRecorder,
        quarantine: Quarantine,
        notes: Notes,
        unreadable: Unreadable,
    ) -> None:
        self.agents: WorkQueue[Place] = WorkQueue()
        self.slow: WorkQueue[Place] = WorkQueue()  # agents of which slow queries have not said anything yet
        self.classifications: WorkQueue[Place] = WorkQueue()
        self.world = AgentWorld(
            self.agents.add,
            lambda place: self.classifications.add_after(place, _COALESCE),
            quarantine.holds,
            notes,
        )
        self._metrics = metrics
        self._agents = Mirror(
            _AGENTS, self.world.put_agent, self.world.remove_agent, unreadable=unreadable.of("agents")
        )
        self._classifications = Mirror(
            CLASSIFICATIONS,
            self._put_classification,
            self.world.remove_classification,
            put_written=self.world.put_classification,
            unreadable=unreadable.of("agentclassifications"),
        )
        self._reported = mirrors(self.world, unreadable)
        self._labels = AgentLabelController(self.world, client, clock, metrics, events, self)
        self._status = AgentClassificationController(
            self.world, client, clock, events, quarantine, self._classifications.put_written
        )
        self._count_work()

    def _count_work(self) -> None:
        metrics, done = self._metrics, self.world.work
        for name, help_text, read in (
            ("evaluations", "Queries run on an agent's inventory.", lambda: done.runs),
            ("evaluation_errors", "Of those, runs that gave neither true nor false.", lambda: done.failures),
            ("cache_hits", "Answers to a changed inventory that were known.", lambda: done.hits),
            ("pauses", "Queries paused because they exhausted their budget.", lambda: done.pauses),
        ):
            metrics.counter(f"muster_classification_{name}", help_text, read)
        metrics.gauge("muster_agents", "Hosts that are kept labelled.", lambda: len(self.world.places()))
        metrics.gauge(
            "muster_classifications", "Classifications of hosts.", lambda: len(self.world.classification_places())
        )

    @property
    def idle(self) -> bool:
        return self.agents.idle and self.slow.idle and self.classifications.idle

    def wake_all(self) -> None:
        """Look at everything again; what has been decided stays, and no query runs for it."""
        for place in self.world.places():
            self.agents.add(place)
        for place in self.world.classification_places():
            self.classifications.add(place)

    def handlers(self) -> Mapping[str, AnyMirror]:
        """What to watch, by resource, and who listens."""
        others = {OTHER_KINDS[plural].resource: mirror for plural, mirror in self._reported.items()}
        return {f"agents.{GROUP}": self._agents, f"agentclassifications.{GROUP}": self._classifications, **others}

    def has_slow(self, place: Place) -> None:
        """Slow queries have not said anything about an agent yet."""
        self.slow.add(place)

    def put_off(self, place: Place, seconds: float) -> None:
        """The labels of a host are written later."""
        self.agents.add_after(place, seconds)

    def written(self, place: Place, answer: bytes) -> None:
        """A host as it is after a write of ours."""
        kind, _ = named_host(place.name)
        mirror: AnyMirror = self._agents if kind is None else self._reported[kind.plural]
        mirror.put_written(answer)

    def _put_classification(self, new: Stored[AgentClassification]) -> Fault | None:
        fault = self.world.put_classification(new)
        self.classifications.add(new.place)  # its finalizer does not wait
        return fault

    async def run(self) -> None:
        """Work for ever; start it when everything has been listed once."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work("agent", self.agents, self._labels.reconcile, self._metrics, _WORKERS))
            tasks.create_task(work("slow", self.slow, self._ask_slow, self._metrics))
            tasks.create_task(work("classification", self.classifications, self._status.reconcile, self._metrics))

    async def _ask_slow(self, place: Place) -> None:
        """Let one slow query have its say, and wake the agent if that changes something."""
        started = time.perf_counter()
        roster = self.world.roster(place.namespace)
        with self.world.evaluating(place):
            is_done = roster.look(place.name, lambda: time.perf_counter() > started + _SLICE)
            plan = roster.plan_so_far(place.name)
        self.world.spread(place.namespace)
        if plan is not None and not plan.is_empty:
            self.agents.add(place)
        if not is_done:
            self.slow.add(place)
        # Half of the time belongs to others, however much of it the queries want.
        await asyncio.sleep(time.perf_counter() - started)


class LabelDesk(Protocol):
    """Whoever hands out the work on labels, and takes in what was written."""

    def has_slow(self, place: Place) -> None: ...

    def put_off(self, place: Place, seconds: float) -> None: ...

    def written(self, place: Place, answer: bytes) -> None: ...


class AgentLabelController:
    """Keeps the labels of agents as their inventories and the classifications of their namespace say."""

    def __init__(
        self,
        world: AgentWorld,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        events: EventRecorder,
        desk: LabelDesk,
    ) -> None:
        self._world = world
        self._desk = desk
        self._client = client
        self._clock = clock
        self._events = events
        self._contests = Contests(time.monotonic)
        self._observe = metrics.durations(
            "muster_classification", "How long in seconds the queries of an agent are asked at a stretch."
        )

    async def reconcile(self, place: Place) -> None:
        # Read and decide: from our copy, by the core's rules, for a moment at a time.
        roster = self._world.roster(place.namespace)
        started = time.perf_counter()
        until = started + _SLICE
        with self._world.evaluating(place):
            if not roster.look(place.name, lambda: time.perf_counter() > until, quick=True):
                self._desk.has_slow(place)
            plan = roster.plan_so_far(place.name)
        self._observe(time.perf_counter() - started)
        self._world.spread(place.namespace)
        # Write what differs.
        if plan is not None and not plan.is_empty:
            await self._write(place, plan)

    async def _write(self, place: Place, plan: LabelPlan) -> None:
        """Labels and their record together, guarded by the revision that the plan was made for."""
        revision = self._world.revision(place)
        if not revision:
            self._contests.forget(place)
            return  # it is gone
        if self._is_contested(place, plan):
            return
        body = {
            "metadata": {
                "resourceVersion": revision,
                "labels": dict(plan.changes),
                "annotations": {APPLIED: plan.applied_text(), UPDATED_AT: timestamp(self._clock())},
            }
        }
        self._world.begin_write(place, plan.changes)
        try:
            reply = await self._client.request("PATCH", path_of(place), body=body, content_type=_MERGE)
            self._desk.written(place, reply.body)
            if named_host(place.name)[0] is not None:
                self._contests.wrote(place, plan.applied_text())
        finally:
            self._world.end_write(place)

    def _is_contested(self, place: Place, plan: LabelPlan) -> bool:
        """Whether another program keeps taking the labels off a host that it reports. Agents have no such owner."""
        is_bare = not self._world.roster(place.namespace).applied(place.name)
        pause = self._contests.pause(place, plan.applied_text()) if is_bare else 0.0
        if pause == PAUSE:
            text = (
                "Another program has taken the labels of classifications off again and again. They are put back in an "
                "hour; `muster import hosts` makes an Agent of the host, which keeps them"
            )
            self._events.record(about(place), "LabelsTakenOff", text, "Warning")
        if pause:
            self._desk.put_off(place, pause)
        return pause > 0


class AgentClassificationController:
    """Keeps the finalizer, the counts and the conditions of classifications."""

    def __init__(
        self,
        world: AgentWorld,
        client: Client,
        clock: Callable[[], datetime],
        events: EventRecorder,
        quarantine: Quarantine,
        written: Callable[[bytes], None],
    ) -> None:
        self._world = world
        self._written = written
        self._client = client
        self._clock = clock
        self._events = events
        self._quarantine = quarantine

    async def reconcile(self, place: Place) -> None:
        obj = self._world.classification(place)
        classification = self._world.roster(place.namespace).classification(place.name)
        if obj is None or classification is None:
            return
        finalizers = obj.metadata.finalizers
        if classification.deleting:
            if FINALIZER not in finalizers:
                return  # somebody else's finalizer keeps it
            if self._has_left_nothing(place, classification):
                await self._write_finalizers(place, obj, [each for each in finalizers if each != FINALIZER])
                return
        elif FINALIZER not in finalizers:
            await self._write_finalizers(place, obj, [*finalizers, FINALIZER])
            if (obj := self._world.classification(place)) is None:
                return  # it has gone meanwhile
        if self._world.roster(place.namespace).is_held(classification):
            await self._write_held(place, obj)
        else:
            await self._write_status(place, obj, classification)

    async def _write_held(self, place: Place, obj: AgentClassification) -> None:
        """Say that the query is not run. Labels stay as they are, and so do the counts."""
        namespace = self._quarantine.namespace
        entry = self._quarantine.holds("AgentClassification", obj.metadata)
        if entry is not None:
            wanted = entry.condition(namespace)
        else:
            entry = self._quarantine.first_in("AgentClassification", place.namespace)
            if entry is None:
                return
            wanted = entry.condition_of_dependent(namespace, f"It has the same query as {entry.subject}.")
        present = obj.status.conditions
        conditions = merged(present, {CONDITION: wanted}, self._clock())
        if conditions == present:
            return
        await self._patch_status(place, obj, {"conditions": plain_conditions(conditions)})
        self._events.record(About.of(AGENT_CLASSIFICATION, obj.metadata), CONDITION, wanted[2], "Warning")

    def _has_left_nothing(self, place: Place, classification: Classification) -> bool:
        roster = self._world.roster(place.namespace)
        return may_go(roster, classification) and not self._world.is_being_set(place.namespace, classification)

    async def _write_finalizers(self, place: Place, obj: AgentClassification, finalizers: list[str]) -> None:
        body = {"metadata": {"resourceVersion": obj.metadata.resource_version, "finalizers": finalizers or None}}
        reply = await self._client.request("PATCH", _path(place), body=body, content_type=_MERGE)
        self._written(reply.body)

    async def _write_status(self, place: Place, obj: AgentClassification, classification: Classification) -> None:
        found = report(self._world.roster(place.namespace), classification)
        present = obj.status.conditions
        conditions = merged(present, found.conditions, self._clock(), drop=_SOMETIMES)
        counts = (obj.status.matched_count, obj.status.error_count)
        if (counts, present) == ((found.matched, found.errors), conditions):
            return
        counted = {"matchedCount": found.matched, "errorCount": found.errors}
        await self._patch_status(place, obj, {**counted, "conditions": plain_conditions(conditions)})

    async def _patch_status(self, place: Place, obj: AgentClassification, status: Mapping[str, object]) -> None:
        body = {"metadata": {"resourceVersion": obj.metadata.resource_version}, "status": status}
        reply = await self._client.request("PATCH", _path(place, "status"), body=body, content_type=_MERGE)
        self._written(reply.body)


def _path(place: Place, subresource: str = "") -> str:
    return object_path(GROUP, "v1beta1", "agentclassifications", place.namespace, place.name, subresource)
