"""Placement: which clusters are wanted, how many, and what makes one better than another."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.managed_cluster import GROUP, TAINT_EFFECTS
from muster.api.parts import Condition, LabelSelector, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class ClaimSelector(LabelSelector, frozen=True):
    """Upstream's has expressions only. Files may say more, and what restricts a selection is never passed over."""


class CelSelector(Part, frozen=True):
    cel_expressions: tuple[str, ...] = ()


class ClusterSelector(Part, frozen=True):
    label_selector: LabelSelector = LabelSelector()
    claim_selector: ClaimSelector = ClaimSelector()
    cel_selector: CelSelector = CelSelector()


class ClusterPredicate(Part, frozen=True):
    required_cluster_selector: ClusterSelector = ClusterSelector()


class AddOnScore(Part, frozen=True):
    resource_name: str = ""
    score_name: str = ""


class ScoreCoordinate(Part, frozen=True):
    type: str = ""
    built_in: str = ""
    add_on: AddOnScore | None = None


class PrioritizerConfig(Part, frozen=True):
    score_coordinate: ScoreCoordinate | None = None
    weight: int = 0


class PrioritizerPolicy(Part, frozen=True):
    mode: str = ""
    configurations: tuple[PrioritizerConfig, ...] = ()


class SpreadConstraint(Part, frozen=True):
    topology_key: str = ""
    topology_key_type: str = ""
    max_skew: int = 1
    when_unsatisfiable: str = "ScheduleAnyway"


class SpreadPolicy(Part, frozen=True):
    spread_constraints: tuple[SpreadConstraint, ...] = ()


