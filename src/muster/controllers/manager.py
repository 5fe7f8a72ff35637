"""Wires reflectors, the world and the controllers, and runs them until something ends them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from muster.api.resolution import CATALOG_LABEL
from muster.client import Client
from muster.client.errors import UnreachableError
from muster.client.leases import Election
from muster.client.reflector import Reflector
from muster.clustersets import pairs
from muster.controllers.agents import HostControllers
from muster.controllers.answerer import Answerer
from muster.controllers.answers import serve_answers
from muster.controllers.cluster_sets import BindingKey, ClusterSetController
from muster.controllers.clusters import ClusterController
from muster.controllers.containment import Contained, Unreadable
from muster.controllers.events import EventRecorder
from muster.controllers.feeding import Both, ClusterFeed, ObjectFeed
from muster.controllers.garbage import METADATA, METADATA_LIST, GarbageCollector, collectable
from muster.controllers.metrics import ControllerMetrics
from muster.controllers.placement import PlacementController
from muster.controllers.placement_world import Key, PlacementWorld, SetKey
from muster.controllers.resolutions import ResolutionController
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from muster.client import Connection, Discovery, ServedResource
    from muster.client.leases import Candidate
    from muster.client.reflector import Handler
    from muster.controllers.containment import Guarded

_LOGGER = logging.getLogger(__name__)
_COMPONENT: Final = "placement-controller"
_USER_AGENT: Final = "muster-controllers"
_RESYNC: Final = 600.0  # seconds after which everything is looked at again, whether it has changed or not
Object = dict[str, Any]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Options:
    """How controllers run beside the server they work for."""

    candidate: Candidate | None = None  # to lead by a lease; without one they lead at once
    collector: Connection | None = None  # to collect garbage as this user; a Kubernetes server has its own collector
    address: Path | None = None  # the file that says where the hub's questions are answered; without one they are not
    clock: Callable[[], datetime] = utc_now
    catalogs: Mapping[str, Path] = field(default_factory=dict)  # that resolutions may name


class Manager:
    """All controllers over one connection and one copy of the fleet."""

    def __init__(
        self,
        client: Client,
        clock: Callable[[], datetime] = utc_now,
        catalogs: Mapping[str, Path] = MappingProxyType({}),
    ) -> None:
        self.metrics = ControllerMetrics()
        self.unreadable = Unreadable(self.metrics.registry)
        self.world = PlacementWorld(self.metrics.observe_plugin)
        self.world.advance(clock())
        self.answerer = Answerer(self.world, clock)
        self.events = EventRecorder(client, _COMPONENT, clock)
        self.placements = PlacementController(self.world, client, self.events, clock, self.metrics)
        self.sets = ClusterSetController(self.world, client, clock, self.metrics, self.wake)
        self.clusters = ClusterController(self.world, client, clock, self.metrics)
        self.hosts = HostControllers(client, clock, self.metrics)
        self.resolutions = ResolutionController(client, clock, self.metrics, catalogs)
        self.reflectors: list[Reflector] = []  # what is watched; each knows up to where it has told
        self._gauges()

    def _gauges(self) -> None:
        world, fleet = self.world, self.world.fleet
        self.metrics.gauge("muster_fleet_clusters", "Clusters in the fleet.", lambda: len(fleet))
        self.metrics.gauge("muster_placements", "Placements that are kept scheduled.", lambda: len(world.placements))
        self.metrics.counter(
            "muster_cel_evaluations", "Expressions evaluated on a cluster.", lambda: world.tally.evaluations
        )
        self.metrics.counter("muster_mask_flips", "Verdicts turned by a change of a cluster.", lambda: fleet.flips)
        self.metrics.counter("muster_events_dropped", "Events that were not recorded.", lambda: self.events.dropped)

    def wake(self, told: Iterable[Key | SetKey]) -> None:
        for key in sorted(told):  # placements that count each other's decisions always take the same turns
            if isinstance(key, SetKey):
                self.sets.wake_set(key)
            else:
                self.placements.queue.add(key)

    def wake_all(self) -> None:
        """Look at everything again."""
        self.wake(self.world.placements)
        self.wake(SetKey(name) for name in self.world.sets)
        self.hosts.wake_all()

    @property
    def idle(self) -> bool:
        """Nothing is to be done now. Tolerations and scores that end some day do not count."""
        settled = self.sets.queue.settled and self.clusters.queue.settled and self.placements.history.idle
        return settled and self.placements.queue.idle and self.hosts.idle and self.resolutions.idle and self.events.idle

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch, by resource, and who listens."""
        world, wake = self.world, self.wake
        feeds: dict[str, Guarded] = {
            "managedclusters": ClusterFeed(world, self.clusters, wake),
            "addonplacementscores": ObjectFeed(wake, world.put_score, world.remove_score),
            "managedclustersets": ObjectFeed(wake, world.put_set, self._remove_set),
            "managedclustersetbindings": ObjectFeed(wake, self._put_binding, world.remove_binding),
            "placementdecisions": ObjectFeed(wake, world.put_decision, world.remove_decision),
            "placements": ObjectFeed(wake, world.put_placement, world.remove_placement),
            "leases": ObjectFeed(wake, self._put_lease, self._remove_lease),
            **self.hosts.handlers(),
            **self.resolutions.handlers(),
        }
        return {name: self.guarded(name, feed) for name, feed in feeds.items()}

    def guarded(self, resource: str, feed: Guarded) -> Handler:
        """The feed of a collection, with its unreadable objects counted and told."""
        feed.guard = self.unreadable.guard(resource.partition(".")[0])
        return feed

    def _remove_set(self, obj: Object) -> Iterable[Key | SetKey]:
        return self.world.remove_set(obj["metadata"]["name"])

    def _put_binding(self, obj: Object) -> Iterable[Key]:
        self.sets.queue.add(BindingKey(obj["metadata"]["namespace"], obj["metadata"]["name"]))
        return self.world.put_binding(obj)

    def _put_lease(self, obj: Object) -> Iterable[Key]:
        self.clusters.put_lease(obj)
        return ()

    def _remove_lease(self, obj: Object) -> Iterable[Key]:
        self.clusters.remove_lease(obj)
        return ()

    async def run(self) -> None:
        """Decide and write, when everything has been seen once."""
        self.unreadable.tell_with(self.events.record)
        async with asyncio.TaskGroup() as tasks:
            for part in (self.placements, self.sets, self.clusters, self.hosts, self.resolutions, self.events):
                tasks.create_task(part.run())
            tasks.create_task(self._resync())

    async def _resync(self) -> None:
        while True:
            await asyncio.sleep(_RESYNC * random.uniform(0.9, 1.1))  # noqa: S311 - so that not all do it at once
            self.wake_all()
            self.resolutions.wake_all()


