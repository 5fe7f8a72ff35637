"""PlacementGuardRecord: what the guards of a placement remember. Written by the placement controller.

One object per guarded Placement, of the same name, owned by it, made when there is something to remember: removals of
late, removals under way, and removals that are held. Like a history it has no spec and no status.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.placement_history import GROUP
from muster.api.resource import PrinterColumn, Resource, Version


class RemovedClusters(Part, frozen=True):
    """So many went at that time."""

    time: str = msgspec.field(default_factory=str)
    count: int = msgspec.field(default_factory=int)


class PassingRemovals(Part, frozen=True):
    """Clusters that were let go, written down before they go."""

    time: str = ""
    digest: str = ""
    counted: int = 0
    clusters: tuple[str, ...] = ()


class HeldRemovals(Part, frozen=True):
    """A change that waits. `reasons` are codes, `message` says the same to people."""

    digest: str = msgspec.field(default_factory=str)
    since: str = ""
    count: int = msgspec.field(default_factory=int)
    revoked: int = 0
    clusters: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    message: str = ""


class PlacementGuardRecord(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    held: HeldRemovals | None = None
    removed: tuple[RemovedClusters, ...] = ()
    passing: PassingRemovals | None = None
    approvals_used: int = 0
    salt: str = ""


_HELD = parts.obj(
    "Removals that wait, if any do.",
    ("digest", "count"),
    {
        "digest": parts.string("Names exactly this change; an approval repeats it."),
        "since": parts.time("Since when removals wait."),
        "count": parts.integer("How many clusters would be removed."),
        "revoked": parts.integer("How many of them are in no cluster set any more that is bound to the namespace."),
        "clusters": parts.array(parts.string(), "Their names, at most 1000."),
        "reasons": parts.array(parts.string(), "Codes of what holds them."),
        "message": parts.string("What holds them, for people."),
    },
)
_PASSING = parts.obj(
    "Removals that were let through last, written down before they happen.",
    properties={
        "time": parts.time("When."),
        "digest": parts.string("Of the change."),
        "counted": parts.integer("How many of them count as removed at that time; those of an approval do not."),
        "clusters": parts.array(parts.string(), "The clusters."),
    },
)
_SCHEMA = parts.kind("What the guards of a placement remember.")
_SCHEMA["properties"] |= {
    "held": _HELD,
    "removed": parts.array(
        parts.obj(
            "Removals at one time.",
            ("time", "count"),
            {"time": parts.time("When."), "count": parts.integer("How many.")},
        ),
        "Removals of late, oldest first, without those that somebody approved.",
    ),
    "passing": _PASSING,
    "approvalsUsed": parts.integer("How many approvals have done their work; none of them fits again.", "int64"),
    "salt": parts.string("Goes into every digest: none fits that was shown before this record was made."),
}

PLACEMENT_GUARD_RECORD: Final = Resource(
    group=GROUP,
    kind="PlacementGuardRecord",
    plural="placementguardrecords",
    singular="placementguardrecord",
    list_kind="PlacementGuardRecordList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            _SCHEMA,
            (
                PrinterColumn("Held", "integer", ".held.count"),
                PrinterColumn("Revoked", "integer", ".held.revoked"),
                PrinterColumn("Why", "string", ".held.reasons[0]"),
                PrinterColumn("Digest", "string", ".held.digest"),
                PrinterColumn("Since", "date", ".held.since"),
                parts.AGE,
            ),
            status=False,
        ),
    ),
)
