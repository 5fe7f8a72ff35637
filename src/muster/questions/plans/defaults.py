"""The fleet's guards for an observer that is no controller: which ConfigMap the controllers of this server read.

They read it where their lease is, and nobody tells where that is. A user who may list ConfigMaps everywhere finds it by
its name; others look where it usually is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.client.heads import head_of
from muster.client.reflector import listed
from muster.controllers.permissions import LEASE
from muster.controllers.placements.guards.defaults import CONFIG_MAP
from muster.errors import ApiError
from muster.values.api_paths import by_name, collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.client import Client

_USUAL: Final = ("muster-system", "kube-system", "open-cluster-management-hub")
_MOST: Final = 20  # ConfigMaps of that name whose namespace is looked at
_FORBIDDEN, _NOT_FOUND = 403, 404


@dataclass(frozen=True, slots=True)
class FoundDefaults:
    """The ConfigMap, if there is one, and what is to be said of it."""

    encoded: bytes | None = None
    remark: str = ""


async def found_defaults(client: Client, namespaces: Iterable[str] = ()) -> FoundDefaults:
    """Look for it. Raises ApiError for whatever is no refusal."""
    try:
        found = await _listed(client, "")
        refused: ApiError | None = None
    except ApiError as error:
        if error.code != _FORBIDDEN:
            raise
        refused, found = error, {}
        for namespace in dict.fromkeys((*_USUAL, *namespaces)):
            found |= await _readable(client, namespace)
    if not found:
        why = f"the guards of the fleet are not known, only those of placements: {refused}" if refused else ""
        return FoundDefaults(None, why)
    leading = [] if len(found) == 1 else [each for each in sorted(found)[:_MOST] if await _has_lease(client, each)]
    candidates = leading or sorted(found, key=lambda each: (each not in _USUAL, each))
    chosen = candidates[0]
    if len(candidates) == 1:
        return FoundDefaults(found[chosen])
    others = ", ".join(each for each in sorted(found) if each != chosen)
    remark = f"the guards of the fleet are taken from the ConfigMap {CONFIG_MAP} in {chosen}, not from that in {others}"
    return FoundDefaults(found[chosen], remark)


async def _listed(client: Client, namespace: str) -> dict[str, bytes]:
    """Those that may be listed, by namespace."""
    objects, _ = await listed(client, collection_path("", "v1", "configmaps", namespace), by_name(CONFIG_MAP))
    return {head_of(each).metadata.namespace: each for each in objects}


async def _readable(client: Client, namespace: str) -> dict[str, bytes]:
    """The one in a namespace, if there is one and it may be read."""
    try:
        path = object_path("", "v1", "configmaps", namespace, CONFIG_MAP)
        return {namespace: (await client.request("GET", path)).body}
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NOT_FOUND):
            raise
        return {}


async def _has_lease(client: Client, namespace: str) -> bool:
    try:
        await client.request("GET", object_path("coordination.k8s.io", "v1", "leases", namespace, LEASE))
    except ApiError as error:
        if error.code not in (_FORBIDDEN, _NOT_FOUND):
            raise
        return False
    return True
