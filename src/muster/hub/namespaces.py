"""The life of a namespace: what a new one carries, who may create in it, and how a deleted one is emptied.

Writes ask `admitting_namespace`; deletes hand terminating namespaces to a `NamespaceCleaner`. `HubCleaner` empties them
within the hub itself. A controller may take its place without anybody else noticing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from muster.api.codec import encode_split
from muster.api.metadata import finalizers_of, labels_of
from muster.api.namespace import FINALIZER, NAME_LABEL
from muster.errors import StorageError
from muster.hub import status
from muster.hub.identities import new_uid
from muster.hub.objects import decode, is_deleting
from muster.hub.pace import Pace
from muster.hub.patches.managed_fields import UPDATE, Entry
from muster.hub.remaining import conditions
from muster.hub.storage import ConflictError, Delete, Key, Put, Unchanged
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from muster.api.resource import Resource
    from muster.hub.requests import Target
    from muster.hub.storage import Change, Record, Store
    from muster.hub.storage.reading import StoredObjects

NAMESPACES = "namespaces"
SERVER = "kube-apiserver"  # the field manager of what the server itself writes, as clients know it
IMMORTAL = ("default", "kube-public", "kube-system")
BATCH, BATCH_BYTES = 200, 512 * 1024  # deleted in one transaction while a namespace is emptied

log = logging.getLogger(__name__)


def is_namespace(resource: Resource) -> bool:
    return resource.key == NAMESPACES


def namespace_key(name: str) -> Key:
    return Key(NAMESPACES, "", name)


def new_namespace(name: str, api_version: str, now: str) -> JsonObject:
    """A namespace that the hub makes for itself."""
    metadata = {"name": name, "uid": new_uid(), "creationTimestamp": now}
    obj: JsonObject = {"apiVersion": api_version, "kind": "Namespace", "metadata": metadata}
    label(obj)
    owned: JsonObject = {"f:metadata": {"f:labels": {".": {}, f"f:{NAME_LABEL}": {}}}}
    obj["metadata"]["managedFields"] = [Entry(SERVER, UPDATE, api_version, owned, now).encoded()]
    complete_new(obj)
    return obj


def label(obj: JsonObject) -> None:
    """Give a new namespace the label that selectors find it by, and nothing that is the server's to set."""
    obj.pop("spec", None)
    obj.pop("status", None)
    metadata = obj["metadata"]
    if name := metadata.get("name"):
        metadata["labels"] = {**labels_of(obj), NAME_LABEL: name}


def complete_new(obj: JsonObject) -> None:
    """What the server adds to a namespace that is being created, in nobody's name."""
    obj["spec"] = {"finalizers": [FINALIZER]}
    obj["status"] = {"phase": "Active"}


def admitting_namespace(store: StoredObjects, target: Target, name: str) -> tuple[Unchanged, ...]:
    """A guard that the namespace goes on existing until the new object is stored. Raises 404 and 403."""
    if not target.resource.namespaced:
        return ()
    revision = store.revision
    record = store.get(namespace_key(target.namespace))
    if record is None:
        raise status.not_found("", NAMESPACES, target.namespace)
    if is_deleting(record):
        raise _terminating(target, name)
    return (Unchanged(NAMESPACES, "", target.namespace, revision),)


def _terminating(target: Target, name: str) -> status.StatusError:
    sentence = f"unable to create new content in namespace {target.namespace} because it is being terminated"
    error = status.refused(target.resource.group, target.resource.plural, name, sentence)
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {target.namespace} is being terminated",
        "field": "metadata.namespace",
    }
    error.details = {**(error.details or {}), "causes": [cause]}
    return error


def refuse_immortal(name: str) -> None:
    """The namespaces a cluster cannot do without stay."""
    if name in IMMORTAL:
        raise status.refused("", NAMESPACES, name, "this namespace may not be deleted")


class NamespaceCleaner(Protocol):
    """Empties terminating namespaces and lets them go."""

    def namespace_deleted(self, name: str) -> None:
        """A namespace has begun to terminate. Returns at once."""

    def object_removed(self, key: Key) -> None:
        """An object has gone; the last one may have held its namespace up. Returns at once."""

    async def close(self) -> None: ...


