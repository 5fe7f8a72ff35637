"""Clusters: taints that follow from the Available condition, and Available that follows from the cluster's lease."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import GROUP, ClusterHealth, ManagedCluster, Taint
from muster.api.parts import plain_conditions
from muster.api.reading import Reader, Reading
from muster.api.registration import JOINING_TAINT
from muster.controllers.runtime.conditions import merged, timestamp
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.placement.schedule.scorers import RESOURCES, amount_fault
from muster.values.api_paths import object_path
from muster.values.times import Fault, later, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.api.lease import Lease
    from muster.client import Client
    from muster.client.heads import Place
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored

CLUSTERS: Final = Reader(ManagedCluster)
HEALTH: Final = Reader(ClusterHealth)
Cluster = ManagedCluster | ClusterHealth
_CLUSTERS: Final = (GROUP, "v1", "managedclusters")
_MERGE: Final = "application/merge-patch+json"
AVAILABLE: Final = "ManagedClusterConditionAvailable"
UNAVAILABLE_TAINT: Final = f"{GROUP}/unavailable"
UNREACHABLE_TAINT: Final = f"{GROUP}/unreachable"
_TAINT_OF: Final[Mapping[str, str | None]] = {"True": None, "False": UNAVAILABLE_TAINT}
LEASE: Final = "managed-cluster-lease"
_PATIENCE: Final = 5  # lease durations without renewal before a cluster counts as unreachable
_LOOK: Final = 5.0  # seconds between looks at the leases
_USUAL_DURATION: Final = 60
_WORKERS: Final = 4
_LOGGER = logging.getLogger(__name__)


def fault_of(cluster: Cluster) -> Fault | None:
    """The first value of a cluster that cannot be used. Whoever reads it does as if it were not known."""
    for place, taint in enumerate(cluster.spec.taints):
        if taint.time_added and isinstance(moment := parse_time(taint.time_added), Fault):
            return Fault(moment.message, f"spec.taints[{place}].timeAdded")
    for field, amounts in (("allocatable", cluster.status.allocatable), ("capacity", cluster.status.capacity)):
        for resource in RESOURCES:
            if resource in amounts and (fault := amount_fault(resource, amounts[resource])):
                return Fault(fault, f"status.{field}.{resource}")
    return None


def is_tainted_wrongly(cluster: Cluster) -> bool:
    """It runs for every heartbeat."""
    wanted = _wanted_taint(cluster)
    present = [each.key for each in cluster.spec.taints if each.key in (UNAVAILABLE_TAINT, UNREACHABLE_TAINT)]
    if present != ([wanted] if wanted else []):
        return True
    return any(each.key == JOINING_TAINT for each in cluster.spec.taints) and is_ready(cluster)


def _wanted_taint(cluster: Cluster) -> str | None:
    for each in cluster.status.conditions:
        if each.type == AVAILABLE:
            return _TAINT_OF.get(each.status, UNREACHABLE_TAINT)
    return UNREACHABLE_TAINT


def is_ready(cluster: Cluster) -> bool:
    """Whether a cluster that is new can be given work: it is accepted, available, and has told its version."""
    accepted, known = cluster.spec.hub_accepts_client, bool(cluster.status.version.kubernetes)
    return accepted and known and _wanted_taint(cluster) is None


def has_untimed_taints(cluster: Cluster) -> bool:
    """Whether nobody has said since when it is tainted. It runs for every heartbeat."""
    return any(each.time_added is None for each in cluster.spec.taints)


def timed(taints: tuple[Taint, ...], stored: tuple[Taint, ...], now: str) -> tuple[Taint, ...]:
    """The same with the present time for those that were stored without one.

    Where no admission fills it in, a toleration for so many seconds would never begin. A new taint is left to
    admission, which lets nobody else say its time; if there is none, its time comes with the next look.
    """
    return tuple(
        msgspec.structs.replace(each, time_added=now) if each.time_added is None and each in stored else each
        for each in taints
    )


def wanted_taints(cluster: ManagedCluster) -> tuple[Taint, ...]:
    """The cluster's taints with those in place that its availability calls for."""
    wanted = _wanted_taint(cluster)
    kept = tuple(
        taint
        for taint in cluster.spec.taints
        if taint.key not in (UNAVAILABLE_TAINT, UNREACHABLE_TAINT) or taint.key == wanted
    )
    if is_ready(cluster):
        kept = tuple(taint for taint in kept if taint.key != JOINING_TAINT)
    if wanted is not None and all(taint.key != wanted for taint in kept):
        return (*kept, Taint(wanted, effect="NoSelect"))
    return kept


