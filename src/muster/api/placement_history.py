"""PlacementHistory: what moved a placement's decisions, and the specs it had. Written by the placement controller.

One object per Placement, of the same name, owned by it, bounded in entries and in size. It has no spec and no status:
nobody asks for anything with it.
"""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import Schema

GROUP: Final = "placement.muster.dev"


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
        "deed": parts.string(
            "Created, Changed, Deleted, ScoreExpired, TolerationExpired, SeenAfterRestart, OtherDecisions, Unrecorded."
        ),
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
