"""The report of a schedule: it says what was decided, page by page, and adds up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.fleet import Fleet
from muster.placement import Cycle, decided, plan_of, schedule, visibility
from muster.placement.explain.report import PlacementReport, Window
from muster.placement.explain.reporting import report_of
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.placement import ScheduleResult

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def scheduled(placement: dict[str, Any], clusters: Sequence[dict[str, Any]], own: Sequence[str] = ()) -> ScheduleResult:
    fleet = Fleet()
    fleet.put_many(msgspec.json.encode(each) for each in clusters)
    plan = plan_of(placement, cel_compiler(fleet.scores))
    seen = visibility("apps", plan.cluster_sets, [a_binding("global")], [a_set("global")])
    return schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, own, {})))


def many(count: int, **more: Any) -> list[dict[str, Any]]:
    return [a_cluster(f"c{number:03}", **more) for number in range(count)]


def wanting(expression: str) -> dict[str, Any]:
    selector = {"celSelector": {"celExpressions": [expression]}}
    return a_placement(predicates=[{"requiredClusterSelector": selector}])


def test_only_the_decisions_of_the_page_are_listed() -> None:
    result = scheduled(a_placement(), many(250))
    first, last = report_of(result, [], Window(0, 150)), report_of(result, [], Window(150, 150))
    assert [(each.name, each.clusters.count, len(each.clusters.clusters)) for each in first.decisions] == [
        ("p1-decision-1", 100, 100),
        ("p1-decision-2", 100, 50),
    ]
    assert [(each.name, each.clusters.count, len(each.clusters.clusters)) for each in last.decisions] == [
        ("p1-decision-2", 100, 50),
        ("p1-decision-3", 50, 50),
    ]
    assert (first.metadata.continue_, last.metadata.continue_) == ("150", "")


def test_a_placement_that_selects_nothing_keeps_its_empty_page() -> None:
    report = report_of(scheduled(wanting("false"), many(3)), ["c000"], Window())
    assert (report.selected, report.diff.lost.clusters) == (0, ("c000",))
    assert sum(each.clusters.count for each in report.decisions) == 0


def test_clusters_on_which_an_expression_failed_stand_apart_from_the_sentence_about_them() -> None:
    report = report_of(scheduled(wanting('managedCluster.metadata.labels["x"] == "y"'), many(5)), [], Window())
    (condition,) = (each for each in report.conditions if each.type == "PredicatesEvaluated")
    assert condition.message == "5 clusters are not selected because an expression failed"
    assert report.failures.count == 5
    assert [each.cluster for each in report.failures.examples] == ["c000", "c001", "c002"]
    assert all("no such key" in each.reason for each in report.failures.examples)


def test_a_misconfigured_placement_loses_nothing() -> None:
    report = report_of(scheduled(a_placement(numberOfClusters=-1), many(2)), ["c000"], Window())
    assert (report.selected, report.diff.gained.count, report.diff.lost.count) == (1, 0, 0)


def test_long_texts_are_cut() -> None:
    report = report_of(scheduled(wanting(f'"{"x" * 5000}" == "y"'), many(1)), [], Window())
    assert max(len(reason.reason) for stage in report.funnel for reason in stage.reasons) <= 1001


CLUSTERS = st.lists(st.tuples(st.sampled_from(["Amazon", "Azure"]), st.booleans()), max_size=12).map(
    lambda kinds: [
        a_cluster(f"c{number}", {"cloud": cloud}, taints=[a_taint("gpu")] if tainted else ())
        for number, (cloud, tainted) in enumerate(kinds)
    ]
)


@settings(max_examples=60)
@given(
    clusters=CLUSTERS,
    number=st.none() | st.integers(0, 6),
    present=st.sets(st.sampled_from([f"c{number}" for number in range(14)])),
    limit=st.integers(1, 5),
)
def test_pages_together_are_the_whole_and_counts_add_up(
    clusters: list[dict[str, Any]], number: int | None, present: set[str], limit: int
) -> None:
    placement = wanting('managedCluster.metadata.labels["cloud"] == "Amazon"')
    if number is not None:
        placement["spec"]["numberOfClusters"] = number
    result = scheduled(placement, clusters, sorted(present))
    pages: list[PlacementReport] = []
    token = "0"
    while token:
        pages.append(report_of(result, sorted(present), Window(int(token), limit)))
        token = pages[-1].metadata.continue_
    first = pages[0]
    assert [name for page in pages for each in page.decisions for name in each.clusters.clusters] == result.selected
    ranked = [each for page in pages for each in page.scores.clusters]
    assert [each.rank for each in ranked] == list(range(1, first.scores.count + 1))
    assert sorted(each.cluster for each in ranked if each.selected) == result.selected
    assert {each.cluster: each.total for each in ranked} == result.total_scores()
    gained = {name for page in pages for name in page.diff.gained.clusters}
    lost = {name for page in pages for name in page.diff.lost.clusters}
    assert (present | gained) - lost == set(result.selected)
    assert first.funnel[0].before == len(clusters)
    for stage, after in zip(first.funnel, [*first.funnel[1:], None], strict=True):
        assert stage.before - stage.after == sum(each.count for each in stage.reasons) + stage.other_count
        assert stage.after == (first.selected if after is None else after.before)
    assert msgspec.json.decode(msgspec.json.encode(first), type=PlacementReport) == first