class HubCleaner:
    """Empties namespaces in the background, in bounded transactions. Objects with finalizers are marked and awaited."""

    def __init__(self, store: Store, resources: Collection[Resource], now: Callable[[], str]) -> None:
        self._store = store
        self._kinds = resources
        self._now = now
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()

    @property
    def _resources(self) -> list[Resource]:
        """The kinds there are now."""
        return [kind for kind in self._kinds if kind.namespaced and not kind.virtual and kind.home is kind]

    def namespace_deleted(self, name: str) -> None:
        if name in self._tasks:
            self._again.add(name)
            return
        self._tasks[name] = asyncio.get_running_loop().create_task(self._run(name))

    def object_removed(self, key: Key) -> None:
        if key.namespace:
            record = self._store.get(namespace_key(key.namespace))
            if record is not None and is_deleting(record):
                self.namespace_deleted(key.namespace)

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, name: str) -> None:
        try:
            await self.empty(name)
            while name in self._again:
                self._again.discard(name)
                await self.empty(name)
        except StorageError as error:
            # The namespace stays terminating; the next change in it, or the next start, tries again.
            log.warning("namespace %s cannot be emptied: %s", name, error)
        finally:
            # At once, not when the loop comes to it: whoever calls from here on begins anew.
            self._tasks.pop(name, None)

    async def empty(self, name: str) -> None:
        """Delete what the namespace holds; delete the namespace once nothing is left."""
        while not self._is_back(name):
            if any([await self._emptied(resource, name) for resource in self._resources]):
                continue  # look again: something may have changed under our hands
            if not (last := self._last(name)):
                await self._tell(name)
                return
            await self._commit(last)

    async def _tell(self, name: str) -> None:
        """Write down on a namespace that has to wait what it waits for."""
        pace = Pace()
        objects: Counter[tuple[str, str]] = Counter()
        finalizers: Counter[str] = Counter()
        for resource in self._resources:
            for record in self._store.rows(resource.key, name):
                objects[resource.plural, resource.group] += 1
                finalizers.update(finalizers_of(decode(record.value)))
                if pace.is_due():
                    await pace.pause()
        waiting = self._store.get(namespace_key(name))
        if waiting is None or not is_deleting(waiting):
            return
        obj = decode(waiting.value)
        told = obj.setdefault("status", {})
        found = conditions(told.get("conditions", ()), objects, finalizers, self._now())
        if found != told.get("conditions"):
            told["conditions"] = found
            await self._commit([Put(waiting.key, *encode_split(obj), waiting.revision)])

    async def _emptied(self, resource: Resource, name: str) -> bool:
        """Go over the objects of a kind once, in order and in slices; whether there was anything to do."""
        pace = Pace()
        batch: list[Change] = []
        size, changed = 0, False
        for record in self._store.rows(resource.key, name):
            change = self._change(record)
            if change is not None:
                changed = True
                batch.append(change)
                size += len(record.value)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                if self._is_back(name):
                    return False
                await self._commit(batch)
                batch, size = [], 0
            if pace.is_due():
                await pace.pause()
        if batch and not self._is_back(name):
            await self._commit(batch)
        return changed

    def _is_back(self, name: str) -> bool:
        """Whether somebody has made the namespace anew: then what is in it is not ours to delete."""
        record = self._store.get(namespace_key(name))
        return record is not None and not is_deleting(record)

    async def _commit(self, batch: list[Change]) -> None:
        with contextlib.suppress(ConflictError):  # something changed under our hands: the next round looks again
            await self._store.commit(batch)

    def _last(self, name: str) -> list[Change]:
        """The last steps: from an empty namespace to none."""
        record = self._store.get(namespace_key(name))
        if record is None or not is_deleting(record):
            return []
        if any(self._store.count(resource.key, name) for resource in self._resources):
            return []  # they wait for their finalizers; the last one to go will call again
        obj = decode(record.value)
        if not obj["metadata"].get("finalizers"):
            return [Delete(record.key, *encode_split(obj), record.revision)]
        if not obj.get("spec", {}).pop("finalizers", None):
            return []  # empty, and held by somebody else
        return [Put(record.key, *encode_split(obj), record.revision)]

    def _change(self, record: Record) -> Change | None:
        obj = decode(record.value)
        metadata = obj["metadata"]
        if not metadata.get("finalizers"):
            return Delete(record.key, *encode_split(obj), record.revision)
        if "deletionTimestamp" in metadata:
            return None  # it waits for its finalizers
        mark_deleted(metadata, self._now())
        return Put(record.key, *encode_split(obj), record.revision)


def mark_deleted(metadata: JsonObject, now: str) -> None:
    """Record on an object that it is to go once its finalizers are done."""
    metadata["deletionTimestamp"] = now
    metadata["deletionGracePeriodSeconds"] = 0
    if metadata.get("generation"):
        metadata["generation"] += 1


def terminating(records: Iterable[Record]) -> list[str]:
    """Names of the namespaces that wait to be emptied."""
    return [record.key.name for record in records if is_deleting(record)]