async def run_controllers(
    connection: Connection, ready: Callable[[Manager], None] = lambda _: None, options: Options | None = None
) -> None:
    """Run until cancelled. The server may come and go meanwhile. Raises LeadershipLostError when others lead."""
    chosen = options or Options()
    async with contextlib.AsyncExitStack() as stack:
        # Objects keep the name of who wrote them: it must not be that of people who use the command.
        named = replace(connection, headers={**connection.headers, "User-Agent": _USER_AGENT})
        client = await stack.enter_async_context(Client(named))
        discovery = await _discovered(client)
        manager = Manager(client, chosen.clock, chosen.catalogs)
        if chosen.address is not None:
            await stack.enter_async_context(serve_answers(chosen.address, manager.metrics.render, manager.answerer))
        handlers = {discovery.named(name): handler for name, handler in manager.handlers().items()}
        reflectors = manager.reflectors
        garbage: GarbageCollector | None = None
        if chosen.collector is not None:
            collecting = await stack.enter_async_context(Client(chosen.collector))
            garbage = _collector(collecting, discovery, manager, handlers, reflectors)
        reflectors += [Reflector(client, resource, handler) for resource, handler in handlers.items()]
        allowed = ObjectFeed(manager.wake, manager.sets.put_pairs, manager.sets.remove_pairs)
        place = (pairs.NAMESPACE, pairs.NAME)
        manager.guarded("configmaps", allowed)
        reflectors.append(Reflector(client, discovery.named("configmaps.v1"), allowed, one=place))
        packed = manager.guarded("catalogs", manager.resolutions.catalog_handler())
        reflectors.append(Reflector(client, discovery.named("configmaps.v1"), packed, labels=f"{CATALOG_LABEL}=true"))
        async with asyncio.TaskGroup() as tasks:
            for reflector in reflectors:
                tasks.create_task(reflector.run())
            # Nothing is decided before everything has been seen once: a restart alone moves no decision.
            for reflector in reflectors:
                await reflector.synced.wait()
            manager.answerer.ready = True
            tasks.create_task(_lead(client, chosen, manager, garbage, ready))


def _collector(
    client: Client,
    discovery: Discovery,
    manager: Manager,
    handlers: dict[ServedResource, Handler],
    reflectors: list[Reflector],
) -> GarbageCollector:
    """A garbage collector that listens to what is watched anyway, and watches the metadata of everything else."""
    events = EventRecorder(client, "garbage-collector", utc_now)
    garbage = GarbageCollector(client, events, discovery, manager.metrics)
    for resource in collectable(discovery):
        handler = Contained(garbage.handler(resource), manager.unreadable.guard(f"{resource.plural}/metadata"))
        if resource in handlers:
            handlers[resource] = Both(handlers[resource], handler)
        else:
            accept = (METADATA_LIST, METADATA)
            reflectors.append(Reflector(client, resource, handler, accept=accept))
    return garbage


async def _lead(
    client: Client,
    options: Options,
    manager: Manager,
    garbage: GarbageCollector | None,
    ready: Callable[[Manager], None],
) -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(manager.run())
            if garbage is not None:
                tasks.create_task(garbage.run())
            ready(manager)

    if options.candidate is None:
        await work()
    else:
        await Election(client, options.candidate).lead(work)


async def _discovered(client: Client) -> Discovery:
    pause = 0.1
    while True:
        try:
            return await client.discover()
        except (ApiError, UnreachableError) as error:
            _LOGGER.info("waiting for the server: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, 5.0)
