"""Explanations and advice from a live world: within their limits, beside other work, and without a trace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import UNSET

from muster.controllers.duties import DISABLED
from muster.controllers.placements.dry_runs import DryRun
from muster.controllers.placements.keys import SetKey
from muster.controllers.placements.preview import settle, world_of
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import AdviceQuestion, ExplainQuestion, Refusal
from muster.placement.explain.report import Window
from muster.placement.schedule.plan import PLACEMENTS
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.questions.answering import NOW
from tests.controllers.seeing import put_cluster

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from muster.controllers.placements.world import PlacementWorld
    from muster.placement.explain.report import PlacementReport

# Within the limits of an expression, and slow: nested loops over what every cluster here has.
SLOW = "managedCluster.status.clusterClaims.all(a, managedCluster.status.clusterClaims.all(b, a.name != b.value))"


def a_world(*objects: dict[str, Any], clusters: int = 3, claims: int = 0) -> PlacementWorld:
    many = [
        a_cluster(
            f"c{number}", {"cloud": "Amazon", "id": str(number)}, {f"{number}-{each}": "x" for each in range(claims)}
        )
        for number in range(clusters)
    ]
    world = world_of([a_set("global"), a_binding("global"), *many, *objects], NOW)
    settle(world, NOW)
    return world


def asking(*expressions: str, name: str = "trial") -> dict[str, Any]:
    selector = {"celSelector": {"celExpressions": list(expressions)}}
    return a_placement(name, predicates=[{"requiredClusterSelector": selector}])


def wanting_gold() -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"tier": "gold"}}}
    return a_placement(predicates=[{"requiredClusterSelector": selector}])


def ready(world: PlacementWorld, seconds: float = 10.0) -> QuestionService:
    service = QuestionService(world, lambda: NOW, seconds)
    service.ready = True
    return service


def explained(service: QuestionService, placement: dict[str, Any], **wish: Any) -> Coroutine[Any, Any, PlacementReport]:
    return service.explain(ExplainQuestion(placement, dry_run=True, window=Window(), **wish))


def traces(world: PlacementWorld) -> tuple[Any, ...]:
    """What the fleet keeps for those who read it."""
    fleet = world.fleet
    return (set(fleet._columns), set(fleet._masks), set(fleet._subscriptions), dict(world.placements))


def test_a_question_leaves_no_trace_in_the_fleet() -> None:
    world = a_world(a_placement("saved"))
    before = traces(world)

    async def story() -> None:
        service = ready(world)
        await explained(service, asking('managedCluster.metadata.labels["never-read-before"] == "x"'))
        await service.advise(AdviceQuestion(asking('managedCluster.metadata.labels["nor-this"] == "x"'), 10.0))

    asyncio.run(story())
    assert traces(world) == before


def test_an_expression_that_takes_long_is_given_up_and_others_go_on() -> None:
    world = a_world(clusters=80, claims=60)

    async def story() -> tuple[str, int]:
        service = ready(world, seconds=0.3)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        working = asyncio.create_task(others())
        with pytest.raises(Refusal) as refused:
            await explained(service, asking(*[f"{SLOW} || {number} == 0" for number in range(16)]))
        working.cancel()
        return f"{refused.value.code} {refused.value.message}", turns

    said, turns = asyncio.run(story())
    assert said.startswith("504 the placement could not be evaluated within 0.3 seconds: its expressions take long")
    assert turns > 100
    assert set(world.fleet._subscriptions) == {SetKey("global")}


def test_a_cluster_that_changes_during_a_dry_run_wakes_nobody_for_it() -> None:
    world = a_world()

    async def story() -> tuple[Any, list[str]]:
        with await DryRun.of(world, PLACEMENTS.partly(wanting_gold())) as run:
            await run.evaluate()
            told = put_cluster(world, msgspec.json.encode(a_cluster("c1", {"tier": "gold"})))
            return told, run.result(NOW).selected

    assert asyncio.run(story()) == (frozenset(), ["c1"])


def test_expressions_that_take_long_for_one_cluster_are_explained_in_less_detail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("muster.controllers.questions.answering._QUICK", 0.0)  # to which everything takes long
    failing = asking('managedCluster.metadata.labels["x"] == "y"')
    report = asyncio.run(explained(ready(a_world()), failing, cluster="c0"))
    assert report.notes == ("its expressions take long: near misses, failures and single clusters are not explained",)
    assert (report.near_misses, report.failures.count, report.failures.examples) == ((), 3, ())
    assert report.cluster is UNSET


def test_expressions_that_take_too_long_for_one_cluster_are_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.controllers.questions.answering._MOST_PER_CLUSTER", 0.0)

    async def story() -> tuple[int, str]:
        with pytest.raises(Refusal) as refused:
            await explained(ready(a_world()), asking("managedCluster.spec.hubAcceptsClient"))
        return refused.value.code, refused.value.message

    code, said = asyncio.run(story())
    assert code == 504
    assert "seconds for one cluster, more than the 0 that are explained: simplify them" in said


def test_too_many_at_a_time_are_sent_away() -> None:
    world = a_world()

    async def story() -> list[int]:
        service = ready(world)
        asked = [explained(service, a_placement(f"p{number}")) for number in range(40)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        return [each.code for each in answers if isinstance(each, Refusal)]

    refusals = asyncio.run(story())
    assert set(refusals) == {503}
    assert 20 <= len(refusals) < 40


def test_nothing_is_explained_before_the_fleet_has_been_read() -> None:
    async def story() -> int:
        with pytest.raises(Refusal) as refused:
            await explained(QuestionService(a_world(), lambda: NOW), a_placement())
        return refused.value.code

    assert asyncio.run(story()) == 503


def test_a_cluster_that_does_not_exist_is_refused() -> None:
    async def story() -> tuple[int, str]:
        with pytest.raises(Refusal) as refused:
            await explained(ready(a_world()), a_placement(), cluster="nowhere")
        return refused.value.code, refused.value.message

    assert asyncio.run(story()) == (404, "there is no cluster 'nowhere'")


def test_a_placement_that_is_left_alone_says_so() -> None:
    placement = a_placement()
    placement["metadata"]["annotations"] = {DISABLED: "true"}
    report = asyncio.run(explained(ready(a_world()), placement))
    assert report.notes == (f"scheduling is disabled by the annotation {DISABLED}: the decisions stay as they are",)


def test_sets_beyond_the_bindings_are_named_to_those_who_may_know_them() -> None:
    world = a_world(a_set("unbound"))

    async def story() -> list[list[str]]:
        found = []
        for all_sets in (False, True):
            report = await explained(ready(world), a_placement(), cluster="c0", all_sets=all_sets)
            assert report.cluster
            found.append([each.name for each in report.cluster.checks if each.name.startswith("set ")])
        return found

    assert asyncio.run(story()) == [["set global"], ["set global", "set unbound"]]


def test_advice_names_what_no_cluster_has() -> None:
    selector = {"labelSelector": {"matchLabels": {"clod": "Amazon"}}}
    placement = a_placement(predicates=[{"requiredClusterSelector": selector}])
    advice = asyncio.run(ready(a_world()).advise(AdviceQuestion(placement, 10.0)))
    assert [each.message for each in advice.findings] == ["no cluster has the label 'clod'"]


def test_there_is_no_advice_on_a_placement_that_cannot_be_scheduled_at_all() -> None:
    advice = asyncio.run(ready(a_world()).advise(AdviceQuestion(a_placement(numberOfClusters=-1), 10.0)))
    assert advice.findings == ()


def test_advice_on_an_expression_that_takes_long_is_given_up() -> None:
    async def story() -> int:
        service = ready(a_world(clusters=80, claims=60))
        with pytest.raises(Refusal) as refused:
            await service.advise(AdviceQuestion(asking(*[f"{SLOW} || {number} == 0" for number in range(16)]), 0.1))
        return refused.value.code

    assert asyncio.run(story()) == 504


def test_advice_follows_the_fleet() -> None:
    placement = wanting_gold()
    world = a_world()

    async def story() -> None:
        service = ready(world)
        before = await service.advise(AdviceQuestion(placement, 10.0))
        assert [each.code for each in before.findings] == ["no-such-label"]
        put_cluster(world, msgspec.json.encode(a_cluster("new", {"tier": "gold"})))
        async with asyncio.timeout(20):
            while (await service.advise(AdviceQuestion(placement, 10.0))).findings:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.05)  # a copy of so few clusters is soon old

    asyncio.run(story())
