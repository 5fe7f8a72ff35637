"""The garbage collector: what belongs to an object goes with it, in the manner its deletion asked for.

Background: dependents go after their owner. Foreground: the owner waits for dependents that block it. Orphan:
dependents stay and lose the reference. A dependent whose owners are all gone, never were, or live in another
namespace goes too; clusters and cluster sets go only after an owner that was seen to go. Watches metadata only, of
every kind the server can list. Before anything is deleted the server is asked for the object and for owners that the
watches do not know; the deletion holds only for the state that was read.
"""

from __future__ import annotations

import asyncio
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import GROUP
from muster.api.parts import PartialObject
from muster.api.reading import Reader
from muster.controllers.garbage.ownership import FOREGROUND, ORPHAN, BoundedSet, Node, OwnerGraph
from muster.controllers.runtime.events import About
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.errors import ApiError, InvalidObjectError
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from muster.api.parts import Identity, OwnerReference
    from muster.client import Client, Discovery, ServedResource
    from muster.client.heads import Place
    from muster.controllers.runtime.containment import UnreadableKind
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored

_MERGE: Final = "application/merge-patch+json"
_WORKERS: Final = 4
_MOST_LOOKED_UP: Final = 50  # owners asked for in one turn: an object may name thousands
_MOST_ABSENT: Final = 1000
_MOST_TOLD: Final = 10_000
_NOT_FOUND: Final = 404
_UNREADABLE: Final = (400, 403, 405)
METADATA: Final = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
#: Who is in which set rests on these. Nobody makes one go by naming an owner that never was.
PROTECTED: Final = frozenset({(GROUP, "managedclusters"), (GROUP, "managedclustersets")})


OBJECTS: Final = Reader(PartialObject)


class Owner(Enum):
    """What has become of an owner."""

    PRESENT = auto()
    WAITING = auto()  # it is being deleted and waits for its dependents
    ABSENT = auto()
    UNKNOWN = auto()  # nobody can tell, so it counts as present


