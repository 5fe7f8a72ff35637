"""The garbage collector: what belongs to an object goes with it, in the manner its deletion asked for.

Background: dependents go after their owner. Foreground: the owner waits for dependents that block it. Orphan:
dependents stay and lose the reference. A dependent whose owners are all gone, never were, or live in another
namespace goes too. Watches metadata only, of every kind the server can list.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.controllers.queue import WorkQueue
from muster.controllers.runner import work
from muster.errors import ApiError, InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.client import Client, Discovery, ServedResource
    from muster.controllers.events import EventRecorder
    from muster.controllers.metrics import ControllerMetrics

_MERGE: Final = "application/merge-patch+json"
_WORKERS: Final = 4
FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class Reference(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An owner reference."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uid: str = ""
    namespace: str = ""
    resource_version: str = ""
    owner_references: tuple[Reference, ...] = ()
    finalizers: tuple[str, ...] = ()
    deletion_timestamp: str | None = None


class _Partial(msgspec.Struct, frozen=True):
    metadata: _Metadata


_DECODER = msgspec.json.Decoder(_Partial)


@dataclass(frozen=True, slots=True)
class Node:
    """An object as the collector sees it."""

    resource: ServedResource
    metadata: _Metadata

    @property
    def path(self) -> str:
        return self.resource.path(self.metadata.namespace, self.metadata.name)


class GarbageCollector:
    """Give it the metadata of everything through `handler`; `run` collects."""

    def __init__(self, client: Client, events: EventRecorder, discovery: Discovery, metrics: ControllerMetrics) -> None:
        self._client = client
        self._events = events
        self._discovery = discovery
        self._metrics = metrics
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, set[str]] = {}
        self.queue: WorkQueue[str] = WorkQueue()

    def handler(self, resource: ServedResource) -> GarbageHandler:
        return GarbageHandler(self, resource)

    # ------------------------------------------------------------------------------------------- what is there

    def put(self, node: Node) -> None:
        uid = node.metadata.uid
        self._forget_references(uid)
        self._nodes[uid] = node
        for reference in node.metadata.owner_references:
            self._dependents.setdefault(reference.uid, set()).add(uid)
        if node.metadata.owner_references or node.metadata.deletion_timestamp:
            self.queue.add(uid)

    def remove(self, uid: str) -> None:
        """An object is gone: its dependents, and owners that waited for it, are looked at."""
        node = self._nodes.get(uid)
        self._forget_references(uid)
        self._nodes.pop(uid, None)
        for dependent in self._dependents.get(uid, ()):
            self.queue.add(dependent)
        for reference in node.metadata.owner_references if node else ():
            self.queue.add(reference.uid)

    def _forget_references(self, uid: str) -> None:
        node = self._nodes.get(uid)
        for reference in node.metadata.owner_references if node else ():
            siblings = self._dependents.get(reference.uid)
            if siblings is not None:
                siblings.discard(uid)
                if not siblings:
                    del self._dependents[reference.uid]

    def _dependent_nodes(self, uid: str) -> Iterator[tuple[Node, Reference]]:
        for dependent in sorted(self._dependents.get(uid, ())):
            node = self._nodes[dependent]
            for reference in node.metadata.owner_references:
                if reference.uid == uid:
                    yield node, reference

    # ------------------------------------------------------------------------------------------------ collecting

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._events.run())
            tasks.create_task(work("garbage", self.queue, self._look_at, self._metrics, _WORKERS))

    async def _look_at(self, uid: str) -> None:
        node = self._nodes.get(uid)
        if node is None:
            return
        if node.metadata.deletion_timestamp is not None:
            if ORPHAN in node.metadata.finalizers:
                await self._orphan_dependents(node)
            elif FOREGROUND in node.metadata.finalizers:
                await self._delete_in_foreground(node)
            return
        references = node.metadata.owner_references
        if not references:
            return
        present = [reference for reference in references if await self._is_there(node, reference)]
        if not present:
            await self._delete(node)
        elif len(present) < len(references):
            await self._set_references(node, present)

    async def _is_there(self, node: Node, reference: Reference) -> bool:
        """Whether an owner exists, by our copy or else by the server's word, where the reference may point."""
        known = self._nodes.get(reference.uid)
        if known is not None:
            if known.metadata.namespace not in ("", node.metadata.namespace):
                self._complain(node, reference)
                return False
            # An owner that waits for its dependents counts as gone for those that it waits for.
            waiting = known.metadata.deletion_timestamp is not None and FOREGROUND in known.metadata.finalizers
            return not waiting
        try:
            resource = self._discovery.of_kind(reference.api_version, reference.kind)
            path = resource.path(node.metadata.namespace, reference.name)
            answer = await self._client.request("GET", path, accept=METADATA)
        except ApiError as error:
            if error.code == 404:
                return False
            raise
        except InvalidObjectError:
            return True  # a kind that the server does not know now: it may come back
        return bool(answer.json()["metadata"].get("uid") == reference.uid)

    def _complain(self, node: Node, reference: Reference) -> None:
        about = {
            "apiVersion": node.resource.api_version,
            "kind": node.resource.kind,
            "metadata": {"name": node.metadata.name, "namespace": node.metadata.namespace, "uid": node.metadata.uid},
        }
        text = (
            f"ownerRef [{reference.api_version}/{reference.kind}, namespace: {node.metadata.namespace}, "
            f'name: {reference.name}, uid: {reference.uid}] does not exist in namespace "{node.metadata.namespace}"'
        )
        self._events.record(about, "OwnerRefInvalidNamespace", text, "Warning")

    async def _delete(self, node: Node, policy: str = "Background") -> None:
        preconditions = {"uid": node.metadata.uid, "resourceVersion": node.metadata.resource_version}
        body = {"preconditions": preconditions, "propagationPolicy": policy}
        try:
            await self._client.request("DELETE", node.path, body=body)
        except ApiError as error:
            if error.code != 404:
                raise

    async def _delete_in_foreground(self, owner: Node) -> None:
        blocking = False
        for node, reference in self._dependent_nodes(owner.metadata.uid):
            blocking = blocking or bool(reference.block_owner_deletion)
            if node.metadata.deletion_timestamp is None:
                await self._delete(node, "Foreground" if self._dependents.get(node.metadata.uid) else "Background")
        if not blocking:
            await self._drop_finalizer(owner, FOREGROUND)

    async def _orphan_dependents(self, owner: Node) -> None:
        for node, _ in list(self._dependent_nodes(owner.metadata.uid)):
            kept = [each for each in node.metadata.owner_references if each.uid != owner.metadata.uid]
            await self._set_references(node, kept)
        await self._drop_finalizer(owner, ORPHAN)

    async def _set_references(self, node: Node, references: Sequence[Reference]) -> None:
        body = {
            "metadata": {
                "resourceVersion": node.metadata.resource_version,
                "ownerReferences": msgspec.to_builtins(references) or None,
            }
        }
        await self._client.request("PATCH", node.path, body=body, content_type=_MERGE)

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        kept = [each for each in node.metadata.finalizers if each != finalizer]
        body = {"metadata": {"resourceVersion": node.metadata.resource_version, "finalizers": kept or None}}
        await self._client.request("PATCH", node.path, body=body, content_type=_MERGE)


