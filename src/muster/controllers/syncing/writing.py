"""Writes what was found of clusters: the status where it differs, the lease of those that are alive."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP
from muster.api.parts import plain_conditions
from muster.controllers.clusters import LEASE
from muster.controllers.runtime.conditions import merged
from muster.errors import ApiError
from muster.importing.objects import status_change
from muster.values.api_paths import collection_path, object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from muster.api.managed_cluster import ManagedCluster
    from muster.client import Client
    from muster.controllers.syncing.verdicts import Texts, Verdict
    from muster.importing.found import State

MANAGER: Final = "muster-sync"
_MERGE: Final = "application/merge-patch+json"
_LEASES: Final = ("coordination.k8s.io", "v1", "leases")
_NOT_FOUND, _EXISTS = 404, 409
_HOLDER: Final = "muster-sync"


def patch_of(cluster: ManagedCluster, state: State, conditions: Mapping[str, Texts], now: datetime) -> JsonObject:
    """The status that differs, with all of its conditions; nothing if it is so already."""
    status = status_change(cluster.status, state)
    wanted = merged(cluster.status.conditions, conditions, now)
    if wanted != cluster.status.conditions:
        status["conditions"] = plain_conditions(wanted)
    return status


async def write_status(client: Client, cluster: ManagedCluster, verdict: Verdict, now: datetime) -> bytes | None:
    """The cluster as it is afterwards; None if there was nothing to write. Raises ApiError."""
    status = patch_of(cluster, verdict.state, verdict.conditions, now)
    if not status:
        return None
    name = cluster.metadata.name
    body = {"metadata": {"resourceVersion": cluster.metadata.resource_version}, "status": status}
    reply = await client.request(
        "PATCH",
        object_path(GROUP, "v1", "managedclusters", "", name, "status"),
        params={"fieldManager": MANAGER},
        body=body,
        content_type=_MERGE,
    )
    return reply.body


async def present(client: Client, name: str) -> bytes:
    """The cluster as the hub has it now. Raises ApiError."""
    return (await client.request("GET", object_path(GROUP, "v1", "managedclusters", "", name))).body


async def renew_lease(client: Client, cluster: ManagedCluster, known: str, now: datetime) -> str:
    """Show that a cluster is alive. `known` is the version of its lease, if that is known; the new one comes back.

    Nothing where the cluster has no namespace: whoever accepts clusters makes it. Raises ApiError.
    """
    name = cluster.metadata.name
    spec: JsonObject = {"renewTime": _micro_time(now)}
    path = object_path(*_LEASES, name, LEASE)
    if not known:
        try:
            known = _version((await client.request("GET", path)).json())
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            return await _created(client, cluster, spec)
    body = {"metadata": {"resourceVersion": known}, "spec": spec}
    reply = await client.request("PATCH", path, params={"fieldManager": MANAGER}, body=body, content_type=_MERGE)
    return _version(reply.json())


async def _created(client: Client, cluster: ManagedCluster, spec: JsonObject) -> str:
    name = cluster.metadata.name
    seconds = cluster.spec.lease_duration_seconds
    spec = {**spec, "holderIdentity": _HOLDER, "leaseDurationSeconds": seconds if seconds > 0 else 60}
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": LEASE, "namespace": name},
        "spec": spec,
    }
    try:
        reply = await client.request("POST", collection_path(*_LEASES, name), body=lease)
    except ApiError as error:
        if error.code in (_NOT_FOUND, _EXISTS):
            return ""
        raise
    return _version(reply.json())


def _version(obj: JsonObject) -> str:
    metadata = obj.get("metadata")
    return str(metadata.get("resourceVersion", "")) if isinstance(metadata, dict) else ""


def _micro_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
