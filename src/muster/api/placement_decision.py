"""PlacementDecision: one page of the clusters that a placement selected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import parts
from muster.api.managed_cluster import GROUP
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from datetime import datetime


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


_READER: Final = Reader(PlacementDecision)


def _names(obj: JsonObject) -> list[str]:
    return [each.cluster_name for each in _READER.of(obj).status.decisions]


def _count(obj: JsonObject, _: datetime) -> object:
    return len(_names(obj))


def _clusters(obj: JsonObject, _: datetime) -> object:
    """As many names as fit beside the other columns, and how many more there are."""
    names = sorted(_names(obj))
    more = len(names) - _SHOWN
    return ",".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


_SHOWN: Final = 3
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
                PrinterColumn("Count", "integer", description="How many clusters are on this page.", cell=_count),
                PrinterColumn("Clusters", "string", description="The first of them by name.", cell=_clusters),
                PrinterColumn(
                    "Generation",
                    "string",
                    r".metadata.annotations.placement\.muster\.dev/generation",
                    description="The generation of all pages that is finished; the first page names it.",
                ),
                PrinterColumn(
                    "Pages",
                    "string",
                    r".metadata.annotations.placement\.muster\.dev/pages",
                    description="How many pages that generation has.",
                ),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