class GarbageHandler:
    """Feeds one kind's metadata to the collector. It takes whole objects too, and reads no more of them."""

    def __init__(self, collector: GarbageCollector, resource: ServedResource) -> None:
        self._collector = collector
        self._resource = resource
        self._known: set[str] = set()

    def replace(self, objects: Sequence[bytes]) -> None:
        nodes = [Node(self._resource, _DECODER.decode(encoded).metadata) for encoded in objects]
        gone = self._known - {node.metadata.uid for node in nodes}
        self._known = {node.metadata.uid for node in nodes}
        for node in nodes:
            self._collector.put(node)
        for uid in gone:
            self._collector.remove(uid)

    def put(self, encoded: bytes) -> None:
        node = Node(self._resource, _DECODER.decode(encoded).metadata)
        self._known.add(node.metadata.uid)
        self._collector.put(node)

    def remove(self, encoded: bytes) -> None:
        uid = _DECODER.decode(encoded).metadata.uid
        self._known.discard(uid)
        self._collector.remove(uid)


def collectable(discovery: Discovery, skip: Callable[[ServedResource], bool] = lambda _: False) -> list[ServedResource]:
    """Every kind that can be listed and watched, in one version each."""
    seen: set[tuple[str, str]] = set()
    found = []
    for resource in discovery.resources:
        if {"list", "watch", "delete"} <= set(resource.verbs) and (resource.group, resource.plural) not in seen:
            seen.add((resource.group, resource.plural))
            if resource.plural != "events" and not skip(resource):
                found.append(resource)
    return found
