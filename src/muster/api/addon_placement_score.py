"""AddOnPlacementScore: numbers about one cluster that add-ons measure and placements weigh or compare.

The namespace is the cluster's. A score item may carry the measured quantity beside its value.
"""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.managed_cluster import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class ScoreItem(Part, frozen=True):
    name: str = ""
    value: int = 0
    quantity: int | float | str | None = None


class AddOnPlacementScoreStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    scores: tuple[ScoreItem, ...] = ()
    valid_until: str | None = None


class AddOnPlacementScore(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    status: AddOnPlacementScoreStatus = AddOnPlacementScoreStatus()


_STATUS = parts.obj(
    "The scores.",
    properties={
        "conditions": parts.CONDITIONS,
        "scores": parts.map_list(
            parts.obj(
                "One score.",
                ("name",),
                {
                    "name": parts.string("The score's name."),
                    "value": parts.integer("The score, from -100 to 100.", minimum=-100, maximum=100),
                    "quantity": parts.quantity("What was measured, such as 3 or 300Mi."),
                },
            ),
            ("name",),
            "Scores of the cluster.",
        ),
        "validUntil": parts.time("Until when the scores count; forever if unset."),
    },
)

ADDON_PLACEMENT_SCORE: Final = Resource(
    group=GROUP,
    kind="AddOnPlacementScore",
    plural="addonplacementscores",
    singular="addonplacementscore",
    list_kind="AddOnPlacementScoreList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            parts.kind("Scores of one cluster.", status=_STATUS),
            (PrinterColumn("Valid Until", "string", ".status.validUntil"), parts.AGE),
            status=True,
        ),
    ),
)
