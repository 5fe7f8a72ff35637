"""The answers to ClusterExplanation and SetExplanation, from the world's own rules and schedules.

Reasons lose the names of clusters that the asker may not get, and what only these hold. Placements and namespaces are
those that he may explain placements in.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from muster.api.fleet_outlooks import (
    ClusterExplanationStatus,
    NotMembers,
    PlacementVerdict,
    SetExplanationStatus,
    SetVerdict,
)
from muster.api.fleet_parts import ValueCount
from muster.controllers.placements.keys import SetKey
from muster.controllers.questions.kinds import Refusal
from muster.placement.explain.across_placements import described_rule
from muster.placement.explain.clauses import common_values
from muster.placement.explain.explanation import explain_cluster
from muster.placement.explain.funnel import SETS, all_stages, stage_names
from muster.placement.schedule.pipeline import objection_before_scores
from muster.reasons import Code, Reader, Reason, Subject, redacted, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
    from muster.controllers.placements.keys import Key
    from muster.controllers.placements.world import PlacementWorld
    from muster.fleet import Fleet
    from muster.placement.explain.explained import ValueCount as CommonValue
    from muster.questions.asked import Scope
    from muster.questions.sharing import Work
    from muster.questions.universe import ClusterUniverse
    from muster.values.json import JsonMapping

_NOT_FOUND: Final = 404
_EXAMPLES: Final = 3


class _Hidden(Collection[str]):
    """The names of clusters that the asker may not get."""

    def __init__(self, fleet: Fleet, scope: Scope) -> None:
        self._fleet = fleet
        self._scope = scope

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._fleet and name not in self._scope.names

    def __iter__(self) -> Iterator[str]:
        fleet = self._fleet
        return (name for name in fleet.names(fleet.rows().tolist()) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def reader_of(fleet: Fleet, scope: Scope) -> Reader:
    """The asker, as reasons know him."""
    return Reader(scope.everything, frozenset() if scope.everything else _Hidden(fleet, scope))


def cluster_explained(
    spec: ClusterExplanationSpec, scope: Scope, places: Scope, world: PlacementWorld, now: datetime
) -> Work[ClusterExplanationStatus]:
    """One cluster through all sets and placements. Raises Refusal when there is no such cluster."""
    row = world.fleet.row(spec.name)
    if row is None or not (scope.everything or spec.name in scope.names):
        raise Refusal(_NOT_FOUND, spec.name)
    reader = reader_of(world.fleet, scope)
    sets: list[SetVerdict] = []
    for verdict in _set_verdicts(world.fleet.load(row), scope, places, world, reader, spec.name):
        sets.append(verdict)
        yield False
    keys = sorted(key for key in world.placements if _may_explain(places, key.namespace, spec.namespace))
    found: list[PlacementVerdict] = []
    for key in keys[spec.offset : spec.offset + spec.limit]:
        if key not in world.placements:
            continue  # it has gone in a pause
        told = _objected(world, key, spec.name, now)
        if told is None:
            yield from world.steps(key)
            if spec.name not in world.fleet:
                raise Refusal(_NOT_FOUND, spec.name)
            told = _told(world, key, spec.name, now)
        if told is not None:
            why = redacted(told.why, reader, spec.name)
            found.append(
                PlacementVerdict(
                    key.namespace,
                    key.name,
                    told.selected,
                    told.stage,
                    told.passed,
                    str(why.code),
                    sentence(why),
                    to_builtins(why),
                )
            )
        yield False
    return ClusterExplanationStatus(spec.name, tuple(sets), tuple(found), len(keys))


def deciding(world: PlacementWorld, places: Scope, clusters: list[str]) -> Work[list[int]]:
    """How many placements have decided for each of the clusters, of those that the asker may explain."""
    if places.everything:
        yield False
        return [world.decisions.count(name) for name in clusters]
    counts = dict.fromkeys(clusters, 0)
    for page in list(world.decisions.by_place.values()):
        if page.owner.namespace not in places.namespaces:
            continue
        yield False
        for name in counts.keys() & page.clusters:
            counts[name] += 1
    return [counts[name] for name in clusters]


class _Told(NamedTuple):
    """What a placement makes of a cluster."""

    selected: bool
    stage: str
    passed: int  # stages before that one
    why: Reason


def _objected(world: PlacementWorld, key: Key, cluster: str, now: datetime) -> _Told | None:
    """Of a cluster that does not even fit, nobody else need be looked at."""
    with world.notes.evaluating(key):
        cycle = world.cycle(key, now)
        against = None if cycle is None else objection_before_scores(cycle, cluster)
    if against is None:
        return None
    stage = against.subject.stage or SETS
    return _Told(False, stage, all_stages().index(stage), against)


def _told(world: PlacementWorld, key: Key, cluster: str, now: datetime) -> _Told | None:
    """None when the placement is not scheduled."""
    if (objected := _objected(world, key, cluster, now)) is not None:  # it may have changed in a pause
        return objected
    result = world.decide(key, now)
    if result is None:
        return None
    way = explain_cluster(result, cluster)
    return _Told(way.selected, way.stage, stage_names(result).index(way.stage) if way.stage else 0, way.why)


def _set_verdicts(
    obj: JsonMapping, scope: Scope, places: Scope, world: PlacementWorld, reader: Reader, cluster: str
) -> Iterator[SetVerdict]:
    for name in sorted(world.rules):
        if scope.sets is not None and name not in scope.sets:
            continue
        rule = world.rules.get(name)
        if rule is None:
            continue  # it has gone in a pause
        if rule.membership is None:
            why, member = _unusable(name, rule.fault), False
        else:
            match = rule.membership.match(obj)
            why, member = match.why.about(cluster_set=name), bool(match)
        told = redacted(why, reader, cluster)
        yield SetVerdict(
            name, member, str(told.code), sentence(told), to_builtins(told), _bound_to(world, places, name)
        )


def set_explained(
    spec: SetExplanationSpec, scope: Scope, places: Scope, clusters: ClusterUniverse, world: PlacementWorld
) -> Work[SetExplanationStatus]:
    """One set over the clusters that the asker may get. Raises Refusal when there is no such set."""
    rule = world.rules.get(spec.name)
    if rule is None or not (scope.sets is None or spec.name in scope.sets):
        raise Refusal(_NOT_FOUND, spec.name)
    yield from world.fleet.steps(SetKey(spec.name))
    universe = yield from clusters.of(scope, ())
    namespaces = _bound_to(world, places, spec.name)
    choosing = tuple(
        f"{key.namespace}/{key.name}"
        for key, each in sorted(world.placements.items())
        if key.namespace in namespaces and (not each.obj.spec.cluster_sets or spec.name in each.obj.spec.cluster_sets)
    )
    found = SetExplanationStatus(spec.name, hidden=universe.hidden, namespaces=namespaces, placements=choosing)
    if rule.membership is None:
        return replace(found, fault=rule.fault)
    if world.plans.held_set(spec.name) is not None:
        return replace(found, fault="it is set aside, because evaluating it has ended the controllers before")
    selected, present = world.fleet.mask(rule.membership).selected, world.fleet.present
    rows = universe.only_shown()
    inside = rows[selected[rows] & present[rows]]
    described, name = described_rule(rule.membership), universe.snapshot.name
    outside = rows[~selected[rows] & present[rows]]
    reads = list(rule.membership.reads)
    values = common_values(world.fleet, reads[0], outside) if len(reads) == 1 and len(outside) else ()
    others = (
        _others(Reason(Code.CLUSTER_DELETING), rows[~present[rows]], name),
        _others(Reason(Code.NOT_BY_RULE, parameters={"rule": described}), outside, name, values),
    )
    return replace(
        found,
        rule=described,
        fault=rule.fault,
        members=len(inside),
        clusters=tuple(name(row) for row in inside[spec.offset : spec.offset + spec.limit].tolist()),
        others=tuple(each for each in others if each.count),
    )


def _others(
    why: Reason, rows: NDArray[np.intp], name: Callable[[int], str], values: tuple[CommonValue, ...] = ()
) -> NotMembers:
    examples = tuple(name(row) for row in rows[:_EXAMPLES].tolist())
    counted = tuple(ValueCount(each.value, each.count) for each in values)
    return NotMembers(str(why.code), sentence(why), to_builtins(why), len(rows), examples, counted)


def _unusable(name: str, fault: str) -> Reason:
    return Reason(Code.SET_UNUSABLE, Subject(cluster_set=name), {"fault": fault})


def _may_explain(places: Scope, namespace: str, wanted: str) -> bool:
    return (not wanted or namespace == wanted) and (places.everything or namespace in places.namespaces)


def _bound_to(world: PlacementWorld, places: Scope, set_name: str) -> tuple[str, ...]:
    """The namespaces that a set is bound to, of those that the asker may explain placements in."""
    bound = (namespace for namespace, bindings in world.bindings.items() if set_name in bindings)
    return tuple(sorted(namespace for namespace in bound if _may_explain(places, namespace, "")))
