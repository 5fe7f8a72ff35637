"""The machinery of comparisons, with peers that are functions: differences are found, shrunk and reported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set
from tests.conformance.ocm_world import World
from tests.differential.dropping import shrunk
from tests.differential.lockstep import Asking, Comparison, Outcome, answer_of, compare, outcomes
from tests.differential.olm import COMPARISONS
from tests.differential.peer import Lost, Peer
from tests.differential.placement import PLACEMENTS
from tests.differential.placement.questions import AS_SPECIFIED, BAD_SET, EXPIRED, LONG, question
from tests.differential.placement.spreading import spread_out
from tests.differential.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def a_peer(answer: Callable[[Any], Any]) -> Peer:
    class Asked:
        def ask(self, asked: Sequence[Any]) -> list[Any]:
            return [answer(each) for each in asked]

        def stop(self) -> None:
            pass

    return cast("Peer", Asked())


def summed(case: list[int]) -> Asking:
    """Two questions: the sum, and, if it is the same, the length."""
    theirs = answer_of((yield {"sum": case}))["is"]
    if theirs != sum(case):
        return Outcome(differences=[f"sum: {sum(case)} instead of {theirs}"])
    length = answer_of((yield {"length": case}))["is"]
    return Outcome(rules={"lengths count from one"} if length == len(case) + 1 else set())


SUMS = Comparison(lambda seed, number: [seed, number, 7], summed)


def right(asked: Any) -> Any:
    return {"is": sum(asked["sum"]) if "sum" in asked else len(asked["length"])}


def test_cases_that_agree_are_equal_and_the_time_is_not_needed_for_one_batch() -> None:
    report = Report("sums", 3)
    compare(SUMS, report, a_peer(right), programs=None, seconds=0.0)
    assert (report.compared, report.equal, report.good) == (32, 32, True)


def test_a_difference_is_shrunk_to_what_makes_it_and_fails_the_report() -> None:
    wrong = a_peer(lambda asked: {"is": -1} if 7 in asked.get("sum", ()) else right(asked))
    report = Report("sums", 3)
    compare(SUMS, report, wrong, programs=1, seconds=None)
    (difference,) = report.differences
    assert (json.loads(difference.program), difference.ours, difference.theirs) == ([7], "sum: 7", "-1")
    assert difference.what == "sum, case 0"
    assert not report.good


def test_rules_are_counted_and_questions_without_an_answer_are_lost() -> None:
    report = Report("sums", 1)
    compare(SUMS, report, a_peer(lambda asked: {"is": 4} if "length" in asked else right(asked)), 5, None)
    assert (report.equal, dict(report.rules)) == (0, {"lengths count from one": 5})
    assert outcomes(SUMS, a_peer(lambda _: Lost("gone")), [[1]]) == [None]
    assert outcomes(SUMS, a_peer(lambda _: {"panic": "out of range"}), [[1]]) == [None]


def test_shrinking_ends_with_what_cannot_be_left_out() -> None:
    case = {"clusters": [{"spec": {"a": 1, "b": 2}}, {"spec": {"c": 3}}], "now": "x"}
    assert shrunk(case, lambda each: "b" in str(each)) == {"clusters": [{"spec": {"b": 2}}], "now": "x"}


def test_the_same_seed_makes_the_same_cases() -> None:
    for comparison in (PLACEMENTS, *COMPARISONS.values()):
        assert [comparison.case_of(8, n) for n in range(5)] == [comparison.case_of(8, n) for n in range(5)]
        assert comparison.case_of(8, 0) != comparison.case_of(9, 0)


def a_world(**spec: Any) -> World:
    broken = {
        "selectorType": "LabelSelector",
        "labelSelector": {"matchExpressions": [{"key": "x", "operator": "Near"}]},
    }
    return World(
        {
            "now": "2026-01-01T00:00:00Z",
            "clusters": [a_cluster("a")],
            "clusterSets": [a_set(), a_set("broken", clusterSelector=broken)],
            "clusterSetBindings": [a_binding(), a_binding("broken")],
            "addOnPlacementScores": [a_score("a", {"cpu": 1}, valid_until="2025-12-31T00:00:00Z")],
            "placement": a_placement(**spec),
        }
    )


def test_upstream_is_asked_in_its_own_words_for_what_we_read() -> None:
    spelled = "scores(managedCluster, 'usage').exists(s, s.value > 0)"
    predicate = {"requiredClusterSelector": {"celSelector": {"celExpressions": [spelled]}}}
    tolerations = [{"key": "x", "operator": "Exists", "tolerationSeconds": 10**10}]
    world = a_world(predicates=[predicate], tolerations=tolerations)
    world.own = ["a"]
    asked, rules = question(world)
    assert rules == [AS_SPECIFIED, EXPIRED, LONG, BAD_SET]
    assert "managedCluster.scores('usage')" in str(asked["placement"])
    assert asked["addOnPlacementScores"] == []
    assert "tolerationSeconds" not in str(asked["placement"])
    assert "Near" not in str(asked["clusterSets"])
    assert spelled in str(world.placement)  # what we get ourselves is as it was
    assert question(a_world(clusterSets=["global"]))[1] == []


def test_the_model_of_spreading_takes_turns_and_stops_at_the_skew() -> None:
    clusters = [a_cluster(name, {"zone": zone}) for name, zone in zip("abcd", "xxxy", strict=True)]
    term = {"topologyKey": "zone", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    assert spread_out(clusters, [term], 3) == ["a", "d", "b"]
    assert spread_out(clusters, [term | {"whenUnsatisfiable": "DoNotSchedule"}], 4) == ["a", "d", "b"]
