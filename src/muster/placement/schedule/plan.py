"""A Placement's spec, compiled: selectors, tolerations, scorers with weights, groups, spread. Faults are values.

A plan can always be made. One with a fault is not scheduled; the fault's text reaches the Placement's status.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from muster.api.placement import Placement
from muster.api.reading import Reader
from muster.errors import InvalidExpressionError, InvalidObjectError
from muster.placement.schedule.groups import NO_GROUPS, GroupStrategy, group_strategy
from muster.placement.schedule.scorers import BUILT_IN, AddOnScorer
from muster.placement.schedule.spread import SpreadConstraint, spread_constraints
from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import Toleration, toleration_fault, toleration_of
from muster.selectors.cel import BrokenExpressionError
from muster.selectors.cluster import compile_predicate
from muster.values.faults import Fault as Unread
from muster.values.json import JsonMapping
from muster.values.names import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.api.placement import PlacementSpec, PrioritizerPolicy
    from muster.api.reading import Reading
    from muster.placement.schedule.scorers import Scorer
    from muster.selectors import Selector
    from muster.selectors.cluster import CelCompiler
    from muster.selectors.paths import Path

MOST_SELECTORS: Final = 1_000  # different ones, in predicates and groups together
_MOST_WEIGHT: Final = 1_000  # servers take up to 10; with this bound no sum of scores leaves its 64 bits
PLACEMENTS: Final = Reader(Placement)
DEFAULT_WEIGHTS: Final[Mapping[str, int]] = {"Balance": 1, "Steady": 1}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a placement cannot be scheduled: the stage that refuses it, and the text."""

    stage: str
    message: str
    stands_alone: bool = False  # the specification gives the message of a broken expression, without the stage
    unknown_scorer: str = ""  # the name, where that is the fault
    field: str = "spec"  # the part of the placement that has to be changed

    def __str__(self) -> str:
        return self.message if self.stands_alone else f"{self.stage}:{self.message}"


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
    def __init__(self, stage: str, message: str, **more: Any) -> None:
        self.fault = Fault(stage, message, **more)
        super().__init__(stage, message)


def plan_of(
    placement: JsonMapping,
    compile_cel: CelCompiler,
    scorers: Mapping[str, Callable[[], Scorer]] = BUILT_IN,
) -> Plan:
    """Compile a Placement as people write it. One that is not shaped as a placement has a fault, like any other."""
    found = PLACEMENTS.fitted(placement)
    if isinstance(found, Unread):
        return Plan("", "", fault=unreadable(found))
    return plan_read(found, compile_cel, scorers)


def plan_read(
    placement: Reading[Placement],
    compile_cel: CelCompiler,
    scorers: Mapping[str, Callable[[], Scorer]] = BUILT_IN,
) -> Plan:
    """Compile a Placement as far as it could be read; what could not is its fault."""
    return planned(placement.obj, compile_cel, scorers, placement.fault_in("spec"))


def planned(
    placement: Placement,
    compile_cel: CelCompiler,
    scorers: Mapping[str, Callable[[], Scorer]] = BUILT_IN,
    unread: Unread | None = None,
) -> Plan:
    """Compile a Placement. The first fault, in the order of the stages, is in the plan.

    `unread` is what of its spec could not be read, if anything: then it keeps what it has decided, as with every fault.
    """
    metadata, spec = placement.metadata, placement.spec
    plain = Plan(metadata.namespace, metadata.name, spec.cluster_sets, spec.number_of_clusters)
    if unread is not None:
        return replace(plain, fault=unreadable(unread))
    try:
        plan = replace(
            plain,
            groups=_groups(spec),  # a fault in these is told before any other, as upstream does
            predicates=_predicates(spec, compile_cel),
            tolerations=_tolerations(spec),
            scorers=_scorers(spec.prioritizer_policy, scorers),
            number=_number(spec),
            spread=_spread(spec),
            by_score=spec.sort_by == "Score",
        )
        _check_size(plan)
        _check_name(metadata.name)
    except _FaultFound as found:
        return replace(plain, fault=found.fault)
    return plan


