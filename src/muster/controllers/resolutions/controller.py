"""Keeps Resolutions resolved: when one changes, or a catalog that it names, it is resolved again.

Nothing is installed. Deciding happens in worker processes; here is who uses what, whose turn it is, and what is
written. Namespaces take turns, so that one with many resolutions, or slow ones, holds up no other for long.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

import msgspec
from prometheus_client import Counter, Histogram

from muster.api.parts import PartialObject, plain_conditions
from muster.api.reading import Reader
from muster.api.resolution import GROUP, Resolution
from muster.catalog_files import fingerprint
from muster.client.heads import Place
from muster.controllers.resolutions.pool import WorkerPool
from muster.controllers.resolutions.world import ResolutionWorld
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import keep_doing, work
from muster.resolution.to_status import NOT_DECIDED, RESOLVED
from muster.values.api_paths import object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from muster.client import Client
    from muster.controllers.resolutions.world import Snapshot
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import AnyMirror
    from muster.resolution.to_status import Answer

_LOGGER = logging.getLogger(__name__)
_NAME: Final = "resolution"
_TURNS: Final = 4  # namespaces at a time; workers are fewer, but most turns need none
_LOOK_EVERY: Final = 5.0  # seconds between looks at the files of the hub's catalogs
_MERGE: Final = "application/merge-patch+json"
_RESOLUTIONS: Final = Reader(Resolution)
_CATALOGS: Final = Reader(PartialObject)
_BUCKETS: Final = (0.01, 0.1, 1, 10, 100)


class ResolutionController:
    """Watches, has the workers decide, writes."""

    def __init__(
        self,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        catalogs: Mapping[str, Path],
        unreadable: Unreadable | None = None,
        look_every: float = _LOOK_EVERY,
    ) -> None:
        self.queue: WorkQueue[str] = WorkQueue()
        self.world = ResolutionWorld(self._wake, {name: str(path) for name, path in catalogs.items()})
        self._unreadable = unreadable or Unreadable()
        self._mirror = Mirror(
            _RESOLUTIONS, self.world.put_resolution, self._remove, unreadable=self._unreadable.of("resolutions")
        )
        self.pool = WorkerPool()
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._catalogs = catalogs
        self._look_every = look_every
        self._waiting: dict[str, dict[str, None]] = {}  # names by namespace, in the order of their turns
        self._answers: dict[Place, tuple[object, Answer]] = {}  # the last ones, with what they were made of
        self._durations = Histogram(
            "muster_resolution_duration_seconds",
            "How long in seconds a resolution takes, catalogs included.",
            buckets=_BUCKETS,
            registry=metrics.registry,
        )
        self._outcomes = Counter(
            "muster_resolution_outcomes", "Resolutions done, by reason.", ("reason",), registry=metrics.registry
        )
        metrics.gauge("muster_resolutions", "Resolutions that are kept resolved.", lambda: len(self.world))
        metrics.counter(
            "muster_resolution_workers", "Worker processes started for resolutions.", lambda: self.pool.started
        )

    @property
    def idle(self) -> bool:
        return self.queue.idle

    def handlers(self) -> Mapping[str, AnyMirror]:
        """What to watch, by resource, and who listens."""
        return {f"resolutions.{GROUP}": self._mirror}

    def catalog_handler(self) -> AnyMirror:
        """Who listens to ConfigMaps that are catalogs."""
        world, unreadable = self.world, self._unreadable.of("catalogs")
        return Mirror(_CATALOGS, world.put_config_map, world.remove_config_map, unreadable=unreadable)

    def wake_all(self) -> None:
        """Look at everything again; what was not decided gets another try."""
        for place in self.world:
            known = self._answers.get(place)
            if known is not None and known[1].conditions[RESOLVED].reason == NOT_DECIDED:
                del self._answers[place]
        self._wake(self.world)

    async def run(self) -> None:
        """Work for ever; start it when everything has been listed once."""
        try:
            await self._look()
        except OSError as error:
            _LOGGER.warning("a catalog cannot be looked at: %s", error)  # it is looked at again
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(work(_NAME, self.queue, self.reconcile, self._metrics, _TURNS))
                tasks.create_task(keep_doing("catalogs", self._keep_looking, self._metrics))
        finally:
            await self.pool.close()

    async def reconcile(self, namespace: str) -> None:
        """Work on one resolution of a namespace; if more of them wait, the namespace has another turn."""
        waiting = self._waiting.get(namespace, {})
        if not waiting:
            return
        name = next(iter(waiting))
        del waiting[name]
        try:
            await self._resolve(Place(namespace, name))
        except BaseException:  # being cancelled as well: it has not had its turn
            waiting[name] = None
            raise
        if waiting:
            self.queue.add(namespace)
        else:
            self._waiting.pop(namespace, None)

    async def _resolve(self, place: Place) -> None:
        # Read: what it asks, and what that is made of.
        snapshot = self.world.snapshot(place)
        if snapshot is None:
            return
        # Decide: elsewhere, unless nothing has changed since.
        known = self._answers.get(place)
        if known is None or known[0] != snapshot.identity:
            known = self._answers[place] = (snapshot.identity, await self._decided(snapshot))
        # Write: onto the object as it is now; if it asks something else by now, its turn will come.
        present = self.world.snapshot(place)
        if present is not None and present.generation == snapshot.generation:
            await self._write(place, present, known[1])

    async def _decided(self, snapshot: Snapshot) -> Answer:
        started = time.perf_counter()
        found = await self.pool.run(snapshot.job(), snapshot.seconds)
        self._durations.observe(time.perf_counter() - started)
        self._outcomes.labels(found.conditions[RESOLVED].reason).inc()
        return found

    async def _write(self, place: Place, snapshot: Snapshot, answer: Answer) -> None:
        present = snapshot.status
        conditions = plain_conditions(merged(snapshot.conditions, answer.conditions, self._clock()))
        found: JsonObject = msgspec.json.decode(msgspec.json.encode(answer.status))  # lists, as it is compared
        status = {**found, "observedGeneration": snapshot.generation, "conditions": conditions}
        if status == present:
            return
        gone = dict.fromkeys(present.keys() - status.keys())
        body = {"metadata": {"resourceVersion": snapshot.revision}, "status": {**gone, **status}}
        path = object_path(GROUP, "v1alpha1", "resolutions", place.namespace, place.name, "status")
        reply = await self._client.request("PATCH", path, body=body, content_type=_MERGE)
        self._mirror.put_written(reply.body)

    def _remove(self, place: Place) -> None:
        self._answers.pop(place, None)
        self.world.remove_resolution(place)

    def _wake(self, places: Iterable[Place]) -> None:
        for place in places:
            self._waiting.setdefault(place.namespace, {})[place.name] = None
            self.queue.add(place.namespace)

    async def _keep_looking(self) -> float:
        await self._look()
        return self._look_every

    async def _look(self) -> None:
        """See whether files of the hub's catalogs have changed."""
        for name, path in self._catalogs.items():
            self.world.put_fingerprint(name, await asyncio.to_thread(fingerprint, path))
