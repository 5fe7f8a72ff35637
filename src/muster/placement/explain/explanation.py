"""Why a placement selected what it did: the whole of it, and the way of one cluster through it. Pure.

Made from a schedule's own record, so that it cannot say anything else than what was decided. `muster explain`, the API
and `muster.explain` show these values; how they are laid out is theirs. The funnel itself is made in funnel.py.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from muster.placement.explain.clauses import MISSING
from muster.placement.explain.explained import (
    Check,
    ClusterExplanation,
    FunnelStage,
    NearMiss,
    PlacementExplanation,
    RankedCluster,
    ReasonCount,
    ScorerScore,
)
from muster.placement.explain.funnel import PICK, SETS, funnel, stage_names
from muster.placement.explain.near_misses import near_misses
from muster.placement.explain.ranking import left_out, standing
from muster.placement.schedule.filters import FILTERS, not_tolerated
from muster.placement.schedule.pipeline import STANDARD, objection, reason_against
from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import taints_of, tolerance
from muster.reasons import Code, Reason, Subject
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector
from muster.selectors.labels import LabelSelector, requirement_fails
from muster.selectors.match import unwrapped
from muster.selectors.observation import Observation
from muster.values.json import JsonMapping
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.placement.schedule.cycle import Cycle
    from muster.placement.schedule.pipeline import Profile
    from muster.placement.schedule.result import ScheduleResult
    from muster.placement.schedule.sets import Rule
    from muster.reasons import Held, Parameter

__all__ = [
    "Check",
    "ClusterExplanation",
    "FunnelStage",
    "NearMiss",
    "Observation",
    "PlacementExplanation",
    "RankedCluster",
    "ReasonCount",
    "ScorerScore",
    "explain_cluster",
    "explain_placement",
    "funnel",
]

_NO_RULES: Final[Mapping[str, Rule]] = MappingProxyType({})
_MOST_RANKED: Final = 10
_MOST_NEAR: Final = 5


def explain_placement(
    result: ScheduleResult, profile: Profile = STANDARD, *, near: int = _MOST_NEAR
) -> PlacementExplanation:
    """The funnel, the clusters that came nearest without being selected, and the best of those that are."""
    plan = result.cycle.plan
    return PlacementExplanation(
        plan.namespace,
        plan.name,
        clusters=len(result.cycle.fleet),
        wanted=plan.number,
        fitting=len(result.feasible),
        selected=tuple(result.selected),
        funnel=funnel(result, profile),
        near_misses=near_misses(result, profile, near),
        ranked=tuple(_ranked(result, row) for row in result.ranked[:_MOST_RANKED].tolist()),
        fault="" if result.fault is None else str(result.fault),
    )


def explain_cluster(
    result: ScheduleResult,
    name: str,
    profile: Profile = STANDARD,
    rules: Mapping[str, Rule] = _NO_RULES,
) -> ClusterExplanation:
    """Everything that was looked at for one cluster. Raises KeyError when there is no such cluster.

    With the rules of all cluster sets there are, those that have the cluster and that the placement cannot choose from
    are named.
    """
    cycle = result.cycle
    row = cycle.fleet.row(name)
    if row is None:
        raise KeyError(name)
    why = reason_against(result, name, profile)
    stage = "" if why is None else _stage_that_removed(result, row, profile)
    place = standing(result, row)
    if place is not None and why is not None and cycle.plan.spread:
        why = msgspec.structs.replace(why, parts=(*why.parts, left_out(result, row)))
    cluster = cycle.fleet.load(row)
    checks = (
        *_set_checks(cycle, row, cluster, rules),
        *_predicate_checks(cycle, cluster),
        _taint_check(cycle, row),
        *_plugin_checks(cycle, row, profile),
    )
    return ClusterExplanation(
        cluster=name,
        placement=f"{cycle.plan.namespace}/{cycle.plan.name}",
        selected=why is None,
        stage=stage,
        why=Reason(Code.SELECTED, Subject(cluster=name)) if why is None else why,
        summary="",
        checks=tuple(_of(name, check) for check in checks),
        scores=() if place is None else place.scores,
        total=None if place is None else place.total,
        rank=None if place is None else place.rank,
        cut_why=None if place is None else place.cut.about(cluster=name),
        cut="",
    )


def _of(cluster: str, check: Check) -> Check:
    """The check with its reason about the cluster, below the name of the check."""
    field = check.field
    why = check.why.about(cluster=cluster, check=check.name, field=field)
    return Check(check.name, check.passed, why, field, check.observed)


def _stage_that_removed(result: ScheduleResult, row: int, profile: Profile) -> str:
    if not result.available[row]:
        return SETS
    if result.fault is not None:
        return stage_names(result, profile)[-1]
    return next((stage.name for stage in result.stages if not stage.passing[row]), PICK)


def _ranked(result: ScheduleResult, row: int) -> RankedCluster:
    place = standing(result, row)
    if place is None:
        raise LookupError(f"row {row} is selected and does not fit")
    return RankedCluster(result.cycle.fleet.name(row), place.rank, place.total, place.scores)


# ------------------------------------------------------------------------------------------------- sets and bindings


def _set_checks(cycle: Cycle, row: int, cluster: JsonMapping, rules: Mapping[str, Rule]) -> Iterator[Check]:
    visibility, namespace, faults = cycle.visibility, cycle.plan.namespace, dict(cycle.visibility.broken)
    bound: dict[str, Parameter] = {"namespace": namespace}
    for name, rule in visibility.eligible:
        match = rule.match(cluster)
        code = Code.IN_BOUND_SET if match else Code.NOT_IN_BOUND_SET
        given = {**bound, "fault": faults[name]} if name in faults else bound
        yield _set_check(name, Reason(code, parameters=given, parts=(match.why,)), passed=bool(match))
    stays = bool(cycle.decided.own[row])
    for name in visibility.unknown:
        why = Reason(Code.SET_UNUSABLE, parameters={"fault": faults[name], "stays": stays})
        yield _set_check(name, why, passed=stays)
    if not visibility.bound:
        yield Check("binding", passed=False, why=Reason(Code.NO_SET_BOUND, parameters=bound))
    known = set(visibility.eligible_names)
    for name, each in rules.items():
        if name in known or each.fault or each.membership is None or not each.membership.match(cluster):
            continue
        named = Reason(Code.SET_NOT_NAMED) if name in visibility.bound else Reason(Code.SET_NOT_BOUND, parameters=bound)
        yield _set_check(name, named, passed=False)


def _set_check(name: str, why: Reason, *, passed: bool) -> Check:
    return Check(f"set {name}", passed, why.about(cluster_set=name), "spec.clusterSets")


# -------------------------------------------------------------------------------------- predicates, taints, plugins


def _predicate_checks(cycle: Cycle, cluster: JsonMapping) -> Iterator[Check]:
    for index, parts in enumerate(cycle.plan.predicates):
        where = f"spec.predicates[{index}].requiredClusterSelector"
        expressions = 0
        for part in map(unwrapped, parts):
            if isinstance(part, CelSelector):
                for program in part.programs:
                    field = f"{where}.celSelector.celExpressions[{expressions}]"
                    alone = CelSelector((program,), part.scores, part.limits)
                    yield _expression_check(f"predicate {index + 1}", alone, cluster, field)
                    expressions += 1
            elif isinstance(part, LabelSelector):
                field = f"{where}.{part.noun}Selector"
                yield from _requirement_checks(f"predicate {index + 1}", part, cluster, field)
            else:
                match = part.match(cluster)
                yield Check(f"predicate {index + 1}", bool(match), match.why, where)


def _expression_check(name: str, selector: CelSelector, cluster: JsonMapping, field: str) -> Check:
    match = selector.match(cluster)
    (program,) = selector.programs
    subject = Subject(expression=program.text)
    if match:
        return Check(name, passed=True, why=Reason(Code.EXPRESSION_TRUE, subject), field=field)
    from muster.selectors.cel_reasons import observations

    observed = observations(program, {"managedCluster": selector.view(cluster)})
    if match.verdict is Verdict.NO:
        return Check(name, passed=False, why=Reason(Code.EXPRESSION_FALSE, subject), field=field, observed=observed)
    # What the observations show need not be said twice.
    place = next((each.position for each in observed if each.is_error), None)
    why = Reason(match.why.code, Subject(expression=program.text, position=place), match.why.parameters)
    return Check(name, passed=False, why=why, field=field, observed=observed)


def _requirement_checks(name: str, selector: LabelSelector, cluster: JsonMapping, field: str) -> Iterator[Check]:
    if selector.requirements.nothing:
        yield Check(name, passed=False, why=selector.match(cluster).why, field=field)
        return
    values = selector.values(cluster)
    for requirement in selector.requirements.requirements:
        value = go_quote(values[requirement.key]) if requirement.key in values else MISSING
        observed = Observation(f'{selector.noun}s["{requirement.key}"]', value)
        passed = requirement.matches(values)
        subject, noun = Subject(requirement=str(requirement)), selector.noun
        why = Reason(Code.REQUIREMENT_HOLDS, subject, {"noun": noun})
        if not passed:
            why = requirement_fails(noun, requirement, values)
        yield Check(name, passed, why, field, (observed,))


def _taint_check(cycle: Cycle, row: int) -> Check:
    column = cycle.fleet.column(TAINTS)
    taints = taints_of(column.values[column.codes[row]])
    own = bool(cycle.decided.own[row])
    verdict = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own)
    held: dict[str, Held] = {"taints": ", ".join(map(str, taints))}
    field = "spec.tolerations"
    if verdict.blocked_by is not None:
        return Check("taints", passed=False, why=not_tolerated(verdict.blocked_by), field=field)
    if verdict.until is not None:
        until = f"{verdict.until:%Y-%m-%dT%H:%M:%SZ}"
        return Check(
            "taints", True, Reason(Code.TAINTS_TOLERATED_UNTIL, parameters={"until": until}, values=held), field
        )
    if verdict.disliked:
        return Check("taints", passed=True, why=Reason(Code.TAINTS_DISLIKED, values=held), field=field)
    why = Reason(Code.TAINTS_TOLERATED, values=held) if taints else Reason(Code.NO_TAINTS)
    return Check("taints", passed=True, why=why, field=field)


def _plugin_checks(cycle: Cycle, row: int, profile: Profile) -> Iterator[Check]:
    for stage in profile.filters:
        if stage.name not in FILTERS:
            why = objection(stage, cycle, row)
            yield Check(stage.name, why is None, why or Reason(Code.FILTER_PASSES))
