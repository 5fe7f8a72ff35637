"""PlacementDecision: one page of the clusters that a placement selected."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.managed_cluster import GROUP
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class ClusterDecision(Part, frozen=True):
    """A selected cluster. Name and reason are written even when they are empty: the schema requires them."""

    cluster_name: str = msgspec.field(default_factory=str)
    reason: str = msgspec.field(default_factory=str)
    score: int | None = None


class PlacementDecisionStatus(Node, frozen=True):
    decisions: tuple[ClusterDecision, ...] = ()


class PlacementDecision(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    status: PlacementDecisionStatus = PlacementDecisionStatus()


_STATUS = parts.obj(
    "The clusters on this page.",
    ("decisions",),
    {
        "decisions": parts.array(
            parts.obj(
                "One selected cluster.",
                ("clusterName", "reason"),
                {
                    "clusterName": parts.string("The ManagedCluster; unique over all pages of the placement."),
                    "reason": parts.string("Why the cluster was selected."),
                    "score": parts.integer("The cluster's score when it was selected.", "int64"),
                },
            ),
            "Selected clusters, at most 100.",
        )
    },
)

PLACEMENT_DECISION: Final = Resource(
    group=GROUP,
    kind="PlacementDecision",
    plural="placementdecisions",
    singular="placementdecision",
    list_kind="PlacementDecisionList",
    namespaced=True,
    versions=(
        Version(
            "v1beta1",
            parts.kind("One page of the clusters that a placement selected.", status=_STATUS),
            (
                PrinterColumn(
                    "Placement", "string", r".metadata.labels.cluster\.open-cluster-management\.io/placement"
                ),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
