"""PlacementDecision of SIG-Multicluster (KEP-5313): the same decisions for consumers that know ClusterProfiles.

Another kind than Open Cluster Management's of the same name, in another group: no spec, no status, slices of at most
100 clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import parts
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from datetime import datetime

GROUP: Final = "multicluster.x-k8s.io"
DECISION_KEY: Final = f"{GROUP}/decision-key"
DECISION_INDEX: Final = f"{GROUP}/decision-index"
MOST_DECISIONS: Final = 100


class ClusterProfileRef(Part, frozen=True):
    name: str = msgspec.field(default_factory=str)
    namespace: str = ""


class ProfileDecision(Node, frozen=True):
    cluster_profile_ref: ClusterProfileRef = msgspec.field(default_factory=ClusterProfileRef)
    reason: str = ""


class MulticlusterPlacementDecision(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    decisions: tuple[ProfileDecision, ...] = msgspec.field(default_factory=tuple)
    scheduler_name: str = ""


_READER: Final = Reader(MulticlusterPlacementDecision)


def _count(obj: JsonObject, _: datetime) -> object:
    return len(_READER.of(obj).decisions)


_SCHEMA = parts.kind("One slice of the clusters that were decided for a workload.")
_SCHEMA["properties"] |= {
    "decisions": parts.array(
        parts.obj(
            "One decided cluster.",
            ("clusterProfileRef",),
            {
                "clusterProfileRef": parts.obj(
                    "The ClusterProfile of the cluster.",
                    ("name",),
                    {
                        "name": parts.string("Its name."),
                        "namespace": parts.string("Its namespace; that of the decision if left out."),
                    },
                ),
                "reason": parts.string("Why the cluster was decided."),
            },
        ),
        "Decided clusters.",
        maxItems=MOST_DECISIONS,
    ),
    "schedulerName": parts.string("Who decided."),
}
_SCHEMA["required"] = ["decisions"]

MULTICLUSTER_PLACEMENT_DECISION: Final = Resource(
    group=GROUP,
    kind="PlacementDecision",
    plural="placementdecisions",
    singular="placementdecision",
    list_kind="PlacementDecisionList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            _SCHEMA,
            (
                PrinterColumn("Key", "string", r".metadata.labels.multicluster\.x-k8s\.io/decision-key"),
                PrinterColumn("Index", "string", r".metadata.labels.multicluster\.x-k8s\.io/decision-index"),
                PrinterColumn("Count", "integer", description="How many clusters are in this slice.", cell=_count),
                PrinterColumn("Scheduler", "string", ".schedulerName"),
                parts.AGE,
            ),
            status=False,
        ),
    ),
)
