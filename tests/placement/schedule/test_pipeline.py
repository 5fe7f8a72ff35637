"""Scheduling: filter, score, pick, spread, group."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.fleet import Fleet, score_of
from muster.placement import Condition, Cycle, ScheduleResult, decided, plan_of, schedule, visibility, why_not
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.selectors import Selector

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def no_cel(expressions: Sequence[str]) -> tuple[Selector, ...]:
    assert not expressions
    return ()


def scheduled(
    placement: Mapping[str, Any],
    *clusters: Mapping[str, Any],
    own: Iterable[str] = (),
    foreign: Mapping[str, int] | None = None,
    scores: Iterable[Mapping[str, Any]] = (),
    sets: Sequence[Mapping[str, Any]] = (a_set(),),
    bindings: Sequence[Mapping[str, Any]] = (a_binding(),),
) -> ScheduleResult:
    fleet = Fleet()
    for score in scores:
        fleet.put_score(score["metadata"]["namespace"], score["metadata"]["name"], score_of(score))
    fleet.advance(NOW)
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    plan = plan_of(placement, no_cel)
    seen = visibility(plan.namespace, plan.cluster_sets, bindings, sets)
    return schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, own, foreign or {})))


def labels_wanted(**labels: str) -> dict[str, Any]:
    return {"requiredClusterSelector": {"labelSelector": {"matchLabels": labels}}}


def test_without_predicates_every_cluster_of_the_bound_sets_is_selected() -> None:
    result = scheduled(a_placement(), a_cluster("b"), a_cluster("a"))
    assert result.selected == ["a", "b"]
    assert result.conditions == {
        "PlacementMisconfigured": Condition("False", "Succeedconfigured", "Placement configurations check pass"),
        "PlacementSatisfied": Condition("True", "AllDecisionsScheduled", "All cluster decisions scheduled"),
    }


def test_predicates_are_ored_and_their_parts_anded() -> None:
    placement = a_placement(predicates=[labels_wanted(cloud="Amazon", tier="gold"), labels_wanted(cloud="Azure")])
    result = scheduled(
        placement,
        a_cluster("a", {"cloud": "Amazon", "tier": "gold"}),
        a_cluster("b", {"cloud": "Amazon"}),
        a_cluster("c", {"cloud": "Azure"}),
    )
    assert result.selected == ["a", "c"]
    assert why_not(result, "a") is None
    assert why_not(result, "b") == (
        "Predicate: predicate 1: label tier is missing; wanted tier=gold; "
        "predicate 2: label cloud is 'Amazon'; wanted cloud=Azure"
    )


def test_a_taint_that_is_not_tolerated_keeps_a_cluster_out_and_says_so() -> None:
    result = scheduled(a_placement(), a_cluster("a", taints=[a_taint("gpu", value="reserved")]), a_cluster("b"))
    assert result.selected == ["b"]
    assert why_not(result, "a") == "TaintToleration: taint gpu=reserved:NoSelect is not tolerated"


def test_a_toleration_with_seconds_ends_in_time() -> None:
    tolerations = [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 60}]
    fresh = a_cluster("fresh", taints=[a_taint("gpu", added="2025-12-31T23:59:30Z")])
    stale = a_cluster("stale", taints=[a_taint("gpu", added="2025-12-31T23:59:00Z")])
    result = scheduled(a_placement(tolerations=tolerations), fresh, stale)
    assert result.selected == ["fresh"]
    assert result.requeue_at == datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)


def test_no_select_if_new_spares_clusters_that_are_decided_already() -> None:
    clusters = [a_cluster(name, taints=[a_taint("x", "NoSelectIfNew")]) for name in "ab"]
    assert scheduled(a_placement(), *clusters, own=["a"]).selected == ["a"]


def test_a_toleration_that_a_decided_cluster_does_not_need_wakes_nobody_when_it_ends() -> None:
    tolerations = [{"key": "x", "operator": "Exists", "tolerationSeconds": 60}]
    tainted = a_cluster("a", taints=[a_taint("x", "NoSelectIfNew", added="2025-12-31T23:59:30Z")])
    fresh = scheduled(a_placement(tolerations=tolerations), tainted)
    assert (fresh.selected, fresh.requeue_at) == (["a"], datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC))
    decided_already = scheduled(a_placement(tolerations=tolerations), tainted, own=["a"])
    assert (decided_already.selected, decided_already.requeue_at) == (["a"], None)


def test_of_several_faults_that_of_the_groups_is_told_as_upstream_does() -> None:
    faulty = a_placement(
        tolerations=[{"operator": "Equal"}],
        decisionStrategy={"groupStrategy": {"clustersPerDecisionGroup": "many"}},
    )
    assert str(scheduled(faulty, a_cluster("a")).fault) == ":many invalid type: string is not a percentage"


def test_clusters_with_prefer_no_select_rank_after_all_others() -> None:
    disliked = a_cluster("a", taints=[a_taint("x", "PreferNoSelect")])
    result = scheduled(a_placement(numberOfClusters=1), disliked, a_cluster("b"), own=["a"])
    assert result.selected == ["b"]


def test_ties_are_broken_by_name_and_the_rest_is_unscheduled() -> None:
    result = scheduled(a_placement(numberOfClusters=3), a_cluster("c10"), a_cluster("c2"))
    assert (result.selected_by_rank, result.unscheduled) == (["c10", "c2"], 1)
    assert result.conditions["PlacementSatisfied"] == Condition(
        "False", "NotAllDecisionsScheduled", "1 cluster decisions unscheduled"
    )


def test_scores_of_add_ons_decide_and_expired_ones_count_nothing() -> None:
    policy = {
        "mode": "Exact",
        "configurations": [
            {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}, "weight": 2}
        ],
    }
    scores = [
        a_score("a", {"cpu": 10}),
        a_score("b", {"cpu": 30}),
        a_score("c", {"cpu": 90}, valid_until="2025-12-31T00:00:00Z"),
    ]
    result = scheduled(a_placement(prioritizerPolicy=policy, numberOfClusters=1), *map(a_cluster, "abc"), scores=scores)
    assert result.total_scores() == {"a": 20, "b": 60, "c": 0}
    assert (result.selected, result.warning) == (["b"], "AddOnPlacementScores c/usage expired")
    assert why_not(result, "a") == (
        "it fits, but 1 of 3 fitting clusters are wanted; its score is 20, 1 clusters have more"
    )


def test_balance_prefers_clusters_with_fewer_foreign_decisions() -> None:
    result = scheduled(a_placement(), *map(a_cluster, "abcd"), foreign={"a": 3, "b": 2, "c": 1})
    assert result.total_scores() == {"a": -100, "b": -32, "c": 32, "d": 100}


def test_allocatable_resources_are_compared_as_quantities() -> None:
    policy = {
        "mode": "Exact",
        "configurations": [{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "ResourceAllocatableCPU"}, "weight": 1}],
    }

    def with_cpu(name: str, amount: str) -> dict[str, Any]:
        return a_cluster(name, allocatable={"cpu": amount}, capacity={"cpu": "64"})

    result = scheduled(
        a_placement(prioritizerPolicy=policy), with_cpu("a", "500m"), with_cpu("b", "10.5"), a_cluster("silent")
    )
    assert result.total_scores() == {"a": -100, "b": 100, "silent": 0}


def test_a_decided_cluster_is_disliked_though_a_new_one_would_be_kept_out() -> None:
    taints = [a_taint("x", "NoSelectIfNew"), a_taint("y", "PreferNoSelect")]
    clusters = [a_cluster("a", taints=taints), a_cluster("b"), a_cluster("c")]
    assert scheduled(a_placement(numberOfClusters=2), *clusters, own=["a"]).selected == ["b", "c"]
    assert scheduled(a_placement(), *clusters, own=["a"]).selected == ["a", "b", "c"]


def test_a_spread_takes_from_the_topology_with_the_fewest() -> None:
    topology = {"a1": "1a", "a2": "1a", "a3": "1a", "b1": "1b"}
    clusters = [a_cluster(name, {"zone": zone}) for name, zone in topology.items()]
    soft = {"spreadConstraints": [{"topologyKey": "zone", "topologyKeyType": "Label"}]}
    assert scheduled(a_placement(spreadPolicy=soft, numberOfClusters=2), *clusters).selected == ["a1", "b1"]
    hard = {"spreadConstraints": [soft["spreadConstraints"][0] | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}
    result = scheduled(a_placement(spreadPolicy=hard, numberOfClusters=4), *clusters)
    assert (result.selected, result.unscheduled) == (["a1", "a2", "b1"], 1)


def test_clusters_that_do_not_say_where_they_are_are_one_topology_however_they_do_not() -> None:
    soft = {"spreadConstraints": [{"topologyKey": "region", "topologyKeyType": "Claim"}]}
    silent = [a_cluster("a", claims={"other": "x"}), a_cluster("b"), {**a_cluster("c"), "status": {}}]
    placement = a_placement(spreadPolicy=soft, numberOfClusters=2)
    assert scheduled(placement, *silent, a_cluster("d", claims={"region": "eu"})).selected == ["a", "d"]


def test_groups_are_filled_in_order_and_cut_to_size() -> None:
    strategy = {
        "groupStrategy": {
            "clustersPerDecisionGroup": 2,
            "decisionGroups": [
                {"groupName": "canary", "groupClusterSelector": {"labelSelector": {"matchLabels": {"tier": "canary"}}}}
            ],
        }
    }
    clusters = [a_cluster(f"c{number}", {"tier": "canary"} if number < 3 else {}) for number in range(5)]
    pages = [
        (page.name, page.group_name, page.group_index, page.clusters)
        for page in scheduled(a_placement(decisionStrategy=strategy), *clusters).pages()
    ]
    assert pages == [
        ("p1-decision-1", "canary", 0, ("c0", "c1")),
        ("p1-decision-2", "canary", 1, ("c2",)),
        ("p1-decision-3", "", 2, ("c3", "c4")),
    ]


def test_decisions_come_in_pages_of_a_hundred() -> None:
    result = scheduled(a_placement(), *(a_cluster(f"c{number:03d}") for number in range(101)))
    assert [len(page.clusters) for page in result.pages()] == [100, 1]
    assert [len(page.clusters) for page in scheduled(a_placement()).pages()] == [0]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {
                "predicates": [
                    {
                        "requiredClusterSelector": {
                            "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}
                        }
                    }
                ]
            },
            "Predicate:values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        ({"tolerations": [{"operator": "Equal"}]}, "TaintToleration:If the key is empty, operator must be Exists."),
        ({"prioritizerPolicy": {"mode": "Best"}}, ":incorrect prioritizer policy mode: Best"),
        ({"numberOfClusters": -1}, ":numberOfClusters must not be negative, it is -1"),
        (
            {"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": "two"}}},
            ":two invalid type: string is not a percentage",
        ),
    ],
)
def test_a_misconfigured_placement_decides_nothing_and_says_why(spec: dict[str, Any], message: str) -> None:
    result = scheduled(a_placement(**spec))
    assert result.groups == ()
    assert result.conditions["PlacementMisconfigured"] == Condition("True", "Misconfigured", message)
    assert result.conditions["PlacementSatisfied"].status == "False"


def test_a_placement_whose_name_is_no_label_value_decides_nothing_and_says_why() -> None:
    named = a_placement()
    named["metadata"]["name"] = "n" * 64
    result = scheduled(named, a_cluster("a"))
    said = "the name has 64 characters, and decisions carry it as a label, which takes 63"
    text = f":{said}: give the placement a shorter one"
    assert (result.groups, result.conditions["PlacementMisconfigured"].message) == ((), text)
    named["metadata"]["name"] = "n" * 63
    assert scheduled(named, a_cluster("a")).selected == ["a"]


def test_a_bound_set_that_cannot_be_evaluated_is_left_out_and_named() -> None:
    broken = a_set("broken", clusterSelector={"selectorType": "Nope"})
    result = scheduled(
        a_placement(), a_cluster("a"), sets=[a_set(), broken], bindings=[a_binding(), a_binding("broken")]
    )
    assert result.selected == ["a"]
    assert result.conditions["ClusterSetsUsable"] == Condition(
        "False",
        "ClusterSetsSkipped",
        "left out because they cannot be evaluated: broken: spec.clusterSelector.selectorType: "
        "selectorType is not right: Nope; no cluster joins by them, and clusters that are decided already stay",
    )


def test_clusters_outside_the_sets_are_told_why() -> None:
    result = scheduled(a_placement(), a_cluster("a"), sets=[a_set("gpu", {"gpu": "yes"})], bindings=[a_binding("gpu")])
    assert why_not(result, "a") == (
        "it is in none of the placement's cluster sets (gpu: label gpu is missing; wanted gpu=yes)"
    )
    assert why_not(scheduled(a_placement(), a_cluster("a"), bindings=[]), "a") == (
        "no cluster set is bound to the placement's namespace"
    )
    assert why_not(result, "nope") == "there is no such cluster"


NAMES = st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=8)


@given(names=NAMES, number=st.none() | st.integers(0, 8), order=st.randoms())
def test_neither_the_order_of_the_fleet_nor_an_unfit_cluster_changes_a_decision(
    names: list[str], number: int | None, order: Any
) -> None:
    clusters = [a_cluster(name, {"zone": name[0]}) for name in names]
    placement = a_placement(
        numberOfClusters=number,
        spreadPolicy={"spreadConstraints": [{"topologyKey": "zone", "topologyKeyType": "Label"}]},
    )
    expected = scheduled(placement, *clusters).selected_by_rank
    shuffled = [*clusters, a_cluster("zzzz", {"zone": "a"}, taints=[a_taint("gpu")])]
    order.shuffle(shuffled)
    assert scheduled(placement, *shuffled).selected_by_rank == expected
    assert len(expected) == (len(names) if number is None else min(number, len(names)))
