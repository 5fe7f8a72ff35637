"""What follows from merged objects: a fork of the live world says what a whole world would, and harms nothing."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.controllers.placements.preview import exhausted, settle, world_of
from muster.questions.asked import Scope
from muster.questions.plans.planning import planned, planned_alone
from muster.questions.plans.work import PlanWork
from muster.questions.universe import ClusterUniverse
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint
from tests.controllers.questions.answering import NOW
from tests.questions.observing import EVERYTHING

Object = dict[str, Any]
CLOUDS = st.sampled_from(["Amazon", "Azure"])
AVAILABLE: Object = {"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True"}]}
SCORES = 'managedCluster.scores("usage").exists(s, s.value > 50)'


@st.composite
def clusters(draw: st.DrawFn) -> Object:
    labels = draw(st.dictionaries(st.sampled_from(["cloud", "tier"]), CLOUDS))
    taints = [a_taint("t")] if draw(st.integers(0, 4)) == 0 else []
    status: Object = AVAILABLE if draw(st.integers(0, 3)) else {}
    return a_cluster(draw(st.sampled_from("abcdef")), labels, taints=taints, **status)


@st.composite
def placements(draw: st.DrawFn) -> Object:
    spec: Object = {}
    match draw(st.sampled_from(["all", "labels", "cel", "scores"])):
        case "labels":
            selector: Object = {"labelSelector": {"matchLabels": {"cloud": draw(CLOUDS)}}}
            spec["predicates"] = [{"requiredClusterSelector": selector}]
        case "cel":
            text = f"managedCluster.metadata.labels.tier == '{draw(CLOUDS)}'"
            spec["predicates"] = [{"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}]
        case "scores":
            spec["predicates"] = [{"requiredClusterSelector": {"celSelector": {"celExpressions": [SCORES]}}}]
    if number := draw(st.sampled_from([None, 1, 2])):
        spec["numberOfClusters"] = number
    if draw(st.booleans()):
        spec["clusterSets"] = ["tier"]
    return a_placement(draw(st.sampled_from(["p1", "p2", "p3"])), draw(st.sampled_from(["apps", "other"])), **spec)


SETS = st.builds(lambda cloud: a_set("tier", {"tier": cloud}), CLOUDS)
BINDINGS = st.builds(a_binding, st.sampled_from(["global", "tier"]), st.sampled_from(["apps", "other"]))
VALUES = st.builds(lambda name, value: a_score(name, {"free": value}), st.sampled_from("abc"), st.sampled_from([9, 90]))
OBJECTS = st.one_of(clusters(), clusters(), placements(), placements(), SETS, BINDINGS, VALUES)


def latest(objects: list[Object]) -> list[Object]:
    """Of several states of one object the last."""
    by_place = {(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]): o for o in objects}
    return list(by_place.values())


def a_settled_world(objects: list[Object]) -> Any:
    world = world_of(objects, NOW)
    settle(world, NOW)
    return world


def told(world: Any) -> Any:
    """What a world would decide, and has decided."""
    decided = {key: [page.clusters for page in world.decisions.of(key)] for key in world.placements}
    wanted = {key: world.decide(key, NOW) for key in sorted(world.placements)}
    picked = {key: [] if each is None else world.fleet.names(each.ranked.tolist()) for key, each in wanted.items()}
    return decided, picked, sorted(world.fleet.names(world.fleet.rows().tolist())), sorted(world.rules)


@settings(max_examples=60, deadline=None)
@given(
    present=st.lists(OBJECTS, max_size=12), changes=st.lists(OBJECTS, max_size=4), gone=st.lists(OBJECTS, max_size=2)
)
def test_a_fork_says_what_a_whole_world_would_and_the_live_one_stays(
    present: list[Object], changes: list[Object], gone: list[Object]
) -> None:
    objects = latest([a_set("global"), a_set("tier", {"tier": "Azure"}), a_binding("global"), *present])
    work = PlanWork(tuple(latest(changes)), tuple(latest(gone)))
    live = a_settled_world(objects)
    before = told(live)

    forked = exhausted(planned(work, EVERYTHING, Scope(everything=True), live, ClusterUniverse(live), NOW))
    whole = exhausted(planned_alone(work, a_settled_world(objects), NOW))

    assert msgspec.to_builtins(forked) == msgspec.to_builtins(whole)
    assert told(live) == before


def test_a_score_that_goes_takes_its_cluster_along() -> None:
    scores = a_score("c", {"free": 90})
    select = {"requiredClusterSelector": {"celSelector": {"celExpressions": [SCORES]}}}
    objects = [a_set("global"), a_binding("global"), a_cluster("c", **AVAILABLE), scores]
    live = a_settled_world([*objects, a_placement("p1", predicates=[select])])
    work = PlanWork(deleted=(scores,))

    (found,) = exhausted(planned(work, EVERYTHING, EVERYTHING, live, ClusterUniverse(live), NOW)).placements

    assert [each.name for each in found.lost.clusters] == ["c"]


def test_names_are_cut_and_counts_are_not() -> None:
    objects = [a_set("global"), a_binding("global"), *(a_cluster(f"c{n:03}", **AVAILABLE) for n in range(300))]
    live = a_settled_world(objects)
    work = PlanWork((a_placement("p1"),), most_names=7)

    (found,) = exhausted(planned(work, EVERYTHING, EVERYTHING, live, ClusterUniverse(live), NOW)).placements

    assert (found.gained.count, found.gained.names, found.gained.unnamed) == (
        300,
        tuple(f"c00{n}" for n in range(7)),
        0,
    )
