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
