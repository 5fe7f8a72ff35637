"""Looks at imported clusters, hundreds or thousands from one process, and writes what it finds.

Clusters that failed wait in a queue of their own with few workers: however many hang until their time is over, the
others are looked at in time. Each look has its limits, and a trouble ends in the condition of its own cluster.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.collecting.connections import Connections
from muster.collecting.reading import ReadLimits, is_alive, look_at
from muster.collecting.troubles import Trouble, TroubleError
from muster.controllers.clusters import CLUSTERS
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.controllers.syncing.verdicts import (
    NONE,
    SYNCED,
    Failures,
    Patience,
    Verdict,
    of_failure,
    of_heartbeat,
    of_success,
    pause_after,
)
from muster.controllers.syncing.writing import present, renew_lease, write_status
from muster.errors import ApiError
from muster.importing.found import ACCESS, SOURCE, judged
from muster.importing.rules import Rules, built_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.api.managed_cluster import ManagedCluster
    from muster.client import Client
    from muster.client.heads import Place
    from muster.collecting.access import Accesses
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored
    from muster.controllers.syncing.verdicts import Texts
    from muster.values.faults import Fault

LABEL: Final = SOURCE  # of the clusters that are watched for this
_CONFLICT: Final = 409
_ATTEMPTS: Final = 4


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """How often clusters are looked at, and how many at a time."""

    every: float = 60.0  # seconds between looks at a cluster: does it live
    full_every: float = 300.0  # seconds between looks at everything
    at_once: int = 64
    failing_at_once: int = 16
    patience: Patience = field(default_factory=Patience)
    limits: ReadLimits = field(default_factory=ReadLimits)
    kept: int = 5_000  # connections that stay open between looks


@dataclass(slots=True)
class _Watched:
    """One cluster: as the hub has it, and how looks at it went."""

    cluster: ManagedCluster
    how: str
    looked: float = 0.0  # fully, by the monotonic clock; 0 is never
    failures: Failures = NONE
    lease: str = ""  # its version


class SyncController:
    """Keeps the clusters true that have an annotation which says how to get to them."""

    def __init__(
        self,
        client: Client,
        accesses: Accesses,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        unreadable: Unreadable,
        settings: SyncSettings | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.settings = settings or SyncSettings()
        self.rules = rules or built_in()
        self.queue: WorkQueue[str] = WorkQueue()
        self.failing: WorkQueue[str] = WorkQueue()
        self.looks = 0
        self._client = client
        self.connections = Connections(accesses, self.settings.kept)
        self._clock = clock
        self.metrics = metrics
        self._watched: dict[str, _Watched] = {}
        self.mirror = Mirror(CLUSTERS, self._put, self._remove, unreadable=unreadable.of("imported clusters"))
        self._observe = metrics.durations("muster_sync_look", "How long in seconds a look at a cluster takes.")
        self._count_trouble = metrics.tally("muster_sync_troubles", "Looks that failed, by what was wrong.", "reason")
        metrics.counter("muster_sync_looks", "Looks at clusters.", lambda: self.looks)
        metrics.gauge("muster_sync_clusters", "Imported clusters that are kept true.", lambda: len(self._watched))
        metrics.gauge("muster_sync_clusters_failing", "Of those, clusters whose last look failed.", self._failing)
        metrics.gauge("muster_sync_connections", "Connections that are kept open.", lambda: len(self.connections))

    def _failing(self) -> int:
        return sum(each.failures.count > 0 for each in self._watched.values())

    def _put(self, new: Stored[ManagedCluster]) -> Fault | None:
        name, metadata = new.place.name, new.obj.metadata
        how = metadata.annotations.get(ACCESS, "")
        if not how or metadata.is_going:
            self._forget(name)
            return new.fault
        known = self._watched.get(name)
        if known is not None and known.how == how:
            known.cluster = new.obj  # most changes are our own
        else:
            self.connections.forget(name)
            self._watched[name] = _Watched(new.obj, how)
            self.queue.add(name)
        return new.fault

    def _remove(self, place: Place) -> None:
        self._forget(place.name)

    def _forget(self, name: str) -> None:
        known = self._watched.pop(name, None)
        if known is not None:
            self.connections.forget(name, known.how)

    def use(self, rules: Rules) -> None:
        """Rules have changed: every cluster gets a full look, in its turn."""
        self.rules = rules
        for each in self._watched.values():
            each.looked = 0.0

    def names(self) -> list[str]:
        """Of the clusters that are kept true."""
        return sorted(self._watched)

    async def run(self) -> None:
        settings = self.settings
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(work("sync", self.queue, self._turn, self.metrics, settings.at_once))
                failing = work("sync-failing", self.failing, self._turn, self.metrics, settings.failing_at_once)
                tasks.create_task(failing)
        finally:
            self.connections.close()

    async def _turn(self, name: str) -> None:
        watched = self._watched.get(name)
        if watched is None:
            return
        try:
            await self.look(name)
        finally:
            if watched.failures.count:
                self.failing.add_after(name, self._spread(pause_after(watched.failures, self.settings.every)))
            else:
                self.queue.add_after(name, self._spread(self.settings.every))

    def _spread(self, seconds: float) -> float:
        return seconds * random.uniform(0.9, 1.0)  # noqa: S311 - so that not all come at once for ever

    async def look_once(self, name: str) -> Verdict | None:
        """For those who look once and go: no patience, no lease. None if it is not watched. Raises ApiError."""
        watched = self._watched.get(name)
        if watched is None:
            return None
        verdict = await self._judge(name, watched, Patience(1, 0.0))
        await self._write(watched, verdict)
        return verdict

    async def look(self, name: str) -> None:
        """Look at one cluster, write what is found, and renew its lease if it lives. Raises ApiError of the hub."""
        watched = self._watched.get(name)
        if watched is None:
            return
        verdict = await self._judge(name, watched, self.settings.patience)
        await self._write(watched, verdict)
        if verdict.is_alive:
            await self._renew(watched, self._clock())

    async def _write(self, watched: _Watched, verdict: Verdict) -> None:
        """What was seen stays true when somebody else has changed the object meanwhile: it is written upon that."""
        for attempt in range(_ATTEMPTS):
            try:
                written = await write_status(self._client, watched.cluster, verdict, self._clock())
            except ApiError as error:
                if error.code != _CONFLICT or attempt == _ATTEMPTS - 1:
                    raise
                written = await present(self._client, watched.cluster.metadata.name)
                self.mirror.put_written(written)
                continue
            if written is not None:
                self.mirror.put_written(written)
            return

    async def _judge(self, name: str, watched: _Watched, patience: Patience) -> Verdict:
        """One look, and what it means."""
        self.looks += 1
        now = time.monotonic()
        full = not watched.looked or now - watched.looked >= self.settings.full_every
        try:
            verdict = await self._seen(name, watched, full=full)
        except TroubleError as error:
            now = time.monotonic()
            self._count_trouble(error.trouble.value)
            watched.failures = watched.failures.another(now)
            if error.trouble in (Trouble.UNAUTHORIZED, Trouble.BAD_CERTIFICATE, Trouble.UNREACHABLE):
                self.connections.forget(name, watched.how)
            return of_failure(error, watched.failures, now, patience)
        self._observe(time.monotonic() - now)
        watched.failures = NONE
        return verdict

    async def _seen(self, name: str, watched: _Watched, *, full: bool) -> Verdict:
        async with self.connections.to(name, watched.how) as client:
            limits = self.settings.limits
            if not full:
                await is_alive(client, limits)
                return of_heartbeat(_condition(watched.cluster, SYNCED))
            seen = await look_at(client, limits)
        found = judged(seen.facts, self.rules)
        watched.looked = time.monotonic()
        return of_success(found.state, seen.unread, (*self.rules.faults, *found.notes))

    async def _renew(self, watched: _Watched, now: datetime) -> None:
        try:
            watched.lease = await renew_lease(self._client, watched.cluster, watched.lease, now)
        except ApiError:
            watched.lease = ""  # another version, or none: it is looked up next time
            raise


def _condition(cluster: ManagedCluster, kind: str) -> Texts | None:
    found = next((each for each in cluster.status.conditions if each.type == kind), None)
    return None if found is None else (found.status, found.reason, found.message)