class Toleration(Part, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class GroupClusterSelector(Part, frozen=True):
    label_selector: LabelSelector = LabelSelector()
    claim_selector: ClaimSelector = ClaimSelector()


class DecisionGroup(Part, frozen=True):
    group_name: str = ""
    group_cluster_selector: GroupClusterSelector = GroupClusterSelector()


class GroupStrategy(Part, frozen=True):
    decision_groups: tuple[DecisionGroup, ...] = ()
    clusters_per_decision_group: int | str | None = None


class DecisionStrategy(Part, frozen=True):
    group_strategy: GroupStrategy = GroupStrategy()


class PlacementSpec(Node, frozen=True):
    cluster_sets: tuple[str, ...] = ()
    number_of_clusters: int | None = None
    predicates: tuple[ClusterPredicate, ...] = ()
    prioritizer_policy: PrioritizerPolicy = PrioritizerPolicy()
    spread_policy: SpreadPolicy = SpreadPolicy()
    tolerations: tuple[Toleration, ...] = ()
    decision_strategy: DecisionStrategy = DecisionStrategy()
    sort_by: str = ""
    score_rate_limit: str = ""


class DecisionGroupStatus(Part, frozen=True):
    """One group of decisions. The first index and an empty name are written like any other."""

    decision_group_index: int = msgspec.field(default_factory=int)
    decision_group_name: str = msgspec.field(default_factory=str)
    decisions: tuple[str, ...] = ()
    cluster_count: int = msgspec.field(default_factory=int)


class PlacementStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    number_of_selected_clusters: int = 0
    decision_groups: tuple[DecisionGroupStatus, ...] = ()
    last_score_update_time: str | None = None


class Placement(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PlacementSpec = PlacementSpec()
    status: PlacementStatus = PlacementStatus()


_CLAIM_SELECTOR = parts.obj(
    "What member clusters must claim in their status.",
    properties={"matchExpressions": parts.requirements("Requirements on claims, all of which must hold.")},
)
_LABEL_SELECTOR = parts.label_selector("The labels clusters must have.")

_PREDICATE = parts.obj(
    "One way for a cluster to fit.",
    properties={
        "requiredClusterSelector": parts.obj(
            "What a cluster must be: all parts must hold.",
            properties={
                "labelSelector": _LABEL_SELECTOR,
                "claimSelector": _CLAIM_SELECTOR,
                "celSelector": parts.obj(
                    "CEL expressions over the cluster, as the variable managedCluster.",
                    properties={
                        "celExpressions": parts.array(
                            parts.string(), "Boolean expressions, all of which must be true of a cluster."
                        )
                    },
                ),
            },
        )
    },
)

_PRIORITIZERS = parts.obj(
    "What makes one fitting cluster better than another.",
    properties={
        "mode": parts.string(
            "Additive: prioritizers that are not named keep their default weight. Exact: they weigh nothing.",
            default="Additive",
        ),
        "configurations": parts.array(
            parts.obj(
                "One score and its weight.",
                ("scoreCoordinate",),
                {
                    "scoreCoordinate": parts.obj(
                        "Where the score comes from.",
                        ("type",),
                        {
                            "type": parts.string(
                                "A score of the scheduler's own, or of an AddOnPlacementScore.",
                                default="BuiltIn",
                                enum=["BuiltIn", "AddOn"],
                            ),
                            "builtIn": parts.string(
                                "Balance, Steady, ResourceAllocatableCPU or ResourceAllocatableMemory."
                            ),
                            "addOn": parts.obj(
                                "The score, for the type AddOn.",
                                ("resourceName", "scoreName"),
                                {
                                    "resourceName": parts.string("The AddOnPlacementScore in the cluster's namespace."),
                                    "scoreName": parts.string("The score in it."),
                                },
                            ),
                        },
                    ),
                    "weight": parts.integer(
                        "How much the score counts, from -10 to 10.", default=1, minimum=-10, maximum=10
                    ),
                },
            ),
            "Scores and their weights.",
        ),
    },
)

_SPREAD = parts.obj(
    "How the selected clusters are spread over topologies.",
    properties={
        "spreadConstraints": parts.array(
            parts.obj(
                "One topology to spread over.",
                ("topologyKey", "topologyKeyType"),
                {
                    "topologyKey": parts.string(
                        "The label or claim that names the topology.",
                        maxLength=316,
                        pattern=parts.QUALIFIED_NAME_PATTERN,
                    ),
                    "topologyKeyType": parts.string("Whether the key is a label or a claim.", enum=["Label", "Claim"]),
                    "maxSkew": parts.integer(
                        "The largest allowed difference between two topologies.", default=1, minimum=1
                    ),
                    "whenUnsatisfiable": parts.string(
                        "What to do when the skew cannot be kept.",
                        default="ScheduleAnyway",
                        enum=["DoNotSchedule", "ScheduleAnyway"],
                    ),
                },
            ),
            "Topologies, the most important first.",
            maxItems=8,
        )
    },
)

_TOLERATION = parts.obj(
    "Taints this placement puts up with.",
    properties={
        "key": parts.string("The taint's key; any if empty.", maxLength=316, pattern=parts.QUALIFIED_NAME_PATTERN),
        "operator": parts.string("Equal or Exists.", default="Equal"),
        "value": parts.string("The taint's value, for the operator Equal.", maxLength=1024),
        "effect": parts.string("The taint's effect; any if empty.", enum=list(TAINT_EFFECTS)),
        "tolerationSeconds": parts.integer("For how long; forever if unset.", "int64"),
    },
)

_GROUPS = parts.obj(
    "How decisions are divided into groups.",
    properties={
        "groupStrategy": parts.obj(
            "How decisions are divided into groups.",
            properties={
                "decisionGroups": parts.array(
                    parts.obj(
                        "A group with a name.",
                        ("groupClusterSelector", "groupName"),
                        {
                            "groupName": parts.string(
                                "The group's name, a label value.",
                                pattern="^[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]$",
                            ),
                            "groupClusterSelector": parts.obj(
                                "Which of the selected clusters belong to the group.",
                                properties={"labelSelector": _LABEL_SELECTOR, "claimSelector": _CLAIM_SELECTOR},
                            ),
                        },
                    ),
                    "Groups in the order they are filled.",
                ),
                "clustersPerDecisionGroup": {
                    "description": "The most clusters of one group: a number, or a percentage of the selected ones.",
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                    "default": "100%",
                    "pattern": "^((100|[1-9][0-9]{0,1})%|[1-9][0-9]*)$",
                    "x-kubernetes-int-or-string": True,
                },
            },
        )
    },
)

_SPEC = parts.obj(
    "Which clusters are wanted.",
    properties={
        "clusterSets": parts.array(
            parts.string(), "The bound sets to select from; all sets bound to the namespace if empty."
        ),
        # A negative number makes upstream's scheduler panic; here it is refused.
        "numberOfClusters": parts.integer("How many clusters; all that fit if unset.", minimum=0),
        "predicates": parts.array(_PREDICATE, "Ways to fit; a cluster needs one of them."),
        "prioritizerPolicy": _PRIORITIZERS,
        "spreadPolicy": _SPREAD,
        "tolerations": parts.array(_TOLERATION, "Taints this placement puts up with."),
        "decisionStrategy": _GROUPS,
        "sortBy": parts.string("The order of the decisions.", default="ClusterName", enum=["ClusterName", "Score"]),
        "scoreRateLimit": parts.string(
            "How often scores in decisions may change on their own.", default="1m", pattern="^[0-9]+[hms]$"
        ),
    },
)

_STATUS = parts.obj(
    "What was decided.",
    properties={
        "conditions": parts.CONDITIONS,
        "numberOfSelectedClusters": parts.integer("How many clusters are selected."),
        "decisionGroups": parts.array(
            parts.obj(
                "One group of decisions.",
                properties={
                    "decisionGroupIndex": parts.integer("The group's place in the order."),
                    "decisionGroupName": parts.string("The group's name; empty for the rest."),
                    "decisions": parts.array(parts.string(), "The PlacementDecisions of the group."),
                    "clusterCount": parts.integer("How many clusters the group has.", default=0),
                },
            ),
            "The groups of decisions.",
        ),
        "lastScoreUpdateTime": parts.time("When scores in decisions last changed."),
    },
)

PLACEMENT: Final = Resource(
    group=GROUP,
    kind="Placement",
    plural="placements",
    singular="placement",
    list_kind="PlacementList",
    namespaced=True,
    versions=(
        Version(
            "v1beta1",
            parts.kind("Selects clusters from the sets bound to its namespace.", _SPEC, _STATUS, needs_spec=True),
            (
                parts.condition_column("Succeeded", "PlacementSatisfied"),
                parts.condition_column("Reason", "PlacementSatisfied", "reason"),
                PrinterColumn("SelectedClusters", "integer", ".status.numberOfSelectedClusters"),
            ),
            status=True,
        ),
    ),
)
