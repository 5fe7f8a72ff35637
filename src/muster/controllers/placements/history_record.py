"""The PlacementHistory object: how entries and specs are added, and how it stays small. Pure.

Bounds are in entries and in bytes: fifty moves with ten causes each could hold a megabyte, which nobody wants to watch.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from muster.api.parts import Node, OwnerReference
from muster.api.placement_history import (
    GROUP,
    SEEN_AFTER_RESTART,
    UNRECORDED,
    Cause,
    DecidedClusters,
    HistoryEntry,
    PlacementHistory,
    SpecRevision,
)
from muster.api.reading import Reader
from muster.controllers.runtime.conditions import timestamp
from muster.placement.explain.causes import written_by
from muster.placement.explain.differences import writer_of, writer_since
from muster.values.api_paths import collection_path, object_path
from muster.values.faults import Fault
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from muster.api.parts import Identity
    from muster.api.placement import Placement
    from muster.controllers.placements.keys import Key
    from muster.controllers.runtime.mirror import Stored

MOST_ENTRIES: Final = 50
MOST_REVISIONS: Final = 11  # the present spec and ten before it
MOST_BYTES: Final = 128 * 1024  # of all entries, and of all specs
HISTORIES: Final = Reader(PlacementHistory)
_RESOURCE: Final = (GROUP, "v1alpha1", "placementhistories")
T = TypeVar("T", HistoryEntry, SpecRevision)


class _WrittenSpec(Node, frozen=True):
    """A spec as it was written, with what no struct knows of it."""

    spec: JsonObject = msgspec.field(default_factory=dict)


_SPECS: Final = Reader(_WrittenSpec)


def path_of(key: Key | None = None, *, named: bool = False) -> str:
    """The collection of a namespace, the object in it, or all of them."""
    if key is None or not named:
        return collection_path(*_RESOURCE, key.namespace if key else "")
    return object_path(*_RESOURCE, key.namespace, key.name)


def digest_of(clusters: Iterable[str]) -> str:
    """The same for the same clusters, in whatever order."""
    return hashlib.blake2b("\n".join(sorted(clusters)).encode(), digest_size=8).hexdigest()


def decided_clusters(clusters: Sequence[str] | frozenset[str]) -> DecidedClusters:
    return DecidedClusters(len(clusters), digest_of(clusters))


@dataclass(frozen=True, slots=True)
class Record:
    """A history, and its metadata as the server has it, so that writing it back loses nothing of them."""

    history: PlacementHistory
    metadata: JsonObject

    @classmethod
    def new(cls, placement: Identity) -> Record:
        """For a placement that has none, or one of the same name before it."""
        owner = OwnerReference(
            "cluster.open-cluster-management.io/v1beta1",
            "Placement",
            placement.name,
            placement.uid,
            controller=True,
            block_owner_deletion=False,
        )
        owners = [msgspec.to_builtins(owner)]
        metadata = {"name": placement.name, "namespace": placement.namespace, "ownerReferences": owners}
        return cls(PlacementHistory(), metadata)

    @classmethod
    def read(cls, plain: JsonObject) -> Record:
        """As the server has it. What cannot be read of it is left out when it is next written."""
        found = HISTORIES.partly(plain)
        return cls(found.obj, plain["metadata"])

    @property
    def revision(self) -> str:
        """Of the object on the server; empty for one that is not there yet."""
        return str(self.metadata.get("resourceVersion", ""))

    @property
    def since(self) -> str:
        """When the last move was written down."""
        changes = self.history.changes
        return changes[-1].time if changes else ""

    def belongs_to(self, placement: Identity) -> bool:
        """Whether it is the history of this placement, and not of one of the same name before it."""
        return any(owner.uid == placement.uid for owner in self.history.metadata.owner_references)

    def replaced_by(self, other: Record) -> Record:
        """Another history in the place of this one."""
        return replace(other, metadata={**other.metadata, "resourceVersion": self.revision})

    def body(self) -> JsonObject:
        """As it is written."""
        history: JsonObject = msgspec.to_builtins(self.history)
        return {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "PlacementHistory",
            **history,
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True)
class KnownHistory:
    """What a history said when the controllers started."""

    decided: DecidedClusters
    generation: int
    uid: str

    @classmethod
    def of(cls, history: PlacementHistory) -> KnownHistory:
        owners, revisions = history.metadata.owner_references, history.revisions
        return cls(
            history.decided or DecidedClusters(),
            revisions[-1].revision if revisions else 0,
            owners[0].uid if owners else "",
        )


def revision_of(placement: Stored[Placement], before: Stored[Placement] | None, now: datetime) -> SpecRevision:
    """A placement's spec as a revision. `before`: the state that it was made from, which tells by whom."""
    written = _SPECS.read(placement.encoded)
    spec = {} if isinstance(written, Fault) else written.obj.spec
    writer = writer_of(None if before is None else before.plain(), placement.plain(), "spec")
    manager = "" if writer is None else writer.manager
    return SpecRevision(placement.obj.metadata.generation, timestamp(now), spec, manager)


def unrecorded(
    placement: Stored[Placement], decided: DecidedClusters, at_start: DecidedClusters, since: str, now: datetime
) -> HistoryEntry:
    """Decisions moved, and nobody lived to tell: an entry with what can be told now."""
    causes = [Cause(deed=UNRECORDED)]
    writer = writer_since(placement.plain(), since, with_status=False)
    if writer is not None:
        causes.append(written_by(Cause("Placement", *placement.place, SEEN_AFTER_RESTART), writer))
    generation = placement.obj.metadata.generation
    return HistoryEntry(timestamp(now), generation, decided.count, at_start.count, causes=tuple(causes))


def extended(
    record: Record, entries: Iterable[HistoryEntry], revisions: Iterable[SpecRevision], decided: DecidedClusters
) -> Record:
    """The history with more in it, and without what is too much."""
    history = record.history
    specs = {each.revision: each for each in history.revisions}
    for revision in revisions:
        if len(msgspec.json.encode(revision)) > MOST_BYTES:
            continue
        newest = specs[max(specs)] if specs else None
        if newest is None or newest.spec != revision.spec:
            specs.setdefault(revision.revision, revision)
    return replace(
        record,
        history=msgspec.structs.replace(
            history,
            decided=decided,
            changes=_newest([*history.changes, *entries], MOST_ENTRIES),
            revisions=_newest([specs[number] for number in sorted(specs)], MOST_REVISIONS),
        ),
    )


def _newest(items: Sequence[T], most: int) -> tuple[T, ...]:
    """The last items, as many as are kept and as fit; the very last always stays."""
    kept: list[T] = []
    size = 0
    for item in reversed(items[-most:]):
        size += len(msgspec.json.encode(item))
        if kept and size > MOST_BYTES:
            break
        kept.append(item)
    return tuple(kept[::-1])
