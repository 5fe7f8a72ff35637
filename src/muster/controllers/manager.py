"""Wires reflectors, the world and the controllers, and runs them until something ends them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

import muster.selectors.cel_reasons  # noqa: F401 - the language is there before the first placement
from muster.api.config_map import ConfigMap
from muster.api.crds import KEY as DEFINITIONS
from muster.api.managed_cluster import GROUP
from muster.api.reading import Reader
from muster.api.resolution import CATALOG_LABEL
from muster.client import Client, GuardedClient, Leadership, LeadershipLostError
from muster.client.heads import Place
from muster.client.loop_errors import quiet_transports
from muster.client.reflector import Reflector
from muster.clustersets import pairs
from muster.controllers.cluster_sets import BindingKey, ClusterSetController
from muster.controllers.clusters import ClusterController
from muster.controllers.duties import ALONE, Duties
from muster.controllers.garbage.collector import METADATA, METADATA_LIST, GarbageCollector, collectable
from muster.controllers.garbage.custom_kinds import CustomKinds, is_custom
from muster.controllers.hosts.controllers import HostControllers
from muster.controllers.placements.controller import PlacementController
from muster.controllers.placements.guards.defaults import CONFIG_MAP as GUARDS
from muster.controllers.placements.guards.following import defaults_mirror, following
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.mirrors import CLUSTER_LEASES, PlacementMirrors
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.asking import serve_answers
from muster.controllers.registration.starting import keep_profiles, let_clusters_in
from muster.controllers.resolutions.controller import ResolutionController
from muster.controllers.runtime.conditions import timestamp
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.events import EventRecorder
from muster.controllers.runtime.late_kinds import LateKinds, discovered
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.quarantine import CONFIG_MAP, Entry, Quarantine, QuarantineKeeper
from muster.controllers.runtime.runner import keep_doing
from muster.supervision import Notes, ProcessStatus, Vitals
from muster.supervision.readiness import LEADING, STANDBY
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from muster.api.parts import Identity
    from muster.client import Connection, Discovery, ServedResource
    from muster.client.leases import Candidate
    from muster.client.reflector import Handler
    from muster.controllers.questions.kinds import Observer, ObserverMaker
    from muster.controllers.runtime.companions import Companion
    from muster.supervision import Subject

_LOGGER = logging.getLogger(__name__)
_COMPONENT: Final = "placement-controller"
_USER_AGENT: Final = "muster-controllers"
_BEAT: Final = 0.5  # seconds
_RELEASE: Final = 2.0  # seconds between looks at what is in quarantine and has changed
_RESYNC: Final = 600.0  # seconds after which everything is looked at again, whether it has changed or not
CONFIG_MAPS: Final = Reader(ConfigMap)
_ESSENTIAL: Final = tuple(
    f"{plural}.{GROUP}"
    for plural in (
        "managedclusters",
        "managedclustersets",
        "managedclustersetbindings",
        "placements",
        "placementdecisions",
    )
)


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
    vitals: Vitals | None = None  # where a supervisor sees how we are
    set_aside: Sequence[Entry] = ()  # what a supervisor says that earlier processes died of
    namespace: str = "kube-system"  # where the quarantine and the fleet's guards are kept
    observer: ObserverMaker | None = None  # of whoever answers questions
    duties: Duties = ALONE  # which controllers run
    registrar: Connection | None = None  # to let clusters in as this user; without one, somebody else does
    profiles: bool = False  # whether clusters have a ClusterProfile where a set of theirs is bound
    registers_all: bool = False  # every cluster that is accepted, not only those whose agent has asked


class Manager:
    """All controllers over one connection and one copy of the fleet."""

    def __init__(
        self,
        client: Client,
        clock: Callable[[], datetime] = utc_now,
        catalogs: Mapping[str, Path] = MappingProxyType({}),
        quarantine: Quarantine | None = None,
        notes: Notes | None = None,
        duties: Duties = ALONE,
    ) -> None:
        self.duties = duties
        self.metrics = ControllerMetrics()
        self.unreadable = Unreadable(self.metrics.registry)
        self.quarantine = quarantine or Quarantine()
        self.notes = notes or Notes()
        self.notes.exhausted = self._ran_out_of_memory
        self._clock = clock
        self.world = PlacementWorld(self.metrics.observe_plugin, self.quarantine, self.notes, duties)
        self.world.advance(clock())
        self.questions = QuestionService(self.world, clock)
        self.events = EventRecorder(client, _COMPONENT, clock, lambda: self.placements.queue.has_work)
        self.clusters = ClusterController(self.world, client, clock, self.metrics)
        self.mirrors = PlacementMirrors(self.world, self.clusters, self.wake, self._wake_binding, self.unreadable)
        self.placements = PlacementController(self.world, client, self.events, clock, self.metrics, self.mirrors)
        self.sets = ClusterSetController(
            self.world, client, clock, self.metrics, self.wake, self.events, self.mirrors.sets.put_written
        )
        self.hosts = HostControllers(
            client, clock, self.metrics, self.events, self.quarantine, self.notes, self.unreadable
        )
        self.resolutions = ResolutionController(client, clock, self.metrics, catalogs, self.unreadable)
        self.companions: list[Companion] = []  # what runs besides, where it is set
        self.reflectors: list[Reflector] = []  # what is watched; each knows up to where it has told
        self._gauges()
        self.quarantine.changed = self._reconsider

    def _ran_out_of_memory(self, subject: Subject) -> None:
        entry = Entry(subject, "it ran out of memory", timestamp(self._clock()))
        _LOGGER.error("%s is set aside: its evaluation ran out of memory", subject)
        self.quarantine.set_aside(entry)

    def _reconsider(self, place: tuple[str, str, str]) -> None:
        """The quarantine has changed for an object: it is evaluated no more, or again."""
        kind, namespace, name = place
        if kind == "AgentClassification":
            host = Place(namespace, name)
            self.hosts.world.reconsider(host)
            self.hosts.classifications.add(host)
        else:
            self.wake(self.world.reconsider(kind, namespace, name))

    def outdated(self) -> list[Entry]:
        """Entries of the quarantine for states that are no more. Ask when everything has been seen."""
        now = self._clock()
        return [entry for entry in self.quarantine.entries() if entry.is_over(self._metadata_of(entry), now)]

    def _metadata_of(self, entry: Entry) -> Identity | None:
        kind, namespace, name = entry.place
        match kind:
            case "Placement":
                placement = self.world.placements.get(Key(namespace, name))
                return None if placement is None else placement.obj.metadata
            case "ManagedClusterSet":
                cluster_set = self.world.sets.get(name)
                return None if cluster_set is None else cluster_set.obj.metadata
            case "AgentClassification":
                classification = self.hosts.world.classification(Place(namespace, name))
                return None if classification is None else classification.metadata
            case _:
                return None

    def status(self) -> ProcessStatus:
        """How the work goes, for whoever watches: the queue whose oldest key has waited longest."""
        queues = self.metrics.queues
        name = max(queues, key=lambda each: queues[each].waited, default="")
        waited = round(queues[name].waited, 1) if name else 0.0
        unsynced = [each.kind for each in self.reflectors if not each.synced.is_set()]
        recorded = self.quarantine.recorded
        return ProcessStatus(unsynced=tuple(unsynced[:10]), queue=name, waited=waited, recorded=recorded)

    def _gauges(self) -> None:
        world, fleet = self.world, self.world.fleet
        self.metrics.gauge("muster_fleet_clusters", "Clusters in the fleet.", lambda: len(fleet))
        self.metrics.gauge("muster_placements", "Placements that are kept scheduled.", lambda: len(world.placements))
        self.metrics.counter(
            "muster_cel_evaluations", "Expressions evaluated on a cluster.", lambda: world.plans.tally.evaluations
        )
        self.metrics.counter("muster_mask_flips", "Verdicts turned by a change of a cluster.", lambda: fleet.flips)
        self.metrics.gauge(
            "muster_quarantined_objects", "Objects that are not evaluated.", lambda: len(self.quarantine.entries())
        )
        self.metrics.gauge(
            "muster_placements_held", "Placements whose removals a guard holds.", lambda: self.placements.guards.holding
        )
        self.metrics.counter("muster_events_dropped", "Events that were not recorded.", lambda: self.events.dropped)

    def wake(self, told: Iterable[Key | SetKey]) -> None:
        for key in sorted(told):  # placements that count each other's decisions always take the same turns
            if isinstance(key, SetKey):
                self.sets.wake_set(key)
                for each in self.companions:
                    each.wake_set(key.set_name)
            else:
                self.placements.queue.add(key)

    def wake_all(self) -> None:
        """Look at everything again."""
        self.wake(self.world.placements)
        self.wake(SetKey(name) for name in self.world.sets)
        self.hosts.wake_all()
        for each in self.companions:
            each.wake_all()

    @property
    def idle(self) -> bool:
        """Nothing is to be done now. Tolerations and scores that end some day do not count."""
        duties = self.duties
        settled = not duties.sets or self.sets.queue.settled
        settled &= not duties.clusters or self.clusters.queue.settled
        settled &= all(each.idle for each in self.companions)
        settled &= self.placements.history.idle and self.placements.queue.idle and self.events.idle
        return settled and self.hosts.idle and self.resolutions.idle

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch, by resource, and who listens."""
        watched: dict[str, Handler] = dict(self.mirrors.by_resource())
        if not self.duties.clusters:
            del watched[CLUSTER_LEASES]  # heartbeats, by which somebody else tells who is available
        if self.duties.hosts:
            watched.update(self.hosts.handlers())
        if self.duties.resolutions:
            watched.update(self.resolutions.handlers())
        return watched

    def pair_rules(self) -> Handler:
        """Who listens to the ConfigMap of allowed pairs."""
        sets = self.sets
        return Mirror(CONFIG_MAPS, sets.put_pairs, sets.remove_pairs, unreadable=self.unreadable.of("configmaps"))

    def guard_defaults(self) -> Handler:
        """Who listens to the ConfigMap of guards for all placements."""
        return defaults_mirror(self.placements.guards, self.world.recorded, self.unreadable.of("guards"))

    def _wake_binding(self, place: Place) -> None:
        self.sets.queue.add(BindingKey(*place))

    async def run(self) -> None:
        """Decide and write, when everything has been seen once."""
        self.unreadable.tell_with(self.events.record)
        duties = self.duties
        running = [self.placements.run, self.events.run]
        running += [self.sets.run] if duties.sets else []
        running += [self.clusters.run] if duties.clusters else []
        running += [self.hosts.run] if duties.hosts else []
        running += [self.resolutions.run] if duties.resolutions else []
        running += [each.run for each in self.companions]
        async with asyncio.TaskGroup() as tasks:
            for run in running:
                tasks.create_task(run())
            tasks.create_task(keep_doing("resync", self._resync, self.metrics))

    async def _resync(self) -> float:
        await asyncio.sleep(_RESYNC * random.uniform(0.9, 1.1))  # noqa: S311 - so that not all do it at once
        self.wake_all()
        self.resolutions.wake_all()
        return 0.0


