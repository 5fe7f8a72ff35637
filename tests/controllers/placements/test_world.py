"""Events in, keys out; and what is assumed until it is written."""

from __future__ import annotations

import json
from collections import deque
from datetime import UTC, datetime
from typing import Any

from muster.controllers.placements.world import PLACEMENT_LABEL, Key, PlacementWorld
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.seeing import put, put_cluster, remove

NOW = datetime(2026, 1, 1, tzinfo=UTC)
P1, P2 = Key("apps", "p1"), Key("apps", "p2")


def a_world(*clusters: str, **specs: Any) -> PlacementWorld:
    world = PlacementWorld()
    for name in clusters:
        put_cluster(world, json.dumps(a_cluster(name)).encode())
    put(world, a_set())
    put(world, a_binding())
    for name, spec in specs.items():
        put(world, stored(a_placement(name, **spec), 1))
        deque(world.steps(Key("apps", name)), maxlen=0)
    return world


def stored(obj: dict[str, Any], revision: int) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "uid": "u", "resourceVersion": str(revision)}}


def a_page(owner: str, revision: int, *clusters: str) -> dict[str, Any]:
    metadata = {"name": f"{owner}-decision-1", "namespace": "apps", "labels": {PLACEMENT_LABEL: owner}}
    status = {"decisions": [{"clusterName": name} for name in clusters]}
    return stored({"kind": "PlacementDecision", "metadata": metadata, "status": status}, revision)


def chosen(world: PlacementWorld, key: Key) -> list[str]:
    result = world.decide(key, NOW)
    assert result is not None
    return result.selected


def test_a_heartbeat_wakes_nobody_and_a_deletion_wakes_who_can_see_it() -> None:
    world = a_world("a", p1={})
    beat = a_cluster("a", conditions=[{"type": "x", "status": "True"}])
    assert put_cluster(world, json.dumps(beat).encode()) == frozenset()
    leaving = a_cluster("a")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert P1 in put_cluster(world, json.dumps(leaving).encode())
    assert chosen(world, P1) == []


def test_others_count_what_is_about_to_be_written() -> None:
    world = a_world("a", "b", p1={"numberOfClusters": 1}, p2={"numberOfClusters": 1})
    assert chosen(world, P1) == ["a"]
    assert chosen(world, P2) == ["a"]
    world.assume(P1, ["a"])
    assert chosen(world, P2) == ["b"]
    world.settle(P1)  # it was not written
    assert chosen(world, P2) == ["a"]
    world.assume(P1, ["a"])
    put(world, a_page("p1", 5, "a"))
    world.settle(P1)
    assert chosen(world, P2) == ["b"]
    remove(world, a_page("p1", 5))
    assert chosen(world, P2) == ["a"]


def test_decisions_for_clusters_that_come_back_are_counted_again() -> None:
    world = a_world("a", "b", p2={"numberOfClusters": 1})
    put(world, a_page("p1", 5, "a"))
    assert chosen(world, P2) == ["b"]
    world.remove_cluster("a")
    put_cluster(world, json.dumps(a_cluster("a")).encode())
    assert chosen(world, P2) == ["b"]


def test_time_of_expressions_is_told_once() -> None:
    cel = {"celSelector": {"celExpressions": ["managedCluster.metadata.name == 'a'"]}}
    world = a_world("a", "b", p1={"predicates": [{"requiredClusterSelector": cel}]}, p2={})
    assert chosen(world, P1) == ["a"]
    assert (world.cel_seconds(P1) or 0) > 0
    assert world.cel_seconds(P1) == 0
    assert world.cel_seconds(P2) is None
    assert world.tally.evaluations == 2


def test_the_order_in_which_clusters_came_does_not_change_what_is_said_of_them() -> None:
    failing = {"celSelector": {"celExpressions": ["managedCluster.metadata.labels['nobody'] == 'x'"]}}
    spec = {"predicates": [{"requiredClusterSelector": failing}]}
    results = [a_world(*names, p1=spec).decide(P1, NOW) for names in ("abcde", "edcba")]
    conditions = [result.conditions for result in results if result is not None]
    assert conditions[0] == conditions[1]
    assert conditions[0]["PredicatesEvaluated"].message.startswith("5 clusters are not selected because an expression")


def test_a_placement_that_can_choose_from_no_set_hears_when_the_first_one_is_bound() -> None:
    world = PlacementWorld()
    put(world, a_binding())
    put(world, stored(a_placement("p1", clusterSets=["another"]), 1))
    assert condition_reason(world) == "NoManagedClusterSetBindings"
    assert P1 in put(world, a_set())
    assert condition_reason(world) == "NoIntersection"


def condition_reason(world: PlacementWorld) -> str:
    result = world.decide(P1, NOW)
    assert result is not None
    return result.conditions["PlacementSatisfied"].reason