def lease_ends(renewed: datetime, cluster: ManagedCluster) -> datetime:
    """When a cluster counts as lost unless its agent renews its lease before."""
    return later(renewed, _PATIENCE * (cluster.spec.lease_duration_seconds or _USUAL_DURATION))


class ClusterController:
    """Keeps taints and availability."""

    def __init__(
        self, world: PlacementWorld, client: Client, clock: Callable[[], datetime], metrics: ControllerMetrics
    ) -> None:
        self._world = world
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._renewed: dict[str, datetime] = {}  # by cluster
        self._look_again: dict[str, datetime] = {}  # not before this
        self.queue: WorkQueue[str] = WorkQueue()

    def look_at(self, new: Stored[ClusterHealth]) -> Fault | None:
        """A cluster has come or changed; what of it cannot be used. Most changes are heartbeats, which need nothing."""
        if is_tainted_wrongly(new.obj) or has_untimed_taints(new.obj):
            self.queue.add(new.place.name)
        return new.fault or fault_of(new.obj)

    def put_lease(self, new: Stored[Lease]) -> Fault | None:
        """An agent has renewed a cluster's lease."""
        name, renewed = new.place.namespace, new.obj.spec.renew_time
        if new.place.name != LEASE or not renewed:
            return None
        moment = parse_time(renewed)
        if isinstance(moment, Fault):
            return Fault(moment.message, "spec.renewTime")
        self._renewed[name] = self._look_again[name] = moment
        return new.fault

    def remove_lease(self, place: Place) -> None:
        if place.name == LEASE:
            self._renewed.pop(place.namespace, None)
            self._look_again.pop(place.namespace, None)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_the_leases())
            tasks.create_task(work("cluster", self.queue, self._reconcile, self._metrics, _WORKERS))

    async def _watch_the_leases(self) -> None:
        while True:
            now = self._clock()
            for name in [name for name, due in self._look_again.items() if later(due, _LOOK) <= now]:
                try:
                    self._look_at_lease(name, now)
                except Exception:
                    # A bug of ours. It must not keep the leases of other clusters from being looked at.
                    self._metrics.count_error("cluster")
                    _LOGGER.exception("the lease of cluster %s could not be looked at", name)
            await asyncio.sleep(_LOOK)

    def _look_at_lease(self, name: str, now: datetime) -> None:
        found = self._cluster(name)
        if found is None or name not in self._renewed:
            return
        cluster = found.obj
        ends = lease_ends(self._renewed[name], cluster)
        # Objects are only decoded when there may be something to see.
        self._look_again[name] = max(later(ends, -_LOOK), now)
        if self._is_lost(name, cluster):
            self.queue.add(name)

    def _cluster(self, name: str) -> Reading[ManagedCluster] | None:
        row = self._world.fleet.row(name)
        encoded = [] if row is None else self._world.fleet.encoded([row])
        found = CLUSTERS.read(encoded[0]) if encoded else None
        return None if isinstance(found, Fault) else found

    def _is_lost(self, name: str, cluster: ManagedCluster) -> bool:
        """Its lease has ended, and its condition does not say so yet."""
        if name not in self._renewed or self._clock() <= lease_ends(self._renewed[name], cluster):
            return False
        return all(each.status != "Unknown" for each in cluster.status.conditions if each.type == AVAILABLE)

    async def _reconcile(self, name: str) -> None:
        found = self._cluster(name)
        if found is None or found.obj.metadata.is_going:
            return
        cluster = found.obj
        revision = {"resourceVersion": cluster.metadata.resource_version}
        if self._is_lost(name, cluster):
            text = ("Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease.")
            conditions = merged(cluster.status.conditions, {AVAILABLE: text}, self._clock())
            body = {"metadata": revision, "status": {"conditions": plain_conditions(conditions)}}
            await self._client.request(
                "PATCH", object_path(*_CLUSTERS, "", name, "status"), body=body, content_type=_MERGE
            )
            return  # the change comes back as an event, and then the taints follow
        taints = timed(wanted_taints(cluster), cluster.spec.taints, timestamp(self._clock()))
        # One that cannot be read must not be lost by writing the others.
        if taints != cluster.spec.taints and found.fault_in("spec") is None:
            body = {"metadata": revision, "spec": {"taints": msgspec.to_builtins(taints) or None}}
            await self._client.request("PATCH", object_path(*_CLUSTERS, "", name), body=body, content_type=_MERGE)
