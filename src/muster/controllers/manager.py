"""Wires reflectors, the world and the controllers, and runs them until something ends them."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from muster.client import Client
from muster.client.errors import UnreachableError
from muster.client.reflector import Reflector
from muster.controllers.cluster_sets import BindingKey, ClusterSetController
from muster.controllers.clusters import LEASE, ClusterController
from muster.controllers.events import EventRecorder
from muster.controllers.garbage import METADATA, METADATA_LIST, GarbageCollector, collectable
from muster.controllers.placement import PlacementController
from muster.controllers.placement_world import Key, PlacementWorld, SetKey, decode
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from muster.client import Connection, Discovery
    from muster.client.reflector import Handler

_LOGGER = logging.getLogger(__name__)
_COMPONENT: Final = "placement-controller"
Object = dict[str, Any]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Manager:
    """All controllers over one connection and one copy of the fleet."""

    def __init__(self, client: Client, clock: Callable[[], datetime] = utc_now) -> None:
        self.world = PlacementWorld()
        self.world.advance(clock())
        events = EventRecorder(client, _COMPONENT, clock)
        self.placements = PlacementController(self.world, client, events, clock)
        self.sets = ClusterSetController(self.world, client, clock)
        self.clusters = ClusterController(self.world, client, clock)

    def wake(self, told: Iterable[Key | SetKey]) -> None:
        for key in told:
            if isinstance(key, SetKey):
                self.sets.wake_set(key)
            else:
                self.placements.queue.add(key)

    @property
    def idle(self) -> bool:
        return self.placements.queue.idle and self.sets.queue.idle and self.clusters.queue.idle

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch, by resource, and who listens."""
        world = self.world
        return {
            "managedclusters": _Clusters(self),
            "addonplacementscores": _Objects(self, world.put_score, world.remove_score),
            "managedclustersets": _Objects(self, world.put_set, self._remove_set),
            "managedclustersetbindings": _Objects(self, self._put_binding, world.remove_binding),
            "placementdecisions": _Objects(self, world.put_decision, world.remove_decision),
            "placements": _Objects(self, world.put_placement, world.remove_placement),
            "leases": _Objects(self, self._put_lease, self._remove_lease),
        }

    def _remove_set(self, obj: Object) -> Iterable[Key | SetKey]:
        return self.world.remove_set(obj["metadata"]["name"])

    def _put_binding(self, obj: Object) -> Iterable[Key]:
        self.sets.queue.add(BindingKey(obj["metadata"]["namespace"], obj["metadata"]["name"]))
        return self.world.put_binding(obj)

    def _put_lease(self, obj: Object) -> Iterable[Key]:
        if obj["metadata"]["name"] == LEASE:
            self.clusters.leases[obj["metadata"]["namespace"]] = obj
        return ()

    def _remove_lease(self, obj: Object) -> Iterable[Key]:
        self.clusters.leases.pop(obj["metadata"]["namespace"], None)
        return ()


async def run_controllers(connection: Connection, ready: Callable[[Manager], None] = lambda _: None) -> None:
    """Run until cancelled. The server may come and go meanwhile."""
    async with Client(connection) as client:
        discovery = await _discovered(client)
        manager = Manager(client)
        reflectors = [
            Reflector(client, discovery.named(plural), handler) for plural, handler in manager.handlers().items()
        ]
        garbage = GarbageCollector(client, EventRecorder(client, "garbage-collector", utc_now), discovery)
        reflectors += [
            Reflector(client, resource, garbage.handler(resource), accept=(METADATA_LIST, METADATA))
            for resource in collectable(discovery)
        ]
        async with asyncio.TaskGroup() as tasks:
            for reflector in reflectors:
                tasks.create_task(reflector.run())
            # Nothing is decided before everything has been seen once: a restart alone moves no decision.
            for reflector in reflectors:
                await reflector.synced.wait()
            tasks.create_task(manager.placements.run())
            tasks.create_task(manager.sets.run())
            tasks.create_task(manager.clusters.run())
            tasks.create_task(garbage.run())
            ready(manager)


async def _discovered(client: Client) -> Discovery:
    pause = 0.1
    while True:
        try:
            return await client.discover()
        except (ApiError, UnreachableError) as error:
            _LOGGER.info("waiting for the server: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)


class _Objects:
    """Feeds a collection into the world. A new list is a put for each object, and a remove for each that is missing."""

    def __init__(
        self,
        manager: Manager,
        put: Callable[[Object], Iterable[Key | SetKey]],
        remove: Callable[[Object], Iterable[Key | SetKey]],
    ) -> None:
        self._manager = manager
        self._put = put
        self._remove = remove
        self._known: set[tuple[str, str]] = set()

    def replace(self, objects: Sequence[bytes]) -> None:
        there = {_place(obj): obj for obj in map(decode, objects)}
        for namespace, name in self._known - there.keys():
            self._manager.wake(self._remove({"metadata": {"namespace": namespace, "name": name}}))
        for obj in there.values():
            self._manager.wake(self._put(obj))
        self._known = set(there)

    def put(self, encoded: bytes) -> None:
        obj = decode(encoded)
        self._known.add(_place(obj))
        self._manager.wake(self._put(obj))

    def remove(self, encoded: bytes) -> None:
        obj = decode(encoded)
        self._known.discard(_place(obj))
        self._manager.wake(self._remove(obj))


class _Clusters:
    """Clusters stay encoded: the fleet reads from them only what somebody needs."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager

    def replace(self, objects: Sequence[bytes]) -> None:
        world = self._manager.world
        there = {decode(encoded)["metadata"]["name"] for encoded in objects}
        for name in world.fleet.names(world.fleet.rows().tolist()):
            if name not in there:
                self._manager.wake(world.remove_cluster(name))
        world.fleet.put_many(objects)
        self._manager.wake(world.placements)
        self._manager.wake(SetKey(name) for name in world.sets)
        for name in there:
            self._manager.clusters.queue.add(name)

    def put(self, encoded: bytes) -> None:
        self._manager.wake(self._manager.world.put_cluster(encoded))
        self._manager.clusters.queue.add(decode(encoded)["metadata"]["name"])

    def remove(self, encoded: bytes) -> None:
        self._manager.wake(self._manager.world.remove_cluster(decode(encoded)["metadata"]["name"]))


def _place(obj: Object) -> tuple[str, str]:
    return (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
