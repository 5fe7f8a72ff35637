"""Clusters: taints that follow from the Available condition, and Available that follows from the cluster's lease."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from muster.client.errors import UnreachableError
from muster.controllers.conditions import merged
from muster.controllers.queue import WorkQueue
from muster.errors import ApiError
from muster.fleet.scores import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.client import Client
    from muster.controllers.placement_world import PlacementWorld

_LOGGER = logging.getLogger(__name__)
_GROUP: Final = "cluster.open-cluster-management.io"
_CLUSTERS: Final = f"/apis/{_GROUP}/v1/managedclusters"
_MERGE: Final = "application/merge-patch+json"
AVAILABLE: Final = "ManagedClusterConditionAvailable"
UNAVAILABLE_TAINT: Final = f"{_GROUP}/unavailable"
UNREACHABLE_TAINT: Final = f"{_GROUP}/unreachable"
LEASE: Final = "managed-cluster-lease"
_PATIENCE: Final = 5  # lease durations without renewal before a cluster counts as unreachable
_LOOK: Final = 5.0  # seconds between looks at the leases


def wanted_taints(cluster: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cluster's taints with those in place that its availability calls for."""
    conditions = (cluster.get("status") or {}).get("conditions") or ()
    status = next((each["status"] for each in conditions if each["type"] == AVAILABLE), "Unknown")
    wanted = {"True": None, "False": UNAVAILABLE_TAINT}.get(status, UNREACHABLE_TAINT)
    taints = (cluster.get("spec") or {}).get("taints") or ()
    kept = [
        dict(taint)
        for taint in taints
        if taint["key"] not in (UNAVAILABLE_TAINT, UNREACHABLE_TAINT) or taint["key"] == wanted
    ]
    if wanted is not None and all(taint["key"] != wanted for taint in kept):
        kept.append({"key": wanted, "effect": "NoSelect"})
    return kept


def lease_ended(lease: Mapping[str, Any], cluster: Mapping[str, Any], now: datetime) -> bool:
    """Whether the cluster's agent has not renewed its lease for too long."""
    renewed = (lease.get("spec") or {}).get("renewTime")
    duration = (cluster.get("spec") or {}).get("leaseDurationSeconds") or 60
    return renewed is not None and now > parse_time(renewed) + timedelta(seconds=_PATIENCE * duration)


class ClusterController:
    """Keeps taints and availability."""

    def __init__(self, world: PlacementWorld, client: Client, clock: Callable[[], datetime]) -> None:
        self._world = world
        self._client = client
        self._clock = clock
        self.leases: dict[str, dict[str, Any]] = {}  # by cluster
        self.queue: WorkQueue[str] = WorkQueue()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_the_leases())
            while True:
                name = await self.queue.get()
                try:
                    await self._reconcile(name)
                    self.queue.forget(name)
                except (ApiError, UnreachableError) as error:
                    if not (isinstance(error, ApiError) and error.code in (404, 409)):
                        _LOGGER.warning("cluster %s: %s", name, error)
                    self.queue.add_failed(name)
                finally:
                    self.queue.done(name)

    async def _watch_the_leases(self) -> None:
        while True:
            for name in list(self.leases):
                cluster = self._cluster(name)
                if cluster is not None and self._is_lost(name, cluster):
                    self.queue.add(name)
            await asyncio.sleep(_LOOK)

    def _cluster(self, name: str) -> dict[str, Any] | None:
        row = self._world.fleet.row(name)
        return None if row is None else self._world.fleet.load(row)

    def _is_lost(self, name: str, cluster: Mapping[str, Any]) -> bool:
        """Its lease has ended, and its condition does not say so yet."""
        if name not in self.leases or not lease_ended(self.leases[name], cluster, self._clock()):
            return False
        conditions = (cluster.get("status") or {}).get("conditions") or ()
        return all(each["status"] != "Unknown" for each in conditions if each["type"] == AVAILABLE)

    async def _reconcile(self, name: str) -> None:
        cluster = self._cluster(name)
        if cluster is None or cluster["metadata"].get("deletionTimestamp"):
            return
        revision = {"resourceVersion": cluster["metadata"]["resourceVersion"]}
        if self._is_lost(name, cluster):
            text = ("Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease.")
            conditions = merged(cluster["status"].get("conditions") or (), {AVAILABLE: text}, self._clock())
            body = {"metadata": revision, "status": {"conditions": conditions}}
            await self._client.request("PATCH", f"{_CLUSTERS}/{name}/status", body=body, content_type=_MERGE)
            return  # the change comes back as an event, and then the taints follow
        taints = wanted_taints(cluster)
        if taints != ((cluster.get("spec") or {}).get("taints") or []):
            body = {"metadata": revision, "spec": {"taints": taints or None}}
            await self._client.request("PATCH", f"{_CLUSTERS}/{name}", body=body, content_type=_MERGE)
