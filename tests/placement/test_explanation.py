"""Explanations: the funnel adds up, and the way of one cluster is what the schedule did."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import muster
from muster.placement.explanation import Check, FunnelStage, ReasonCount, explain_cluster, funnel
from muster.placement.pipeline import STANDARD
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint

CEL = "managedCluster.metadata.labels['version'].matches('^1\\\\.(30|31)') && managedCluster.metadata.name != 'x'"


def requiring(**selectors: Any) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": selectors}]


def result_of(placement: dict[str, Any], *objects: dict[str, Any]) -> Any:
    return muster.select(objects, placement=placement).result


def test_the_funnel_counts_every_cluster_once_by_its_reason() -> None:
    placement = a_placement(
        numberOfClusters=1, predicates=requiring(labelSelector={"matchLabels": {"cloud": "Amazon"}})
    )
    result = result_of(
        placement,
        a_set("all", {"in": "yes"}),
        a_binding("all"),
        a_cluster("a", {"in": "yes", "cloud": "Amazon"}),
        a_cluster("b", {"in": "yes", "cloud": "Amazon"}),
        a_cluster("c", {"in": "yes", "cloud": "Amazon"}, taints=[a_taint("gpu")]),
        a_cluster("d", {"in": "yes"}),
        a_cluster("e", {}),
    )
    assert funnel(result) == (
        FunnelStage("ClusterSets", 5, 4, (ReasonCount("in none of the cluster sets all", 1, ("e",)),)),
        FunnelStage("Predicate", 4, 3, (ReasonCount("predicate 1: labels do not satisfy cloud=Amazon", 1, ("d",)),)),
        FunnelStage("TaintToleration", 3, 2, (ReasonCount("taint gpu:NoSelect is not tolerated", 1, ("c",)),)),
        FunnelStage("Pick", 2, 1, (ReasonCount("fits, but ranks below the 1 that are wanted", 1, ("b",)),)),
    )


def test_a_cluster_is_explained_down_to_the_part_of_the_expression_that_decided() -> None:
    placement = a_placement(predicates=requiring(celSelector={"celExpressions": [CEL]}))
    result = result_of(placement, a_cluster("old", {"version": "1.28.4"}), a_cluster("new", {"version": "1.30.1"}))
    explained = explain_cluster(result, "old")
    assert (explained.selected, explained.rank, explained.total) == (False, None, None)
    (predicate,) = [check for check in explained.checks if check.name == "predicate 1"]
    assert predicate.details == (
        """managedCluster.metadata.labels["version"] = '1.28.4'""",
        """managedCluster.metadata.labels["version"].matches("^1\\\\.(30|31)") = false""",
    )
    new = explain_cluster(result, "new")
    assert (new.selected, new.rank, new.total) == (True, 1, 100)
    assert new.scores == (("Balance", 1, 100), ("Steady", 1, 0))


def test_an_expression_that_failed_says_where() -> None:
    placement = a_placement(predicates=requiring(celSelector={"celExpressions": [CEL]}))
    explained = explain_cluster(result_of(placement, a_cluster("none", {"a": "b"})), "none")
    (predicate,) = [check for check in explained.checks if check.name == "predicate 1"]
    assert predicate.details[0] == 'managedCluster.metadata.labels["version"] failed: no such key: version'


def test_a_disliked_cluster_is_told_what_its_taint_means() -> None:
    explained = explain_cluster(result_of(a_placement(), a_cluster("a", taints=[a_taint("x", "PreferNoSelect")])), "a")
    assert explained.checks[-1] == Check(
        "taints", passed=True, reason="x:PreferNoSelect: ranks after clusters without it"
    )


NAMES = st.sampled_from("abcdef")
FLEETS = st.dictionaries(
    NAMES,
    st.tuples(
        st.dictionaries(st.sampled_from(["in", "cloud", "tier"]), st.sampled_from(["yes", "no"]), max_size=3),
        st.booleans(),
    ),
    max_size=6,
)
PREDICATES = st.lists(
    st.dictionaries(st.sampled_from(["cloud", "tier"]), st.sampled_from(["yes", "no"]), max_size=2), max_size=3
)


@settings(max_examples=80)
@given(fleet=FLEETS, predicates=PREDICATES, number=st.none() | st.integers(0, 4))
def test_counts_add_up_and_the_stage_named_is_the_one_that_removed_the_cluster(
    fleet: dict[str, tuple[dict[str, str], bool]], predicates: list[dict[str, str]], number: int | None
) -> None:
    clusters = [
        a_cluster(name, labels, taints=[a_taint("t")] if tainted else []) for name, (labels, tainted) in fleet.items()
    ]
    wanted = [each for labels in predicates for each in requiring(labelSelector={"matchLabels": labels})]
    placement = a_placement(predicates=wanted, numberOfClusters=number)
    result = result_of(placement, a_set("s", {"in": "yes"}), a_binding("s"), *clusters)
    stages = funnel(result)
    assert stages[0].before == len(fleet)
    for before, after in itertools.pairwise(stages):
        assert before.after == after.before
    for stage in stages:
        assert stage.before - stage.after == sum(reason.count for reason in stage.reasons)
    for name, (labels, tainted) in fleet.items():
        summary = explain_cluster(result, name, STANDARD).summary
        matches = not predicates or any(
            all(labels.get(key) == value for key, value in each.items()) for each in predicates
        )
        if labels.get("in") != "yes":
            assert summary.startswith("it is in none of the placement's cluster sets")
        elif not matches:
            assert summary.startswith("Predicate: ")
        elif tainted:
            assert summary.startswith("TaintToleration: ")
        else:
            assert summary == "selected" or summary.startswith("it fits, but ")