class GarbageCollector:
    """Give it the metadata of everything through `handler`; `run` collects."""

    def __init__(self, client: Client, events: EventRecorder, discovery: Discovery, metrics: ControllerMetrics) -> None:
        self._client = client
        self._events = events
        self._discovery = discovery
        self._metrics = metrics
        self._graph = OwnerGraph(_is_protected)
        self._absent: BoundedSet[tuple[str, OwnerReference]] = BoundedSet(_MOST_ABSENT)
        self._told: BoundedSet[tuple[str, OwnerReference]] = BoundedSet(_MOST_TOLD)
        self.queue: WorkQueue[str] = WorkQueue()

    def serves(self, discovery: Discovery) -> None:
        """The server has other kinds than before: owners that could not be asked for may be asked for now."""
        self._discovery = discovery
        for uid in self._graph.with_unseen_owners():
            self.queue.add(uid)

    def mirror(self, resource: ServedResource, unreadable: UnreadableKind | None = None) -> Mirror[PartialObject]:
        """Shows the collector one kind's metadata. It takes whole objects too, and reads no more of them."""
        objects = _ObjectsOfKind(self, resource)
        return Mirror(OBJECTS, objects.put, objects.remove, places=objects.places, unreadable=unreadable)

    def put(self, node: Node) -> None:
        for uid in self._graph.put(node):
            self.queue.add(uid)

    def remove(self, uid: str) -> None:
        """An object is gone: its dependents, and owners that waited for it, are looked at."""
        for each in self._graph.remove(uid):
            self.queue.add(each)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._events.run())
            tasks.create_task(work("garbage", self.queue, self._look_at, self._metrics, _WORKERS))

    async def _look_at(self, uid: str) -> None:
        node = self._graph.get(uid)
        if node is None:
            return
        if node.metadata.deletion_timestamp is not None:
            if ORPHAN in node.metadata.finalizers:
                await self._orphan_dependents(node)
            elif FOREGROUND in node.metadata.finalizers:
                await self._wait_for_dependents(node)
            return
        if all(self._known(node, reference) is Owner.PRESENT for reference in node.metadata.owner_references):
            return  # nearly always, and nobody needs to be asked
        live = await self._read(node)
        if live is not None and live.metadata.deletion_timestamp is None and live.metadata.owner_references:
            await self._collect(live)

    async def _collect(self, node: Node) -> None:
        """Delete an object that nothing owns any more, or take references away that mean nothing. `node` is as it was
        just read."""
        references = node.metadata.owner_references
        owners: dict[OwnerReference, Owner] = {}
        looked_up = 0
        for reference in references:
            owner = self._known(node, reference)
            if owner is None:
                if looked_up == _MOST_LOOKED_UP:
                    break
                looked_up += 1
                owner = await self._asked(node, reference)
            owners[reference] = self._evident(node, reference, owner)
        kept = [each for each in references if owners.get(each) not in (Owner.ABSENT, Owner.WAITING)]
        if len(kept) == len(references):
            return
        if kept:
            # With more owners than one turn looks at, the next turn goes on with those that are left.
            await self._set_references(node, kept)
        elif Owner.WAITING in owners.values() and self._graph.dependents(node.uid):
            await self._delete(await self._unblocked(node), "Foreground")
        else:
            await self._delete(node, _policy(node))

    # ------------------------------------------------------------------------------------------------- owners

    def _known(self, node: Node, reference: OwnerReference) -> Owner | None:
        """What the watches say of an owner; None if the server must be asked."""
        owner = self._graph.get(reference.uid)
        if owner is None or not owner.is_meant_by(reference):
            return Owner.ABSENT if (node.metadata.namespace, reference) in self._absent else None
        if owner.metadata.namespace and owner.metadata.namespace != node.metadata.namespace:
            self._tell_wrong_namespace(node, reference)
            # What is in no namespace cannot belong to something that is in one: nobody can tell which is meant.
            return Owner.ABSENT if node.metadata.namespace else Owner.UNKNOWN
        return Owner.WAITING if owner.waits_for_dependents else Owner.PRESENT

    async def _asked(self, node: Node, reference: OwnerReference) -> Owner:
        """What the server says of an owner, where the reference may point."""
        try:
            resource = self._discovery.of_kind(reference.api_version, reference.kind)
        except InvalidObjectError:
            return Owner.UNKNOWN  # a kind that the server does not know now: it may come back
        namespace = node.metadata.namespace
        if "get" not in resource.verbs:
            return Owner.UNKNOWN
        if resource.namespaced and not namespace:
            self._tell_wrong_namespace(node, reference)
            return Owner.UNKNOWN
        try:
            path = resource.object_path(namespace, reference.name)
            reply = await self._client.request("GET", path, accept=METADATA)
        except InvalidObjectError:
            return self._note_absent(namespace, reference)  # there can be no object of such a name
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return self._note_absent(namespace, reference)
            if error.code in _UNREADABLE:
                return Owner.UNKNOWN
            raise
        try:
            metadata = _metadata(reply.body)
        except InvalidObjectError:
            return Owner.UNKNOWN  # it is there, whatever it is
        if metadata.uid != reference.uid:
            return self._note_absent(namespace, reference)
        return Owner.WAITING if Node(resource, metadata).waits_for_dependents else Owner.PRESENT

    def _note_absent(self, namespace: str, reference: OwnerReference) -> Owner:
        """A UID that is gone never comes back, so it need not be asked for again."""
        self._absent.add((namespace, reference))
        return Owner.ABSENT

    def _evident(self, node: Node, reference: OwnerReference, owner: Owner) -> Owner:
        """For what is protected, an owner is absent only if it was seen to go."""
        if owner is not Owner.ABSENT or not _is_protected(node) or self._graph.saw_it_go(node, reference):
            return owner
        text = (
            f"{_shown(reference)} does not exist and was never seen: the object is kept. Remove the reference, or "
            "delete the object"
        )
        self._tell(node, reference, "OwnerNeverSeen", text)
        return Owner.UNKNOWN

    def _tell_wrong_namespace(self, node: Node, reference: OwnerReference) -> None:
        namespace = node.metadata.namespace
        shown = f"{reference.api_version}/{reference.kind}, namespace: {namespace}"
        text = (
            f"ownerRef [{shown}, name: {reference.name}, uid: {reference.uid}] "
            f'does not exist in namespace "{namespace}"'
        )
        self._tell(node, reference, "OwnerRefInvalidNamespace", text)

    def _tell(self, node: Node, reference: OwnerReference, reason: str, text: str) -> None:
        """Once for each object and reference, however often they are looked at."""
        if (node.uid, reference) in self._told:
            return
        self._told.add((node.uid, reference))
        metadata = node.metadata
        about = About(node.resource.api_version, node.resource.kind, metadata.name, metadata.namespace, node.uid)
        self._events.record(about, reason, text, "Warning")

    # ------------------------------------------------------------------------------------------------- deleting

    async def _wait_for_dependents(self, owner: Node) -> None:
        """Dependents find that their owner waits; it goes when none of them blocks it."""
        blocked = False
        for node in self._graph.dependents(owner.uid):
            if node.uid == owner.uid:
                continue  # whoever waits for itself would wait for ever
            references = node.metadata.owner_references
            blocked = blocked or any(each.block_owner_deletion for each in references if each.uid == owner.uid)
            if node.metadata.deletion_timestamp is None:
                self.queue.add(node.uid)
        if not blocked:
            await self._drop_finalizer(owner, FOREGROUND)

    async def _orphan_dependents(self, owner: Node) -> None:
        for node in self._graph.dependents(owner.uid):
            live = await self._read(node)
            if live is None:
                continue
            references = live.metadata.owner_references
            kept = [each for each in references if each.uid != owner.uid]
            if len(kept) < len(references):
                await self._set_references(live, kept)
        await self._drop_finalizer(owner, ORPHAN)

    async def _unblocked(self, node: Node) -> Node:
        """An object that waits for its dependents, one of which waits for it in a circle, must not block its owners."""
        references = node.metadata.owner_references
        blocks = any(each.block_owner_deletion for each in references)
        if not blocks or not any(each.waits_for_dependents for each in self._graph.dependents(node.uid)):
            return node
        freed = [msgspec.structs.replace(each, block_owner_deletion=False) for each in references]
        return await self._set_references(node, freed)

    async def _read(self, node: Node) -> Node | None:
        """The object as the server has it now; None if it is gone, also if another has its name."""
        try:
            reply = await self._client.request("GET", node.path, accept=METADATA)
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        metadata = _metadata(reply.body)
        return Node(node.resource, metadata) if metadata.uid == node.uid else None

    async def _delete(self, node: Node, policy: str) -> None:
        """Only as it was read: if anything has changed since, the server refuses and it is looked at again."""
        read = {"uid": node.uid, "resourceVersion": node.metadata.resource_version}
        body = {"preconditions": read, "propagationPolicy": policy}
        try:
            await self._client.request("DELETE", node.path, body=body)
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise

    async def _set_references(self, node: Node, references: Sequence[OwnerReference]) -> Node:
        changed = {"ownerReferences": msgspec.to_builtins(references) or None}
        return await self._patch(node, changed)

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        kept = [each for each in node.metadata.finalizers if each != finalizer]
        await self._patch(node, {"finalizers": kept or None})

    async def _patch(self, node: Node, metadata: dict[str, object]) -> Node:
        body = {"metadata": {"uid": node.uid, "resourceVersion": node.metadata.resource_version, **metadata}}
        reply = await self._client.request("PATCH", node.path, body=body, content_type=_MERGE, accept=METADATA)
        return Node(node.resource, _metadata(reply.body))


