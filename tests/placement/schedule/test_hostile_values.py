"""Whatever a cluster, a score or a placement holds: verdicts on others are right, and a mistake removes nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.fleet import Fleet, readable_score, score_of
from muster.placement import (
    Cycle,
    Rule,
    ScheduleResult,
    decided,
    plan_of,
    rule_of,
    schedule,
    visibility,
    visible,
    why_not,
)
from muster.selectors.cel import cel_compiler
from muster.selectors.membership import SETS
from muster.values.faults import Fault
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCORES = Reader(AddOnPlacementScore)
NOW = datetime(2030, 1, 1, tzinfo=UTC)
ODD_TIMES = [
    "2030-01-01T00:00:00+99:00",
    "2030-01-01T00:00:00+24:00",
    "2030-01-01t00:00:00z",
    "2030-12-31T23:59:60Z",
    "9999-12-31T23:59:59-12:00",
    "0000-01-01T00:00:00+12:00",
    "2030-01-01T00:00:00.123456789012345678901234567890Z",
    "9999-12-31T23:59:59Z",
    "yesterday",
]


def scheduled(
    placement: Mapping[str, Any],
    *clusters: Mapping[str, Any],
    own: Sequence[str] = (),
    scores: Sequence[Mapping[str, Any]] = (),
    sets: Sequence[Mapping[str, Any]] = (a_set(),),
) -> ScheduleResult:
    fleet = Fleet()
    for each in scores:
        metadata = each["metadata"]
        fleet.put_score(metadata["namespace"], metadata["name"], readable_score(SCORES.demanded(each))[0])
    fleet.advance(NOW)
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    plan = plan_of(placement, cel_compiler(fleet.scores))
    seen = visibility("apps", plan.cluster_sets, [a_binding(each["metadata"]["name"]) for each in sets], sets)
    return schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, own, {})))


# --------------------------------------------------------------------------------------------------------------- times


@pytest.mark.parametrize("text", ODD_TIMES)
@pytest.mark.parametrize("seconds", [None, 0, 60, -(2**63), 2**63 - 1])
def test_no_time_of_a_taint_and_no_tolerated_time_stops_a_schedule(text: str, seconds: int | None) -> None:
    toleration = {"key": "k", "operator": "Exists"} | ({} if seconds is None else {"tolerationSeconds": seconds})
    tainted = a_cluster("odd", taints=[a_taint("k", added=text)])
    result = scheduled(a_placement(tolerations=[toleration]), tainted, a_cluster("plain"))
    assert "plain" in result.selected


def test_a_taint_whose_time_cannot_be_read_neither_brings_a_cluster_nor_takes_it() -> None:
    placement = a_placement(tolerations=[{"key": "k", "operator": "Exists", "tolerationSeconds": 60}])
    tainted = a_cluster("odd", taints=[a_taint("k", added="2030-01-01T00:00:00+99:00")])
    assert scheduled(placement, tainted, a_cluster("plain")).selected == ["plain"]
    assert scheduled(placement, tainted, a_cluster("plain"), own=["odd"]).selected == ["odd", "plain"]
    # Without an end, the time does not matter.
    endless = a_placement(tolerations=[{"key": "k", "operator": "Exists"}])
    assert scheduled(endless, tainted).selected == ["odd"]


@pytest.mark.parametrize("text", ODD_TIMES)
def test_no_time_of_a_score_stops_a_schedule(text: str) -> None:
    configuration = {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}}
    placement = a_placement(prioritizerPolicy={"mode": "Exact", "configurations": [{**configuration, "weight": 1}]})
    odd, good = a_score("a", {"cpu": 50}, valid_until=text), a_score("b", {"cpu": 10})
    result = scheduled(placement, a_cluster("a"), a_cluster("b"), scores=[odd, good])
    assert result.total_scores()["b"] == 10


def test_a_score_whose_time_cannot_be_read_says_so() -> None:
    with pytest.raises(InvalidObjectError, match=r"status.validUntil: .* is not a time"):
        score_of(a_score("a", {"cpu": 50}, valid_until="2030-01-01T00:00:00+99:00"))


def wanting(label: str) -> dict[str, Any]:
    return {"requiredClusterSelector": {"labelSelector": {"matchLabels": {label: "x"}}}}


# ------------------------------------------------------------------------------------------------------------ amounts


@pytest.mark.parametrize(
    "digits", ["1" * 4301, "-" + "9" * 5000, "9" * 20, "1e999999999", "", "x", "9223372036854775808"]
)
def test_a_score_quantity_may_have_any_number_of_digits(digits: str) -> None:
    score = a_score("a", {"cpu": 5})
    score["status"]["scores"][0]["quantity"] = digits
    assert score_of(score).items == ({"name": "cpu", "value": 5, "quantity": digits},)


def test_a_score_value_stays_within_its_32_bits() -> None:
    values = {"least": -(2**31), "most": 2**31 - 1, "more": 2**63, "less": -(2**80)}
    kept = [item["value"] for item in score_of(a_score("a", values)).items]
    assert kept == [-(2**31), 2**31 - 1, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("amount", ["1e309", "1e308", "-1e309", "1e25", "9" * 5000, "x", "", 10**30, True, [], None])
@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_an_amount_beyond_sense_concerns_its_own_cluster_only(amount: Any, resource: str) -> None:
    def having(name: str, given: Any) -> dict[str, Any]:
        return a_cluster(name, allocatable={resource: given}, capacity={resource: "64"})

    names = {"cpu": "ResourceAllocatableCPU", "memory": "ResourceAllocatableMemory"}
    coordinate = {"type": "BuiltIn", "builtIn": names[resource]}
    policy = {"mode": "Exact", "configurations": [{"scoreCoordinate": coordinate, "weight": 1}]}
    placement = a_placement(prioritizerPolicy=policy)
    good = [having("a", "2"), having("b", "4"), having("c", "6")]
    with np.errstate(all="raise"):
        alone, together = scheduled(placement, *good), scheduled(placement, *good, having("odd", amount))
    assert alone.total_scores() == {"a": -100, "b": 0, "c": 100}
    assert together.total_scores() == {"a": -100, "b": 0, "c": 100, "odd": 0}


@pytest.mark.parametrize("share", ["9" * 400 + "%", "0." + "0" * 400 + "1%", "1000000%", "-5%", "٥%"])
@pytest.mark.parametrize("clusters", [0, 1, 5])
def test_no_size_of_a_group_stops_a_schedule(share: str, clusters: int) -> None:
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": share}}
    result = scheduled(a_placement(decisionStrategy=strategy), *(a_cluster(f"c{number}") for number in range(clusters)))
    assert len(result.selected) == clusters


def test_a_huge_number_in_a_placement_is_a_number() -> None:
    huge = 9223372036854775808
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": huge}}
    result = scheduled(a_placement(numberOfClusters=huge, decisionStrategy=strategy), a_cluster("a"))
    assert (result.selected, len(result.groups)) == (["a"], 1)


@pytest.mark.parametrize(
    "spec",
    [
        {"predicates": 5},
        {"tolerations": [None]},
        {"numberOfClusters": "x"},
        {"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"type": "BuiltIn"}, "weight": 10**30}]}},
        {"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 1.5}}},
        {"spreadPolicy": {"spreadConstraints": [5]}},
        {
            "predicates": [
                {"requiredClusterSelector": {"labelSelector": {"matchLabels": {str(n): "x"}}}} for n in range(1001)
            ]
        },
    ],
)
def test_a_placement_that_makes_no_sense_is_misconfigured_and_nothing_more(spec: dict[str, Any]) -> None:
    result = scheduled(a_placement(**spec), a_cluster("a"))
    assert result.conditions["PlacementMisconfigured"].status == "True"
    assert result.fault is not None


# ---------------------------------------------------------------------------------------------------- sets and mistakes


BROKEN = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Inn"}]}}


def the_rule(cluster_set: dict[str, Any], before: Rule | None = None) -> Rule:
    found = SETS.fitted(cluster_set)
    assert not isinstance(found, Fault)
    return rule_of(found.obj, before, found.fault_in("spec"))


def test_a_set_with_a_mistake_keeps_its_last_good_rule() -> None:
    good = the_rule(a_set("s", {"gold": "yes"}))
    for mistake in (
        BROKEN,
        {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        {"selectorType": "Odd"},
        {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"a": 5}}},
        {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [5]}},
        {"selectorType": "LabelSelector", "labelSelector": 5},
    ):
        kept = the_rule(a_set("s", clusterSelector=mistake), good)
        assert kept.membership == good.membership
        assert kept.fault
        assert the_rule(a_set("s", clusterSelector=mistake)).membership is None


def test_without_a_good_rule_what_is_decided_stays_and_nothing_joins() -> None:
    sets = [a_set("good", {"gold": "yes"}), a_set("odd", clusterSelector=BROKEN)]
    clusters = [a_cluster("a", {"gold": "yes"}), a_cluster("b"), a_cluster("c")]
    result = scheduled(a_placement(), *clusters, own=["b"], sets=sets)
    assert result.selected == ["a", "b"]
    told = result.conditions["ClusterSetsUsable"]
    assert (told.status, told.reason) == ("False", "ClusterSetsSkipped")
    assert "odd: " in told.message
    assert "clusters that are decided already stay" in told.message
    assert "odd: cannot be evaluated" in str(why_not(result, "c"))


def test_with_a_good_rule_the_placement_says_that_it_is_the_last_one() -> None:
    rules = {"odd": the_rule(a_set("odd", clusterSelector=BROKEN), the_rule(a_set("odd", {"gold": "yes"})))}
    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(a_cluster("a", {"gold": "yes"})), msgspec.json.encode(a_cluster("b"))])
    seen = visible((), ["odd"], rules)
    plan = plan_of(a_placement(), cel_compiler(fleet.scores))
    result = schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, ["b"], {})))
    assert result.selected == ["a"]
    assert result.conditions["ClusterSetsUsable"].reason == "LastGoodMembersKept"
    assert seen.eligible_names == ["odd"]


# ------------------------------------------------------------------------------------------------- what people are told


def cel(text: str) -> dict[str, Any]:
    return {"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}


def test_a_cluster_that_another_predicate_selects_is_not_said_to_be_left_out() -> None:
    failing = cel("managedCluster.metadata.labels['nobody'] == 'x'")
    good = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}}
    clusters = [a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})]
    for predicates in ([failing, good], [good, failing]):
        result = scheduled(a_placement(predicates=predicates), *clusters)
        assert result.selected == ["a"]
        assert result.failing is not None
        assert result.cycle.fleet.names(result.failing.tolist()) == ["b"]
        message = result.conditions["PredicatesEvaluated"].message
        assert message.startswith("1 clusters are not selected because an expression failed: ")
    both = scheduled(a_placement(predicates=[failing, good]), clusters[0])
    assert "PredicatesEvaluated" not in both.conditions


def test_a_disliked_cluster_is_told_of_its_taint_and_not_of_its_score() -> None:
    configuration = {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}}
    policy = {"mode": "Exact", "configurations": [{**configuration, "weight": 1}]}
    placement = a_placement(numberOfClusters=1, prioritizerPolicy=policy)
    disliked = a_cluster("best", taints=[a_taint("k", "PreferNoSelect")])
    scores = [a_score("best", {"cpu": 100}), a_score("plain", {"cpu": -100}), a_score("other", {"cpu": -50})]
    result = scheduled(placement, disliked, a_cluster("plain"), a_cluster("other"), scores=scores)
    assert result.selected == ["other"]
    assert why_not(result, "best") == (
        "it fits, but 1 of 3 fitting clusters are wanted; "
        "it has a PreferNoSelect taint that is not tolerated, and the 2 without one come first"
    )
    assert why_not(result, "plain") == (
        "it fits, but 1 of 3 fitting clusters are wanted; its score is -100, 1 clusters have more"
    )


def test_the_highest_scores_do_not_outweigh_a_dislike() -> None:
    configurations = [
        {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": f"s{n}"}}, "weight": 10}
        for n in range(200)
    ]
    placement = a_placement(numberOfClusters=1, prioritizerPolicy={"mode": "Exact", "configurations": configurations})
    most, least = {f"s{n}": 2**31 - 1 for n in range(200)}, {f"s{n}": -(2**31) for n in range(200)}
    clusters = [a_cluster("disliked", taints=[a_taint("k", "PreferNoSelect")]), a_cluster("plain")]
    result = scheduled(placement, *clusters, scores=[a_score("disliked", most), a_score("plain", least)])
    assert result.selected == ["plain"]


def test_conditions_fit_every_server_however_long_the_names_are() -> None:
    names = ["x" * 240 + f"-{number:04}" for number in range(2000)]
    sets = [a_set(name, {"nobody": "x"}) for name in names]
    empty = scheduled(a_placement(), a_cluster("a"), sets=sets).conditions["PlacementSatisfied"]
    assert empty.reason == "AllManagedClusterSetsEmpty"
    unbound = scheduled(a_placement(clusterSets=["é" * 300_000, *names[1:]]), sets=sets[:1]).conditions[
        "PlacementSatisfied"
    ]
    broken = [a_set(name, clusterSelector=BROKEN) for name in names]
    unusable = scheduled(a_placement(), sets=broken).conditions["ClusterSetsUsable"]
    for condition in (empty, unbound, unusable):
        assert len(condition.message.encode()) < 32_768
        assert " more" in condition.message
    text = "managedCluster.metadata.labels['" + "é" * 4000 + "'] == 'x'"
    result = scheduled(a_placement(predicates=[cel(text)]), *(a_cluster(f"c{number}") for number in range(5)))
    assert len(result.conditions["PredicatesEvaluated"].message.encode()) < 32_768
