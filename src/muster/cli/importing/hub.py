"""The hub's side of an import: what would change, then the writes. By server-side apply, as a manager of its own."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP
from muster.api.registration import JOINED
from muster.controllers.syncing.writing import patch_of
from muster.errors import ApiError, InvalidObjectError
from muster.importing.found import ACCESS, IMPORTED, MANAGER, SECRET
from muster.importing.objects import CLUSTERS, Applied, applied, differences, summary, why_not
from muster.importing.sources import AVAILABLE
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muster.api.managed_cluster import ManagedCluster
    from muster.client import Client
    from muster.importing.found import Found
    from muster.values.json import JsonObject

_CLUSTERS: Final = (GROUP, "v1", "managedclusters")
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_AT_ONCE: Final = 16
_NOT_FOUND: Final = 404
_EXISTS: Final = 409
_CONFLICT: Final = 409
_ATTEMPTS: Final = 5
CREATE, CHANGE, SAME, REFUSED = "create", "change", "same", "refused"


@dataclass(frozen=True, slots=True)
class Planned:
    """One cluster: what is to be done, what it changes, and what stays because it is somebody else's."""

    found: Found
    deed: str
    lines: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    error: ApiError | InvalidObjectError | None = None


async def planned(client: Client, found: Sequence[Found], advance: Callable[[], None]) -> list[Planned]:
    """What writing these would do. The server is asked with dry runs, so that refusals are known before."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Found) -> Planned:
        async with gate:
            try:
                return await _planned(client, each)
            except (ApiError, InvalidObjectError) as error:
                return Planned(each, REFUSED, error=error)
            finally:
                advance()

    return list(await asyncio.gather(*(one(each) for each in found if not each.fault)))


async def _planned(client: Client, found: Found) -> Planned:
    present = await _present(client, found.name)
    if present is not None and (reason := why_not(present, found)):
        return Planned(found, REFUSED, error=InvalidObjectError("", reason))
    found = _as_before(found, present)
    wanted = applied(found, present)
    after = await _apply(client, wanted, dry_run=True)
    secret = ("the Secret with its credentials",) if await _is_new_secret(client, found) else ()
    if present is None:
        return Planned(found, CREATE, (summary(found), *secret), wanted.kept)
    lines = tuple(differences(present, after, found.state))
    same = not lines and not secret
    return Planned(found, SAME if same else CHANGE, (*lines, *secret), wanted.kept)


def _as_before(found: Found, present: JsonObject | None) -> Found:
    """A way to the cluster that is there already stays, unless this import brings credentials."""
    metadata = {} if present is None else present.get("metadata", {})
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    before = annotations.get(ACCESS) if isinstance(annotations, dict) else None
    return replace(found, access=before) if isinstance(before, str) and before and not found.kubeconfig else found


async def write(client: Client, plans: Sequence[Planned], advance: Callable[[], None]) -> list[Planned]:
    """Do it. Those that the server refuses come back with its error."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(each: Planned) -> Planned:
        async with gate:
            try:
                await _write(client, each.found)
            except (ApiError, InvalidObjectError) as error:
                return replace(each, deed=REFUSED, error=error)
            finally:
                advance()
            return each

    return list(await asyncio.gather(*(one(each) for each in plans)))


async def _write(client: Client, found: Found) -> None:
    present = await _present(client, found.name)
    cluster = CLUSTERS.of(await _apply(client, applied(found, present)))
    await _namespace(client, found.name)
    if found.kubeconfig:
        await _secret(client, found)
    for attempt in range(_ATTEMPTS):
        try:
            await _write_status(client, cluster, found)
        except ApiError as error:
            # Controllers look at a new cluster too: what was seen of it is written upon their change.
            if error.code != _CONFLICT or attempt == _ATTEMPTS - 1:
                raise
            cluster = CLUSTERS.of(await _present(client, found.name) or {})
        else:
            return


async def _write_status(client: Client, cluster: ManagedCluster, found: Found) -> None:
    status = patch_of(cluster, found.state, conditions_of(found), datetime.now(UTC))
    if status:
        body = {"metadata": {"resourceVersion": cluster.metadata.resource_version}, "status": status}
        await client.request(
            "PATCH",
            object_path(*_CLUSTERS, "", found.name, "status"),
            params={"fieldManager": MANAGER},
            body=body,
            content_type=_MERGE,
        )


def conditions_of(found: Found) -> Mapping[str, tuple[str, str, str]]:
    """Imported; and available, if the source says so."""
    joined = {JOINED: ("True", IMPORTED, f"Imported from {found.source}")}
    return joined if found.state.available is None else {**joined, AVAILABLE: found.state.available}


async def _present(client: Client, name: str) -> JsonObject | None:
    try:
        found: JsonObject = (await client.request("GET", object_path(*_CLUSTERS, "", name))).json()
    except ApiError as error:
        if error.code == _NOT_FOUND:
            return None
        raise
    return found


async def _apply(client: Client, wanted: Applied, *, dry_run: bool = False) -> JsonObject:
    params = {"fieldManager": MANAGER, "force": "false", "fieldValidation": "Strict"}
    params |= {"dryRun": "All"} if dry_run else {}
    path = object_path(*_CLUSTERS, "", wanted.object["metadata"]["name"])
    reply = await client.request("PATCH", path, params=params, body=wanted.object, content_type=_APPLY)
    found: JsonObject = reply.json()
    return found


async def _namespace(client: Client, name: str) -> None:
    """Where the cluster's lease and credentials are."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    try:
        await client.request("GET", object_path("", "v1", "namespaces", "", name))
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        try:
            await client.request("POST", collection_path("", "v1", "namespaces"), body=body)
        except ApiError as refused:
            if refused.code != _EXISTS:
                raise


async def _is_new_secret(client: Client, found: Found) -> bool:
    """Whether there are credentials to keep that are not kept yet, as far as one may see."""
    if not found.kubeconfig:
        return False
    try:
        present: JsonObject = (await client.request("GET", object_path("", "v1", "secrets", found.name, SECRET))).json()
    except ApiError:
        return True  # writing it will say what is wrong, if anything is
    return present.get("data") != _secret_data(found)


def _secret_data(found: Found) -> JsonObject:
    return {"kubeconfig": base64.b64encode(found.kubeconfig.encode()).decode()}


async def _secret(client: Client, found: Found) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": found.name},
        "data": _secret_data(found),
    }
    params = {"fieldManager": MANAGER, "force": "true"}
    path = object_path("", "v1", "secrets", found.name, SECRET)
    await client.request("PATCH", path, params=params, body=body, content_type=_APPLY)