async def run_controllers(
    connection: Connection, ready: Callable[[Manager], None] = lambda _: None, options: Options | None = None
) -> None:
    """Run until cancelled. The server may come and go meanwhile, and so may the lease: who loses it starts anew."""
    asyncio.get_running_loop().set_exception_handler(quiet_transports)
    chosen = options or Options()
    # Objects keep the name of who wrote them: it must not be that of people who use the command.
    named = replace(connection, headers={**connection.headers, "User-Agent": _USER_AGENT})
    vitals = chosen.vitals or Vitals.anonymous()
    quarantine = Quarantine(chosen.namespace)
    for entry in chosen.set_aside:
        since = entry.since or timestamp(chosen.clock())
        quarantine.set_aside(msgspec.structs.replace(entry, since=since))
    vitals.begin()
    while True:
        try:
            await _run_once(named, ready, chosen, quarantine, vitals)
        except* LeadershipLostError as lost:
            reason = next(iter(_leaves(lost)))
            _LOGGER.warning("the lease is lost: %s. Standing by", reason)


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        else:
            yield each


async def _run_once(
    connection: Connection,
    ready: Callable[[Manager], None],
    options: Options,
    quarantine: Quarantine,
    vitals: Vitals,
) -> None:
    """With a copy of the world of its own, until the lease is lost."""
    async with contextlib.AsyncExitStack() as stack:
        leadership = None if options.candidate is None else Leadership(connection, options.candidate)
        fence = None if leadership is None else leadership.fence
        client = await stack.enter_async_context(GuardedClient(connection, fence))
        duties = options.duties
        manager = Manager(client, options.clock, options.catalogs, quarantine, Notes(vitals), duties)
        beating = asyncio.create_task(_beat(vitals, manager, leadership))
        stack.callback(beating.cancel)
        stack.callback(manager.questions.close)
        discovery = await discovered(client, _ESSENTIAL)
        # What is in quarantine is known before anything is evaluated; what is not written yet gets there whoever leads.
        unfenced = await stack.enter_async_context(Client(connection))
        keeper = _keeper(unfenced, quarantine)
        await keeper.record()
        kept = Mirror(CONFIG_MAPS, quarantine.put, quarantine.remove, unreadable=manager.unreadable.of("quarantine"))
        where = (quarantine.namespace, CONFIG_MAP)
        watched = Reflector(client, discovery.named("configmaps.v1"), kept, one=where)
        observer: Observer | None = None
        if options.observer is not None:
            hosts, resolutions = manager.hosts.world, manager.resolutions.world
            observer = options.observer(manager.world, options.clock, hosts=hosts, resolutions=resolutions)
        if options.address is not None:
            answers = serve_answers(options.address, manager.metrics.render, manager.questions, observer)
            await stack.enter_async_context(answers)
        wanted = {**manager.handlers(), **({} if observer is None else observer.handlers())}
        handlers = {found: [each] for name, each in wanted.items() if (found := discovery.find(name)) is not None}
        reflectors = manager.reflectors
        late = LateKinds(client)
        if options.registrar is not None:
            registering = await stack.enter_async_context(GuardedClient(options.registrar, fence))
            served = (discovery, handlers, late)
            everybody = options.registers_all
            reflectors += let_clusters_in(manager, registering, options.clock, served, everybody=everybody)
        for name, handler in wanted.items():
            if discovery.find(name) is None:
                late.reflector(discovery, name, partial(_listened_to, client, handler))
        if options.profiles:
            keep_profiles(manager, client, options.clock, discovery, handlers)
        garbage: GarbageCollector | None = None
        custom: CustomKinds | None = None
        definitions: Reflector | None = None
        if options.collector is not None:
            collecting = await stack.enter_async_context(GuardedClient(options.collector, fence))
            garbage = _collector(collecting, discovery, manager, handlers, reflectors)
            custom = CustomKinds(collecting, garbage, partial(_shown_to, garbage, manager))
            definitions = Reflector(collecting, discovery.named(DEFINITIONS), custom, accept=(METADATA_LIST, METADATA))
        reflectors += [Reflector(client, resource, *listeners) for resource, listeners in handlers.items()]
        config_maps = discovery.named("configmaps.v1")
        if duties.sets:
            place = (pairs.NAMESPACE, pairs.NAME)
            reflectors.append(Reflector(client, config_maps, manager.pair_rules(), one=place))
        place = (quarantine.namespace, GUARDS)
        reflectors.append(Reflector(client, config_maps, manager.guard_defaults(), one=place))
        remembered = LateKinds(client)  # what nobody decides by need not have been read
        recording: list[Reflector] = []
        if observer is not None:
            recording += following(manager.world.recorded, client, discovery, remembered, manager.unreadable)
        if duties.resolutions:
            packed = manager.resolutions.catalog_handler()
            reflectors.append(Reflector(client, config_maps, packed, labels=f"{CATALOG_LABEL}=true"))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(watched.run())
            await watched.synced.wait()
            tasks.create_task(keeper.run())
            if custom is not None and definitions is not None:
                tasks.create_task(definitions.run())
                tasks.create_task(custom.run())
            for reflector in reflectors:
                tasks.create_task(reflector.run())
            # Nothing is decided before everything has been seen once: a restart alone moves no decision.
            for reflector in reflectors:
                await reflector.synced.wait()
            manager.questions.ready = True
            if observer is not None:
                observer.ready = True
                tasks.create_task(observer.run(lambda: not manager.placements.queue.idle))
            tasks.create_task(_lead(leadership, manager, garbage, keeper, ready))
            tasks.create_task(late.run(lambda each: _begin(each, reflectors, tasks)))
            tasks.create_task(remembered.run(lambda each: _begin(each, recording, tasks)))
            for reflector in recording:
                tasks.create_task(reflector.run())


