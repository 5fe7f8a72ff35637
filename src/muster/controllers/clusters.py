"""Clusters: taints that follow from the Available condition, and Available that follows from the cluster's lease."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from muster.controllers.conditions import merged
from muster.controllers.queue import WorkQueue
from muster.controllers.runner import work
from muster.errors import InvalidObjectError
from muster.placement.scorers import RESOURCES, amount_fault
from muster.values.api_paths import object_path
from muster.values.times import Fault, later, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from muster.client import Client
    from muster.controllers.metrics import ControllerMetrics
    from muster.controllers.placement_world import PlacementWorld

_GROUP: Final = "cluster.open-cluster-management.io"
_CLUSTERS: Final = (_GROUP, "v1", "managedclusters")
_MERGE: Final = "application/merge-patch+json"
AVAILABLE: Final = "ManagedClusterConditionAvailable"
UNAVAILABLE_TAINT: Final = f"{_GROUP}/unavailable"
UNREACHABLE_TAINT: Final = f"{_GROUP}/unreachable"
LEASE: Final = "managed-cluster-lease"
_PATIENCE: Final = 5  # lease durations without renewal before a cluster counts as unreachable
_LOOK: Final = 5.0  # seconds between looks at the leases
_USUAL_DURATION: Final = 60
_WORKERS: Final = 4
_LOGGER = logging.getLogger(__name__)


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""


class _Taint(msgspec.Struct, gc=False):
    key: str = ""
    timeAdded: str | None = None  # noqa: N815 - the wire's names


class _Spec(msgspec.Struct, gc=False):
    taints: list[_Taint] | None = None


class _Status(msgspec.Struct, gc=False):
    conditions: list[_Condition] | None = None
    allocatable: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None


class _Metadata(msgspec.Struct, gc=False):
    name: str


class _Health(msgspec.Struct, gc=False):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_HEALTH = msgspec.json.Decoder(_Health)


class Look(NamedTuple):
    """What the controllers see in a cluster at once: taints that have to be changed, values that cannot be used."""

    name: str
    is_tainted_wrongly: bool
    fault: str


def look(encoded: bytes) -> Look:
    """It runs for every event. Raises a msgspec error for a cluster that is not shaped as one."""
    health = _HEALTH.decode(encoded)
    return Look(health.metadata.name, _is_tainted_wrongly(health), _fault(health))


def _fault(health: _Health) -> str:
    """The first value of a cluster that cannot be used. Whoever reads it does as if it were not known."""
    for place, taint in enumerate(health.spec.taints or ()):
        if taint.timeAdded and isinstance(moment := parse_time(taint.timeAdded), Fault):
            return f"spec.taints[{place}].timeAdded: {moment}"
    for field, amounts in (("allocatable", health.status.allocatable), ("capacity", health.status.capacity)):
        for resource in RESOURCES:
            if amounts and resource in amounts and (fault := amount_fault(resource, amounts[resource])):
                return f"status.{field}.{resource}: {fault}"
    return ""


def _is_tainted_wrongly(health: _Health) -> bool:
    conditions = health.status.conditions or ()
    wanted = _wanted_taint(next((each.status for each in conditions if each.type == AVAILABLE), "Unknown"))
    present = [each.key for each in health.spec.taints or () if each.key in (UNAVAILABLE_TAINT, UNREACHABLE_TAINT)]
    return present != ([wanted] if wanted else [])


def _wanted_taint(available: str) -> str | None:
    return {"True": None, "False": UNAVAILABLE_TAINT}.get(available, UNREACHABLE_TAINT)


def wanted_taints(cluster: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cluster's taints with those in place that its availability calls for."""
    conditions = (cluster.get("status") or {}).get("conditions") or ()
    wanted = _wanted_taint(
        next((each.get("status") for each in conditions if each.get("type") == AVAILABLE), "Unknown")
    )
    taints: Sequence[Mapping[str, Any]] = (cluster.get("spec") or {}).get("taints") or ()
    kept = [
        dict(taint)
        for taint in taints
        if taint.get("key") not in (UNAVAILABLE_TAINT, UNREACHABLE_TAINT) or taint.get("key") == wanted
    ]
    if wanted is not None and all(taint.get("key") != wanted for taint in kept):
        kept.append({"key": wanted, "effect": "NoSelect"})
    return kept


def lease_ends(renewed: datetime, cluster: Mapping[str, Any]) -> datetime:
    """When a cluster counts as lost unless its agent renews its lease before."""
    duration = (cluster.get("spec") or {}).get("leaseDurationSeconds") or _USUAL_DURATION
    return later(renewed, _PATIENCE * duration)


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

    def look_at(self, encoded: bytes) -> str:
        """A cluster has come or changed; what of it cannot be used. Most changes are heartbeats, which need nothing."""
        seen = look(encoded)
        if seen.is_tainted_wrongly:
            self.queue.add(seen.name)
        return seen.fault

    def put_lease(self, lease: Mapping[str, Any]) -> None:
        """An agent has renewed a cluster's lease. Raises InvalidObjectError when it does not say when."""
        name, renewed = lease["metadata"]["namespace"], (lease.get("spec") or {}).get("renewTime")
        if lease["metadata"]["name"] != LEASE or not renewed:
            return
        moment = parse_time(renewed)
        if isinstance(moment, Fault):
            raise InvalidObjectError("spec.renewTime", str(moment))
        self._renewed[name] = self._look_again[name] = moment

    def remove_lease(self, lease: Mapping[str, Any]) -> None:
        if lease["metadata"]["name"] == LEASE:
            self._renewed.pop(lease["metadata"]["namespace"], None)
            self._look_again.pop(lease["metadata"]["namespace"], None)

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
        cluster = self._cluster(name)
        if cluster is None or name not in self._renewed:
            return
        ends = lease_ends(self._renewed[name], cluster)
        # Objects are only decoded when there may be something to see.
        self._look_again[name] = max(later(ends, -_LOOK), now)
        if self._is_lost(name, cluster):
            self.queue.add(name)

    def _cluster(self, name: str) -> dict[str, Any] | None:
        row = self._world.fleet.row(name)
        return None if row is None else self._world.fleet.load(row)

    def _is_lost(self, name: str, cluster: Mapping[str, Any]) -> bool:
        """Its lease has ended, and its condition does not say so yet."""
        if name not in self._renewed or self._clock() <= lease_ends(self._renewed[name], cluster):
            return False
        conditions = (cluster.get("status") or {}).get("conditions") or ()
        return all(each.get("status") != "Unknown" for each in conditions if each.get("type") == AVAILABLE)

    async def _reconcile(self, name: str) -> None:
        cluster = self._cluster(name)
        if cluster is None or cluster["metadata"].get("deletionTimestamp"):
            return
        revision = {"resourceVersion": cluster["metadata"]["resourceVersion"]}
        if self._is_lost(name, cluster):
            text = ("Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease.")
            present = (cluster.get("status") or {}).get("conditions") or ()
            body = {
                "metadata": revision,
                "status": {"conditions": merged(present, {AVAILABLE: text}, self._clock())},
            }
            await self._client.request(
                "PATCH", object_path(*_CLUSTERS, "", name, "status"), body=body, content_type=_MERGE
            )
            return  # the change comes back as an event, and then the taints follow
        taints = wanted_taints(cluster)
        if taints != ((cluster.get("spec") or {}).get("taints") or []):
            body = {"metadata": revision, "spec": {"taints": taints or None}}
            await self._client.request("PATCH", object_path(*_CLUSTERS, "", name), body=body, content_type=_MERGE)
