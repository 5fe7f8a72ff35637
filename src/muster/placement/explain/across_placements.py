"""What holds for one cluster over all placements, and for one cluster set: who takes it, who does not, why. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from muster.placement.explain.clauses import common_values
from muster.placement.explain.explained import (
    ClusterVerdicts,
    PlacementVerdict,
    ReasonCount,
    SetExplanation,
    SetMembership,
)
from muster.placement.explain.explanation import explain_cluster
from muster.placement.explain.funnel import stage_names
from muster.placement.schedule.pipeline import STANDARD
from muster.reasons import Code, Reason, Subject, sentence
from muster.selectors.labels import LabelSelector
from muster.selectors.membership import ExclusiveMembership
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.api.placement import Placement
    from muster.fleet import Fleet
    from muster.placement.explain.explained import ValueCount
    from muster.placement.schedule.pipeline import Profile
    from muster.placement.schedule.result import ScheduleResult
    from muster.placement.schedule.sets import Rule
    from muster.selectors.membership import Membership

_EXAMPLES: Final = 3


def explain_everywhere(
    cluster: str,
    results: Iterable[ScheduleResult],
    rules: Mapping[str, Rule],
    bindings: Iterable[ManagedClusterSetBinding],
    fleet: Fleet,
    profile: Profile = STANDARD,
) -> ClusterVerdicts:
    """One cluster through all placements. Raises KeyError when there is no such cluster."""
    row = fleet.row(cluster)
    if row is None:
        raise KeyError(cluster)
    obj = fleet.load(row)
    bound = _namespaces(bindings)
    sets = [_membership(name, rule, obj, bound.get(name, ())) for name, rule in rules.items()]
    found = []
    for result in results:
        way = explain_cluster(result, cluster, profile)
        passed = stage_names(result, profile).index(way.stage) if way.stage else 0
        found.append((not way.selected, -passed, PlacementVerdict(way.placement, way.selected, way.stage, way.why)))
    found.sort(key=lambda each: (each[0], each[1], each[2].placement))
    ordered = sorted(sets, key=lambda each: (not each.member, each.name))
    return ClusterVerdicts(cluster, tuple(ordered), tuple(verdict for _, _, verdict in found))


def explain_set(
    name: str,
    found: Rule,
    fleet: Fleet,
    bindings: Iterable[ManagedClusterSetBinding],
    placements: Iterable[Placement],
) -> SetExplanation:
    """The members of a set, the rule that makes them so, and who may choose from it."""
    namespaces = _namespaces(bindings).get(name, ())
    choosing = tuple(sorted(_key(each) for each in placements if _may_choose(each, name, namespaces)))
    rule = found.membership
    if found.fault or rule is None:
        return SetExplanation(name, "", (), (), namespaces, choosing, fault=sentence(_unusable(name, found)))
    inside = fleet.mask(rule).selected & fleet.present
    everything = np.zeros_like(inside)
    everything[fleet.rows()] = True
    outside = np.flatnonzero(everything & ~inside)
    return SetExplanation(
        name,
        described_rule(rule),
        tuple(fleet.names(fleet.in_order(inside).tolist())),
        _others(fleet, rule, outside),
        namespaces,
        choosing,
    )


def _others(fleet: Fleet, rule: Membership, rows: np.ndarray[Any, np.dtype[np.intp]]) -> tuple[ReasonCount, ...]:
    if len(rows) == 0:
        return ()
    leaving = ~fleet.present[rows]
    found = []
    if leaving.any():
        found.append(_count(fleet, Reason(Code.CLUSTER_DELETING), rows[leaving]))
    left = rows[~leaving]
    if len(left):
        reads = list(rule.reads)
        values = common_values(fleet, reads[0], left) if len(reads) == 1 else ()
        found.append(_count(fleet, Reason(Code.NOT_BY_RULE, parameters={"rule": described_rule(rule)}), left, values))
    return tuple(found)


def _count(
    fleet: Fleet, reason: Reason, rows: np.ndarray[Any, np.dtype[np.intp]], values: tuple[ValueCount, ...] = ()
) -> ReasonCount:
    return ReasonCount(reason, len(rows), tuple(fleet.names(rows[:_EXAMPLES].tolist())), values)


def described_rule(rule: Membership) -> str:
    match rule:
        case ExclusiveMembership(key=key, set_name=name):
            return f"label {key}={name}"
        case LabelSelector(requirements=requirements):
            if requirements.nothing:
                return "a null selector, which selects nothing"
            return f"labels {requirements}" if requirements.requirements else "every cluster"


def _membership(name: str, found: Rule, cluster: JsonMapping, namespaces: tuple[str, ...]) -> SetMembership:
    if found.fault or found.membership is None:
        return SetMembership(name, member=False, why=_unusable(name, found), namespaces=namespaces)
    match = found.membership.match(cluster)
    return SetMembership(name, bool(match), match.why.about(cluster_set=name), namespaces)


def _unusable(name: str, found: Rule) -> Reason:
    return Reason(Code.SET_UNUSABLE, Subject(cluster_set=name), {"fault": found.fault})


def _namespaces(bindings: Iterable[ManagedClusterSetBinding]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for each in bindings:
        found.setdefault(each.metadata.name, set()).add(each.metadata.namespace)
    return {name: tuple(sorted(namespaces)) for name, namespaces in found.items()}


def _may_choose(placement: Placement, set_name: str, namespaces: tuple[str, ...]) -> bool:
    wanted = placement.spec.cluster_sets
    return placement.metadata.namespace in namespaces and (not wanted or set_name in wanted)


def _key(placement: Placement) -> str:
    return f"{placement.metadata.namespace}/{placement.metadata.name}"