def _listened_to(client: Client, handler: Handler, resource: ServedResource) -> Reflector:
    return Reflector(client, resource, handler)


def _begin(reflector: Reflector, reflectors: list[Reflector], tasks: asyncio.TaskGroup) -> None:
    reflectors.append(reflector)
    tasks.create_task(reflector.run())


async def _beat(vitals: Vitals, manager: Manager, leadership: Leadership | None) -> None:
    """Show that this loop makes progress, and how it is."""
    while True:
        status = manager.status()
        if status.unsynced or not manager.questions.ready:
            state = "reading"
        elif leadership is None or leadership.leading:
            state = LEADING
        else:
            state = STANDBY if leadership.leader else "waiting for the lease"
        is_leading = leadership is not None and leadership.leading
        unrenewed = round(leadership.fence.age(), 1) if leadership is not None and is_leading else 0.0
        vitals.beat(msgspec.structs.replace(status, state=state, unrenewed=unrenewed))
        await asyncio.sleep(_BEAT)


def _keeper(client: Client, quarantine: Quarantine) -> QuarantineKeeper:
    place = ("", "v1", "configmaps", quarantine.namespace)
    return QuarantineKeeper(quarantine, client, object_path(*place, CONFIG_MAP), collection_path(*place))


def _collector(
    client: Client,
    discovery: Discovery,
    manager: Manager,
    handlers: dict[ServedResource, list[Handler]],
    reflectors: list[Reflector],
) -> GarbageCollector:
    """A garbage collector that listens to what is watched anyway, and watches the metadata of everything else."""
    events = EventRecorder(client, "garbage-collector", utc_now)
    garbage = GarbageCollector(client, events, discovery, manager.metrics)
    for resource in collectable(discovery, is_custom):
        handler = _shown_to(garbage, manager, resource)
        if resource in handlers:
            handlers[resource].append(handler)  # so that it is watched once
        else:
            accept = (METADATA_LIST, METADATA)
            reflectors.append(Reflector(client, resource, handler, accept=accept))
    return garbage


def _shown_to(garbage: GarbageCollector, manager: Manager, resource: ServedResource) -> Handler:
    return garbage.mirror(resource, manager.unreadable.of(f"{resource.plural}/metadata"))


async def _lead(
    leadership: Leadership | None,
    manager: Manager,
    garbage: GarbageCollector | None,
    keeper: QuarantineKeeper,
    ready: Callable[[Manager], None],
) -> None:
    async def release() -> float:
        if leadership is not None:
            leadership.fence.check()
        await keeper.release(manager.outdated())
        return _RELEASE

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(manager.run())
            tasks.create_task(keep_doing("quarantine", release, manager.metrics))
            if garbage is not None:
                tasks.create_task(garbage.run())
            ready(manager)

    if leadership is None:
        await work()
    else:
        await leadership.lead(work)
