"""The PlacementGuardRecord object: what of it is a memory, what must be written before decisions are. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import OwnerReference
from muster.api.placement_guard_record import (
    PLACEMENT_GUARD_RECORD,
    HeldRemovals,
    PassingRemovals,
    PlacementGuardRecord,
    RemovedClusters,
)
from muster.api.reading import Reader
from muster.placement.guards import Memory, Removed
from muster.values.api_paths import collection_path, object_path
from muster.values.faults import Fault
from muster.values.json import JsonObject
from muster.values.times import parse_time, time_text

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from muster.api.parts import Identity
    from muster.controllers.placements.keys import Key

RECORDS: Final = Reader(PlacementGuardRecord)
MOST_NAMED: Final = 1000  # held clusters that a record names
_MOST_PASSING: Final = 512 * 1024  # bytes of names; a change of more is not taken up again after a kill
_RESOURCE: Final = (PLACEMENT_GUARD_RECORD.group, "v1alpha1", PLACEMENT_GUARD_RECORD.plural)


def path_of(key: Key | None = None, *, named: bool = False) -> str:
    """The collection of a namespace, the object in it, or all of them."""
    if key is None or not named:
        return collection_path(*_RESOURCE, key.namespace if key else "")
    return object_path(*_RESOURCE, key.namespace, key.name)


def belongs_to(record: PlacementGuardRecord, placement: Identity) -> bool:
    """Whether it is the record of this placement, and not of one of the same name before it."""
    return any(owner.uid == placement.uid for owner in record.metadata.owner_references)


def memory_of(record: PlacementGuardRecord, uid: str, now: datetime) -> Memory:
    """What a record remembers. Nothing is forgotten too early: a time that nobody can read counts as now, and one that
    is still to come counts until it is past, because a clock may have been put back."""
    removed = []
    for each in record.removed:
        at = parse_time(each.time)
        removed.append(Removed(now if isinstance(at, Fault) else at, max(each.count, 0)))
    memory = Memory(uid, tuple(sorted(removed)), approvals_used=record.approvals_used, salt=record.salt)
    passing = record.passing
    if passing is None:
        return memory
    at = parse_time(passing.time)
    since = None if isinstance(at, Fault) else at
    return replace(
        memory, passing=frozenset(passing.clusters), passing_at=since, passing_counted=max(passing.counted, 0)
    )


def record_of(memory: Memory, digest: str, held: HeldRemovals | None) -> PlacementGuardRecord:
    """What is to be remembered, without metadata."""
    under_way = None
    if memory.passing and memory.passing_at is not None:
        names = tuple(sorted(memory.passing))
        fits = sum(map(len, names)) <= _MOST_PASSING
        at = time_text(memory.passing_at)
        under_way = PassingRemovals(at, digest, memory.passing_counted, names if fits else ())
    return PlacementGuardRecord(
        held=held,
        removed=tuple(RemovedClusters(time_text(each.at), each.count) for each in memory.removed),
        passing=under_way,
        approvals_used=memory.approvals_used,
        salt=memory.salt,
    )


def is_same(one: PlacementGuardRecord, other: PlacementGuardRecord) -> bool:
    """Whether they remember the same."""
    same = msgspec.structs.replace(one, metadata=other.metadata, held=other.held)
    return same == other


def must_be_written(
    present: PlacementGuardRecord | None, wanted: PlacementGuardRecord, staying: Collection[str]
) -> bool:
    """Whether the server's record has to change before decisions do; `staying` are the clusters that are wanted.

    Removals that have happened may stay in `passing`: they mean nothing until one of them is wanted again.
    """
    known = present or PlacementGuardRecord()
    if present is not None and known.salt != wanted.salt:
        return True
    if not set(wanted.removed).issubset(known.removed):
        return True
    if known.approvals_used != wanted.approvals_used or not _same_hold(known.held, wanted.held):
        return True
    if wanted.passing is not None:
        return wanted.passing != known.passing
    return known.passing is not None and not set(known.passing.clusters).isdisjoint(staying)


def _same_hold(one: HeldRemovals | None, other: HeldRemovals | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.digest, one.reasons, one.revoked) == (other.digest, other.reasons, other.revoked)


def body_of(record: PlacementGuardRecord, placement: Identity, revision: str) -> JsonObject:
    """As it is written; `revision` is that of the object on the server, if there is one."""
    owner = OwnerReference(
        "cluster.open-cluster-management.io/v1beta1",
        "Placement",
        placement.name,
        placement.uid,
        controller=True,
        block_owner_deletion=False,
    )
    metadata: JsonObject = {
        "name": placement.name,
        "namespace": placement.namespace,
        "ownerReferences": [msgspec.to_builtins(owner)],
    }
    if revision:
        metadata["resourceVersion"] = revision
    plain: JsonObject = msgspec.to_builtins(record)
    return {
        "apiVersion": PLACEMENT_GUARD_RECORD.api_version(PLACEMENT_GUARD_RECORD.storage_version),
        "kind": PLACEMENT_GUARD_RECORD.kind,
        **plain,
        "metadata": metadata,
    }
