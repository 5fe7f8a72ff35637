"""Events in, keys out."""

from __future__ import annotations

import json

from tests.builders import a_cluster
from tests.controllers.placements.worlds import NOW, P1, a_world, chosen
from tests.controllers.seeing import put_cluster


def test_a_heartbeat_wakes_nobody_and_a_deletion_wakes_who_can_see_it() -> None:
    world = a_world("a", p1={})
    beat = a_cluster("a", conditions=[{"type": "x", "status": "True"}])
    assert put_cluster(world, json.dumps(beat).encode()) == frozenset()
    leaving = a_cluster("a")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert P1 in put_cluster(world, json.dumps(leaving).encode())
    assert chosen(world, P1) == []


def test_the_order_in_which_clusters_came_does_not_change_what_is_said_of_them() -> None:
    failing = {"celSelector": {"celExpressions": ["managedCluster.metadata.labels['nobody'] == 'x'"]}}
    spec = {"predicates": [{"requiredClusterSelector": failing}]}
    results = [a_world(*names, p1=spec).decide(P1, NOW) for names in ("abcde", "edcba")]
    conditions = [result.conditions for result in results if result is not None]
    assert conditions[0] == conditions[1]
    assert conditions[0]["PredicatesEvaluated"].message.startswith("5 clusters are not selected because an expression")
