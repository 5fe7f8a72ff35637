"""PlacementHistory: what moved a placement's decisions, and the specs it had. Written by the placement controller.

One object per Placement, of the same name, owned by it, bounded in entries and in size. It has no spec and no status:
nobody asks for anything with it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import JsonObject, Schema

GROUP: Final = "placement.muster.dev"

# What became of an object, and how that is told.
CREATED: Final = "Created"
CHANGED: Final = "Changed"
DELETED: Final = "Deleted"
SCORE_EXPIRED: Final = "ScoreExpired"
TOLERATION_EXPIRED: Final = "TolerationExpired"
SEEN_AFTER_RESTART: Final = "SeenAfterRestart"
OTHER_DECISIONS: Final = "OtherDecisions"
UNRECORDED: Final = "Unrecorded"
DEEDS: Final = {
    CREATED: "was created",
    CHANGED: "changed",
    DELETED: "was deleted",
    SCORE_EXPIRED: "expired",
    TOLERATION_EXPIRED: "has a taint that is no longer tolerated",
    SEEN_AFTER_RESTART: "changed while no controller was running",
    OTHER_DECISIONS: "no object that the placement reads has changed; decisions of other placements count too",
    UNRECORDED: "the controllers ended before they had written down why",
}


class FieldChange(Part, frozen=True):
    """A field with its values as JSON; empty where it was not or is not there."""

    field: str = msgspec.field(default_factory=str)
    old: str = msgspec.field(default_factory=str)
    new: str = msgspec.field(default_factory=str)

    def __str__(self) -> str:
        return f"{self.field}: {self.old or '(none)'} → {self.new or '(none)'}"


class Cause(Node, frozen=True):
    """What became of which object, and by whom as far as the object tells."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    deed: str = ""
    fields: tuple[FieldChange, ...] = ()
    manager: str = ""
    operation: str = ""
    time: str = ""  # of the manager's last change
    note: str = ""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        deed = DEEDS.get(self.deed, self.deed)
        text = f"{self.kind} {place} {deed}" if self.name else f"{self.kind} {deed}" if self.kind else deed
        if self.fields:
            text += f": {'; '.join(map(str, self.fields))}"
        if self.note:
            text += f" ({self.note})"
        return f"{text}, by {self.manager}" if self.manager else text


class Flip(Part, frozen=True):
    """A cluster that was gained or lost: the stage that made the difference, and how the cluster stood there.

    Sentences, with the codes of their reasons.
    """

    cluster: str = msgspec.field(default_factory=str)
    stage: str = msgspec.field(default_factory=str)
    was: str = msgspec.field(default_factory=str)
    now: str = msgspec.field(default_factory=str)
    was_code: str = ""
    now_code: str = ""

    def __str__(self) -> str:
        return f"{self.stage}: {self.was} → {self.now}" if self.stage else f"{self.was} → {self.now}"


class NamedClusters(Part, frozen=True, omit_defaults=False):
    """How many clusters, and the first of them by name."""

    count: int = 0
    examples: tuple[str, ...] = ()


class HistoryEntry(Node, frozen=True):
    """One move of the decisions. What its schema requires is written even when it is empty."""

    time: str = msgspec.field(default_factory=str)
    generation: int = msgspec.field(default_factory=int)
    before: int = msgspec.field(default_factory=int)
    after: int = msgspec.field(default_factory=int)
    gained: NamedClusters | None = None
    lost: NamedClusters | None = None
    causes: tuple[Cause, ...] = ()
    flips: tuple[Flip, ...] | None = None  # None where nobody looked
    more: int = 0
    skipped: int = 0


def _nothing_asked() -> JsonObject:
    return {}


class SpecRevision(Node, frozen=True):
    """A spec that the placement had, as it was written."""

    revision: int = msgspec.field(default_factory=int)
    time: str = ""
    spec: JsonObject = msgspec.field(default_factory=_nothing_asked)
    manager: str = ""