def unreadable(unread: Unread) -> Fault:
    """The fault of a placement that could not be read."""
    return Fault("", f"spec cannot be read ({unread})")


def _check_size(plan: Plan) -> None:
    """With very many parts, keeping a verdict of each for every cluster would take all memory."""
    if (count := len(plan.selectors)) > MOST_SELECTORS:
        raise _FaultFound("Predicate", f"it has {count} different selectors; at most {MOST_SELECTORS} are taken")


def _check_name(name: str) -> None:
    """Whoever looks for decisions finds them by the label that names their placement."""
    if len(name) > NAME_LENGTH:
        text = f"the name has {len(name)} characters, and decisions carry it as a label, which takes {NAME_LENGTH}"
        raise _FaultFound("", f"{text}: give the placement a shorter one", field="metadata.name")


def _predicates(spec: PlacementSpec, compile_cel: CelCompiler) -> tuple[tuple[Selector, ...], ...]:
    try:
        return tuple(compile_predicate(each.required_cluster_selector, compile_cel) for each in spec.predicates)
    except (InvalidObjectError, InvalidExpressionError) as error:
        is_broken = isinstance(error, BrokenExpressionError)
        raise _FaultFound("Predicate", str(error), stands_alone=is_broken) from error


def _tolerations(spec: PlacementSpec) -> tuple[Toleration, ...]:
    tolerations = tuple(map(toleration_of, spec.tolerations))
    for toleration in tolerations:
        if text := toleration_fault(toleration):
            raise _FaultFound("TaintToleration", text)
    return tolerations


def _scorers(policy: PrioritizerPolicy, known: Mapping[str, Callable[[], Scorer]]) -> tuple[WeightedScorer, ...]:
    mode = policy.mode or "Additive"
    if mode not in ("Additive", "Exact"):
        raise _FaultFound("", f"incorrect prioritizer policy mode: {mode}")
    built_in = dict(DEFAULT_WEIGHTS) if mode == "Additive" else {}
    add_ons: list[WeightedScorer] = []
    for configuration in policy.configurations:
        coordinate, weight = configuration.score_coordinate, configuration.weight
        if coordinate is None:
            raise _FaultFound("", "scoreCoordinate field is required")
        if abs(weight) > _MOST_WEIGHT:
            raise _FaultFound("", f"a weight is from -{_MOST_WEIGHT} to {_MOST_WEIGHT}, not {weight}")
        if coordinate.type == "BuiltIn":
            built_in[coordinate.built_in] = weight
            continue
        if coordinate.add_on is None:
            raise _FaultFound("", "addOn should not be empty")
        if weight:
            scorer = AddOnScorer(coordinate.add_on.resource_name, coordinate.add_on.score_name)
            add_ons.append(WeightedScorer(scorer, weight))
    chosen = []
    for name, weight in built_in.items():
        if weight == 0:
            continue
        if name not in known:
            raise _FaultFound("", f"incorrect builtin prioritizer: {name}", unknown_scorer=name)
        chosen.append(WeightedScorer(known[name](), weight))
    return tuple(chosen + add_ons)


def _number(spec: PlacementSpec) -> int | None:
    number = spec.number_of_clusters
    if number is not None and number < 0:
        raise _FaultFound("", f"numberOfClusters must not be negative, it is {number}")
    return number


def _groups(spec: PlacementSpec) -> GroupStrategy:
    try:
        return group_strategy(spec.decision_strategy.group_strategy)
    except InvalidObjectError as error:
        raise _FaultFound("", str(error)) from error


def _spread(spec: PlacementSpec) -> tuple[SpreadConstraint, ...]:
    try:
        return spread_constraints(spec.spread_policy)
    except InvalidObjectError as error:
        raise _FaultFound("SpreadPolicy", str(error)) from error
