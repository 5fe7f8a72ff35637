"""The objects that a Plan is made from, as they are: of the hub's own store, or of a server that is asked for each.

`plans` merges what would be written into them. On Kubernetes, and for an observer in a command's own process, the
server has them; neither keeps whole objects of every kind.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import msgspec

from muster.api import RESOURCES
from muster.errors import ApiError
from muster.hub.objects import decode, key_of
from muster.hub.redaction import GROUP
from muster.hub.storage import Key
from muster.values.api_paths import collection_path, object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from muster.client import Client
    from muster.hub.requests import Target
    from muster.hub.storage.reading import StoredObjects
    from muster.importing.hosts import HostKind

HOSTS: Final = ("agents.agent-install.openshift.io", "agentclassifications.agent-install.openshift.io")
_SETS: Final = f"managedclustersets.{GROUP}"
_AT_ONCE: Final = 16  # requests
_FORBIDDEN, _NOT_FOUND = 403, 404


class Present(NamedTuple):
    """The objects that are there, and those that nobody here may read, whether they are there or not."""

    objects: dict[Key, JsonObject]
    closed: frozenset[Key] = frozenset()


class PlanObjects(Protocol):
    """Whoever has the objects."""

    async def present(self, targets: Iterable[Target]) -> Present: ...

    async def namespaces(self, names: Collection[str]) -> set[str]:
        """Those of the namespaces that are there."""

    async def sets(self, names: Collection[str]) -> list[JsonObject]:
        """Those of the cluster sets that are there."""

    async def hosts(self, namespace: str) -> list[bytes]:
        """Agents and classifications of a namespace."""

    async def reported(self, kind: HostKind, namespace: str) -> list[bytes]:
        """Hosts of another kind, where it is served."""


class StoredPlanObjects:
    """Those of a store."""

    def __init__(self, store: StoredObjects) -> None:
        self._store = store

    async def present(self, targets: Iterable[Target]) -> Present:
        found = ((key, self._store.get(key)) for key in {key_of(each) for each in targets})
        return Present({key: decode(record.value) for key, record in found if record is not None})

    async def namespaces(self, names: Collection[str]) -> set[str]:
        return {name for name in names if self._store.get(Key("namespaces", "", name)) is not None}

    async def sets(self, names: Collection[str]) -> list[JsonObject]:
        records = (self._store.get(Key(_SETS, "", name)) for name in sorted(names))
        return [decode(record.value) for record in records if record is not None]

    async def hosts(self, namespace: str) -> list[bytes]:
        return [record.value for resource in HOSTS for record in self._store.scan(resource, namespace)]

    async def reported(self, kind: HostKind, namespace: str) -> list[bytes]:
        return [record.value for record in self._store.scan(kind.resource, namespace)]


class ServedPlanObjects:
    """Those of a server, with the rights of a client. Who may not see a namespace or a set takes it for given."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def present(self, targets: Iterable[Target]) -> Present:
        wanted = {key_of(each): each for each in targets}
        found = await asyncio.gather(*(self._got(_path(each)) for each in wanted.values()))
        pairs = list(zip(wanted, found, strict=True))
        return Present(
            {key: obj for key, obj in pairs if isinstance(obj, dict)},
            frozenset(key for key, obj in pairs if isinstance(obj, ApiError)),
        )

    async def namespaces(self, names: Collection[str]) -> set[str]:
        ordered = sorted(names)
        found = await asyncio.gather(*(self._got(object_path("", "v1", "namespaces", "", name)) for name in ordered))
        return {name for name, obj in zip(ordered, found, strict=True) if obj is not None}

    async def sets(self, names: Collection[str]) -> list[JsonObject]:
        if not names:
            return []
        return [each for each in await self._listed(_SETS, "") if each["metadata"]["name"] in names]

    async def hosts(self, namespace: str) -> list[bytes]:
        return [msgspec.json.encode(each) for key in HOSTS for each in await self._listed(key, namespace)]

    async def reported(self, kind: HostKind, namespace: str) -> list[bytes]:
        path = collection_path(kind.group, kind.version, kind.plural, namespace)
        return [msgspec.json.encode(each) for each in await self._items(path, {"kind": kind.kind})]

    async def _listed(self, key: str, namespace: str) -> list[JsonObject]:
        resource = RESOURCES[key]
        version = resource.storage_version
        path = collection_path(resource.group, version.name, resource.plural, namespace)
        return await self._items(path, {"apiVersion": resource.api_version(version), "kind": resource.kind})

    async def _items(self, path: str, kind: JsonObject) -> list[JsonObject]:
        """All there are, as far as they may be listed."""
        try:
            return [{**kind, **item} async for page in self._client.pages(path) for item in page["items"] or ()]
        except ApiError as error:
            if error.code not in (_FORBIDDEN, _NOT_FOUND):
                raise
            return []

    async def _got(self, path: str) -> JsonObject | ApiError | None:
        """The object; None if it is not there; the refusal if it may not be read."""
        async with self._turns:
            try:
                found: JsonObject = (await self._client.request("GET", path)).json()
            except ApiError as error:
                if error.code not in (_FORBIDDEN, _NOT_FOUND):
                    raise
                return error if error.code == _FORBIDDEN else None
        return found


def _path(target: Target) -> str:
    resource = target.resource
    return object_path(resource.group, target.version.name, resource.plural, target.namespace, target.name)
