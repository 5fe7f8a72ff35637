"""A Placement's spec, compiled: selectors, tolerations, scorers with weights, groups, spread. Faults are values.

A plan can always be made. One with a fault is not scheduled; the fault's text reaches the Placement's status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from muster.errors import InvalidExpressionError, InvalidObjectError
from muster.placement.groups import NO_GROUPS, GroupStrategy, group_strategy
from muster.placement.scorers import BUILT_IN, AddOnScorer
from muster.placement.spread import SpreadConstraint, spread_constraints
from muster.placement.taints import TAINTS
from muster.placement.tolerations import Toleration, toleration_fault, toleration_of
from muster.selectors.cluster import compile_predicate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.placement.scorers import Scorer
    from muster.selectors import Selector
    from muster.selectors.cluster import CelCompiler
    from muster.selectors.paths import Path

_BROKEN_EXPRESSION: Final = "failed to compile CEL expression "
MOST_SELECTORS: Final = 1_000  # different ones, in predicates and groups together
_MOST_WEIGHT: Final = 1_000  # servers take up to 10; with this bound no sum of scores leaves its 64 bits
DEFAULT_WEIGHTS: Final[Mapping[str, int]] = {"Balance": 1, "Steady": 1}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a placement cannot be scheduled: the stage that refuses it, and the text."""

    stage: str
    message: str

    def __str__(self) -> str:
        # The specification gives the message of a broken expression, and it does not begin with the stage.
        return self.message if self.message.startswith(_BROKEN_EXPRESSION) else f"{self.stage}:{self.message}"


@dataclass(frozen=True, slots=True)
class WeightedScorer:
    scorer: Scorer
    weight: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a schedule needs to know of a Placement. Predicates are ORed, the parts of one are ANDed."""

    namespace: str
    name: str
    cluster_sets: tuple[str, ...] = ()
    number: int | None = None
    predicates: tuple[tuple[Selector, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    scorers: tuple[WeightedScorer, ...] = ()
    groups: GroupStrategy = NO_GROUPS
    spread: tuple[SpreadConstraint, ...] = ()
    by_score: bool = False
    fault: Fault | None = None

    @property
    def selectors(self) -> frozenset[Selector]:
        """All selectors whose masks it depends on."""
        parts = frozenset(part for predicate in self.predicates for part in predicate)
        return parts | frozenset(selector for group in self.groups.groups for selector in group.selectors)

    @property
    def paths(self) -> frozenset[Path]:
        """All paths beside selectors that it depends on: taints, scores, topologies."""
        reads = frozenset({TAINTS}) | frozenset(constraint.path for constraint in self.spread)
        return reads.union(*(weighted.scorer.reads for weighted in self.scorers))


class _FaultFound(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, stage: str, message: str) -> None:
        self.fault = Fault(stage, message)
        super().__init__(stage, message)


def plan_of(
    placement: Mapping[str, Any],
    compile_cel: CelCompiler,
    scorers: Mapping[str, Callable[[], Scorer]] = BUILT_IN,
) -> Plan:
    """Compile a Placement. The first fault, in the order of the stages, is in the plan."""
    metadata, spec = placement["metadata"], placement.get("spec") or {}
    identity = {"namespace": metadata.get("namespace") or "", "name": metadata["name"]}
    cluster_sets = tuple(spec.get("clusterSets") or ())
    try:
        return _bounded(
            **identity,
            cluster_sets=cluster_sets,
            groups=_groups(spec),  # a fault in these is told before any other, as upstream does
            predicates=_predicates(spec, compile_cel),
            tolerations=_tolerations(spec),
            scorers=_scorers(spec.get("prioritizerPolicy") or {}, scorers),
            number=_number(spec),
            spread=_spread(spec),
            by_score=spec.get("sortBy") == "Score",
        )
    except _FaultFound as found:
        fault = found.fault
    except Exception as error:  # not shaped as a placement: it keeps what it has decided, as with every other fault
        fault = Fault("", f"spec cannot be read ({type(error).__name__}: {error})")
    return Plan(**identity, cluster_sets=cluster_sets, number=spec.get("numberOfClusters"), fault=fault)


def _bounded(**fields: Any) -> Plan:
    """The plan, unless it has so many parts that keeping a verdict of each for every cluster would take all memory."""
    plan = Plan(**fields)
    if (count := len(plan.selectors)) > MOST_SELECTORS:
        raise _FaultFound("Predicate", f"it has {count} different selectors; at most {MOST_SELECTORS} are taken")
    return plan


def _predicates(spec: Mapping[str, Any], compile_cel: CelCompiler) -> tuple[tuple[Selector, ...], ...]:
    try:
        return tuple(
            compile_predicate((each or {}).get("requiredClusterSelector") or {}, compile_cel)
            for each in spec.get("predicates") or ()
        )
    except (InvalidObjectError, InvalidExpressionError) as error:
        raise _FaultFound("Predicate", str(error)) from error


def _tolerations(spec: Mapping[str, Any]) -> tuple[Toleration, ...]:
    tolerations = tuple(toleration_of(each) for each in spec.get("tolerations") or ())
    for toleration in tolerations:
        if text := toleration_fault(toleration):
            raise _FaultFound("TaintToleration", text)
    return tolerations


def _scorers(policy: Mapping[str, Any], known: Mapping[str, Callable[[], Scorer]]) -> tuple[WeightedScorer, ...]:
    mode = policy.get("mode") or "Additive"
    if mode not in ("Additive", "Exact"):
        raise _FaultFound("", f"incorrect prioritizer policy mode: {mode}")
    built_in = dict(DEFAULT_WEIGHTS) if mode == "Additive" else {}
    add_ons: list[WeightedScorer] = []
    for configuration in policy.get("configurations") or ():
        coordinate = configuration.get("scoreCoordinate")
        if coordinate is None:
            raise _FaultFound("", "scoreCoordinate field is required")
        weight = int(configuration.get("weight") or 0)
        if abs(weight) > _MOST_WEIGHT:
            raise _FaultFound("", f"a weight is from -{_MOST_WEIGHT} to {_MOST_WEIGHT}, not {weight}")
        if coordinate.get("type") == "BuiltIn":
            built_in[coordinate.get("builtIn") or ""] = weight
            continue
        add_on = coordinate.get("addOn")
        if add_on is None:
            raise _FaultFound("", "addOn should not be empty")
        if weight:
            scorer = AddOnScorer(add_on.get("resourceName") or "", add_on.get("scoreName") or "")
            add_ons.append(WeightedScorer(scorer, weight))
    chosen = []
    for name, weight in built_in.items():
        if weight == 0:
            continue
        if name not in known:
            raise _FaultFound("", f"incorrect builtin prioritizer: {name}")
        chosen.append(WeightedScorer(known[name](), weight))
    return tuple(chosen + add_ons)


def _number(spec: Mapping[str, Any]) -> int | None:
    number = spec.get("numberOfClusters")
    if number is not None and number < 0:
        raise _FaultFound("", f"numberOfClusters must not be negative, it is {number}")
    return number


def _groups(spec: Mapping[str, Any]) -> GroupStrategy:
    try:
        return group_strategy((spec.get("decisionStrategy") or {}).get("groupStrategy") or {})
    except InvalidObjectError as error:
        raise _FaultFound("", str(error)) from error


def _spread(spec: Mapping[str, Any]) -> tuple[SpreadConstraint, ...]:
    try:
        return spread_constraints(spec.get("spreadPolicy") or {})
    except InvalidObjectError as error:
        raise _FaultFound("SpreadPolicy", str(error)) from error