class DecidedClusters(Part, frozen=True, omit_defaults=False):
    """How many clusters are decided, and the digest of their names."""

    count: int = 0
    digest: str = ""


class PlacementHistory(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    decided: DecidedClusters | None = None
    changes: tuple[HistoryEntry, ...] = ()
    revisions: tuple[SpecRevision, ...] = ()


def _clusters(description: str) -> Schema:
    return parts.obj(
        description,
        ("count",),
        {
            "count": parts.integer("How many."),
            "examples": parts.array(parts.string(), "The first of them by name."),
        },
    )


_CAUSE = parts.obj(
    "What became of which object.",
    ("deed",),
    {
        "kind": parts.string("The kind of the object; empty when no object is to blame."),
        "namespace": parts.string("Its namespace."),
        "name": parts.string("Its name."),
        "deed": parts.string(f"{', '.join(DEEDS)}."),
        "fields": parts.array(
            parts.obj(
                "A field that changed.",
                ("field", "old", "new"),
                {
                    "field": parts.string("Its path."),
                    "old": parts.string("The value before, as JSON; empty if there was none."),
                    "new": parts.string("The value after, as JSON; empty if there is none."),
                },
            ),
            "The fields that the placement reads and that changed.",
        ),
        "manager": parts.string("The field manager that wrote it, as far as the object tells."),
        "operation": parts.string("Apply or Update."),
        "time": parts.string("When that manager wrote."),
        "note": parts.string("More about it."),
    },
)
_FLIP = parts.obj(
    "Where a cluster's way through the placement turned.",
    ("cluster",),
    {
        "cluster": parts.string("The cluster."),
        "stage": parts.string("ClusterSets, Predicate, TaintToleration, Pick, or a plugin's filter."),
        "was": parts.string("How it stood before."),
        "now": parts.string("How it stands."),
        "wasCode": parts.string("The code of the reason of how it stood before."),
        "nowCode": parts.string("The code of the reason of how it stands."),
    },
)
_ENTRY = parts.obj(
    "One move of the decisions.",
    ("time", "before", "after"),
    {
        "time": parts.time("When it was decided."),
        "generation": parts.integer("The placement's generation then.", "int64"),
        "before": parts.integer("How many clusters were decided."),
        "after": parts.integer("How many are decided since."),
        "gained": _clusters("Clusters that came."),
        "lost": _clusters("Clusters that went."),
        "causes": parts.array(_CAUSE, "Why, at most 10 causes."),
        "more": parts.integer("Causes beyond those."),
        "skipped": parts.integer("Moves before this one that were too many to be written down."),
        "flips": parts.array(_FLIP, "How some of the clusters turned."),
    },
)
_REVISION = parts.obj(
    "A spec that the placement had.",
    ("revision", "spec"),
    {
        "revision": parts.integer("The placement's generation from which on it had it.", "int64"),
        "time": parts.time("When it was seen."),
        "manager": parts.string("The field manager that wrote it, as far as the object tells."),
        "spec": parts.anything("The spec."),
    },
)
_SCHEMA = parts.kind("What moved a placement's decisions, and the specs it had.")
_SCHEMA["properties"] |= {
    "decided": parts.obj(
        "The decisions that the last entry led to.",
        properties={
            "count": parts.integer("How many clusters."),
            "digest": parts.string("Of their names: tells a restart whether something was not written down."),
        },
    ),
    "changes": parts.array(_ENTRY, "Moves of the decisions, oldest first, at most 50."),
    "revisions": parts.array(_REVISION, "The present spec and at most 10 before it, oldest first."),
}

PLACEMENT_HISTORY: Final = Resource(
    group=GROUP,
    kind="PlacementHistory",
    plural="placementhistories",
    singular="placementhistory",
    list_kind="PlacementHistoryList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            _SCHEMA,
            (PrinterColumn("Clusters", "integer", ".decided.count"), parts.AGE),
            status=False,
        ),
    ),
)
