"""ClusterExplanation: what each placement makes of a cluster, without scoring everybody where that is not needed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from muster.controllers.placements.preview import settle, world_of
from muster.demo import Fleet, fleet_objects
from muster.placement.explain.explanation import explain_cluster
from muster.placement.schedule import pipeline
from muster.questions.asked import Question, Scope
from muster.questions.observer import Observer
from muster.reasons import sentence
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.controllers.questions.answering import NOW

if TYPE_CHECKING:
    import pytest

EVERYTHING = Scope(everything=True, sets=None)


def explained(observer: Observer, name: str) -> Any:
    spec = msgspec.Raw(msgspec.json.encode({"name": name, "limit": 500}))
    body = msgspec.json.encode(Question("ClusterExplanation", spec, "ada", EVERYTHING, EVERYTHING))
    return msgspec.json.decode(asyncio.run(observer.answer(body)))


def test_a_cluster_is_told_the_same_as_by_an_explanation_of_each_placement() -> None:
    world = world_of(list(fleet_objects(Fleet())), NOW)
    settle(world, NOW)
    observer = Observer(world, lambda: NOW)
    observer.ready = True
    names = list(world.fleet.names(world.fleet.rows().tolist()))
    assert len(names) == 48

    seen = set()
    for name in names:
        for told in explained(observer, name)["placements"]:
            key = next(each for each in world.placements if each.name == told["name"])
            result = world.decide(key, NOW)
            assert result is not None
            way = explain_cluster(result, name)
            expected = (way.selected, way.stage, str(way.why.code), sentence(way.why))
            assert (told["selected"], told["stage"], told["code"], told["reason"]) == expected
            seen.add(way.stage)
    assert {"", "ClusterSets", "Predicate", "Pick"} <= seen


def test_before_anything_is_evaluated_a_cluster_is_told_the_same() -> None:
    leaving = a_cluster("leaving", {"cloud": "Amazon"})
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    predicate = {"celSelector": {"celExpressions": ["managedCluster.metadata.labels.cloud == 'Amazon'"]}}
    objects = [
        *fleet_objects(Fleet()),
        leaving,
        a_cluster("bare"),
        a_set("broken", clusterSelector={"selectorType": "Unheard"}),
        a_binding("broken", "apps"),
        a_placement("cel", "apps", predicates=[{"requiredClusterSelector": predicate}]),
        a_placement("of-broken", "apps", clusterSets=["broken"]),
    ]
    evaluated = world_of(objects, NOW)
    for key in evaluated.placements:
        for _ in evaluated.steps(key):
            pass
    expected = Observer(evaluated, lambda: NOW)
    expected.ready = True
    for name in evaluated.fleet.names(evaluated.fleet.rows().tolist()):
        fresh = Observer(world_of(objects, NOW), lambda: NOW)
        fresh.ready = True
        assert explained(fresh, name) == explained(expected, name)


def test_no_other_cluster_is_evaluated_for_one_that_is_in_no_set() -> None:
    predicate = {"celSelector": {"celExpressions": ["managedCluster.metadata.name != 'a'"]}}
    placement = a_placement("p", predicates=[{"requiredClusterSelector": predicate}])
    clusters = [a_cluster(f"c{number}", {"in": "yes"}) for number in range(50)]
    world = world_of([a_set("s", {"in": "yes"}), a_binding("s"), a_cluster("a"), *clusters, placement], NOW)
    observer = Observer(world, lambda: NOW)
    observer.ready = True
    assert [each["stage"] for each in explained(observer, "a")["placements"]] == ["ClusterSets"]
    assert world.plans.tally.evaluations == 0
    assert [each["selected"] for each in explained(observer, "c1")["placements"]] == [True]
    assert world.plans.tally.evaluations >= 50


def test_nobody_is_scored_for_a_cluster_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    placements = [a_placement(f"p{number}") for number in range(50)]
    tainted = a_cluster("tainted", taints=[a_taint("gpu")])
    world = world_of([a_set("s", {}), a_binding("s"), tainted, a_cluster("good"), *placements], NOW)
    observer = Observer(world, lambda: NOW)
    observer.ready = True
    schedules: list[Any] = []
    real = pipeline.schedule

    def counted(*given: Any) -> Any:
        schedules.append(given)
        return real(*given)

    monkeypatch.setattr("muster.controllers.placements.world.schedule", counted)

    told = explained(observer, "tainted")["placements"]

    assert ({(each["selected"], each["stage"]) for each in told}, len(told)) == ({(False, "TaintToleration")}, 50)
    assert schedules == []
    assert all(each["selected"] for each in explained(observer, "good")["placements"])