class _ObjectsOfKind:
    """The objects of one kind by place. The collector knows them by UID, and an object may come back with another."""

    def __init__(self, collector: GarbageCollector, resource: ServedResource) -> None:
        self._collector = collector
        self._resource = resource
        self._uids: dict[Place, str] = {}

    def places(self) -> Iterable[Place]:
        return self._uids.keys()

    def put(self, new: Stored[PartialObject]) -> Fault | None:
        metadata = new.obj.metadata
        if (fault := new.fault or _nameless_owner(metadata)) is not None or not metadata.uid:
            return fault  # no server sends that; such an object is left alone
        before = self._uids.get(new.place)
        if before is not None and before != metadata.uid:
            self._collector.remove(before)
        self._uids[new.place] = metadata.uid
        self._collector.put(Node(self._resource, metadata))
        return None

    def remove(self, place: Place) -> None:
        if (uid := self._uids.pop(place, None)) is not None:
            self._collector.remove(uid)


def _nameless_owner(metadata: Identity) -> Fault | None:
    if not metadata.owner_references or all(each.uid for each in metadata.owner_references):
        return None
    return Fault("an owner has no uid", "metadata.ownerReferences")


def _metadata(encoded: bytes) -> Identity:
    """Of an answer. Raises InvalidObjectError unless all of it can be read: an owner must not be overlooked."""
    found = OBJECTS.read(encoded)
    fault = found if isinstance(found, Fault) else found.fault_in() or _nameless_owner(found.obj.metadata)
    if isinstance(found, Fault) or fault is not None:
        raise InvalidObjectError("metadata", str(fault))
    return found.obj.metadata


def collectable(discovery: Discovery, skip: Callable[[ServedResource], bool] = lambda _: False) -> list[ServedResource]:
    """Every kind that can be listed and watched, in one version each."""
    known: set[tuple[str, str]] = set()
    found = []
    for resource in discovery.resources:
        if {"list", "watch", "delete"} <= set(resource.verbs) and (resource.group, resource.plural) not in known:
            known.add((resource.group, resource.plural))
            if resource.plural != "events" and not skip(resource):
                found.append(resource)
    return found


def _is_protected(node: Node) -> bool:
    return (node.resource.group, node.resource.plural) in PROTECTED


def _policy(node: Node) -> str:
    """As the object's own finalizers ask for."""
    if ORPHAN in node.metadata.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in node.metadata.finalizers else "Background"


def _shown(reference: OwnerReference) -> str:
    return f"owner {reference.kind} {reference.name!r} of {reference.api_version} with uid {reference.uid}"
