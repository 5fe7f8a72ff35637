"""Explanations: the funnel adds up, and the way of one cluster is what the schedule did."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import muster
from muster.controllers.placements.timed_selectors import Tally, timed
from muster.fleet import Fleet
from muster.placement import Cycle, decided, plan_of, schedule, visibility
from muster.placement.explain.explanation import FunnelStage, ScorerScore, explain_cluster, explain_placement, funnel
from muster.placement.schedule.pipeline import STANDARD
from muster.placement.schedule.plugins import profile_with
from muster.reasons import Code
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint

if TYPE_CHECKING:
    from collections.abc import Mapping

CEL = "managedCluster.metadata.labels['version'].matches('^1\\\\.(30|31)') && managedCluster.metadata.name != 'x'"


def requiring(**selectors: Any) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": selectors}]


def result_of(placement: dict[str, Any], *objects: dict[str, Any]) -> Any:
    return muster.select(objects, placement=placement).result


def told(stage: FunnelStage) -> list[tuple[Any, ...]]:
    """Why a stage removed clusters: the code, the words, how many, which, and what they have."""
    return [
        (str(each.why.code), each.reason, each.count, each.examples, [tuple(value) for value in each.values])
        for each in stage.reasons
    ]


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
    assert [(stage.name, stage.before, stage.after, *told(stage)) for stage in funnel(result)] == [
        ("ClusterSets", 5, 4, ("InNoSet", "in none of the cluster sets all", 1, ("e",), [("missing", 1)])),
        (
            "Predicate",
            4,
            3,
            ("NoPredicateHolds", "predicate 1: label cloud=Amazon does not hold", 1, ("d",), [("missing", 1)]),
        ),
        ("TaintToleration", 3, 2, ("TaintNotTolerated", "taint gpu:NoSelect is not tolerated", 1, ("c",), [])),
        ("Pick", 2, 1, ("RankTooLow", "fits, but ranks below the 1 that are wanted", 1, ("b",), [])),
    ]


def test_a_cluster_is_explained_down_to_the_part_of_the_expression_that_decided() -> None:
    placement = a_placement(predicates=requiring(celSelector={"celExpressions": [CEL]}))
    result = result_of(placement, a_cluster("old", {"version": "1.28.4"}), a_cluster("new", {"version": "1.30.1"}))
    explained = explain_cluster(result, "old")
    assert (explained.selected, explained.rank, explained.total) == (False, None, None)
    (predicate,) = [check for check in explained.checks if check.name == "predicate 1"]
    assert predicate.details == (
        """labels["version"] = "1.28.4\"""",
        """matches("^1\\\\.(30|31)") = false""",
    )
    new = explain_cluster(result, "new")
    assert (new.selected, new.rank, new.total) == (True, 1, 100)
    assert new.scores == (ScorerScore("Balance", 1, 100), ScorerScore("Steady", 1, 0))


def test_an_expression_that_failed_says_where() -> None:
    placement = a_placement(predicates=requiring(celSelector={"celExpressions": [CEL]}))
    explained = explain_cluster(result_of(placement, a_cluster("none", {"a": "b"})), "none")
    (predicate,) = [check for check in explained.checks if check.name == "predicate 1"]
    assert predicate.details == ('labels["version"] failed: no such key: version',)


def test_a_disliked_cluster_is_told_what_its_taint_means() -> None:
    explained = explain_cluster(result_of(a_placement(), a_cluster("a", taints=[a_taint("x", "PreferNoSelect")])), "a")
    reason = "x:PreferNoSelect: ranks after clusters without it"
    check = explained.checks[-1]
    assert (check.name, check.passed, check.reason, check.field) == ("taints", True, reason, "spec.tolerations")
    assert check.why.code == Code.TAINTS_DISLIKED


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


def test_conditions_of_an_expression_are_counted_each_by_itself() -> None:
    text = "has(managedCluster.metadata.labels.env) && managedCluster.metadata.labels.env == 'prod'"
    placement = a_placement(predicates=requiring(celSelector={"celExpressions": [text]}))
    result = result_of(
        placement, a_cluster("a", {"env": "prod"}), a_cluster("b", {"env": "dev"}), a_cluster("c", {"x": "y"})
    )
    assert told(funnel(result)[1]) == [
        ("NoPredicateHolds", "predicate 1: 'has(labels.env)' is false", 1, ("c",), []),
        ("NoPredicateHolds", "predicate 1: 'labels.env == \"prod\"' is false", 1, ("b",), [("dev", 1)]),
    ]


def test_explaining_leaves_nothing_behind_in_the_fleet() -> None:
    text = "managedCluster.metadata.labels.env == 'prod' && managedCluster.metadata.name != 'x'"
    fleet = Fleet()
    fleet.put_many([msgspec.json.encode(a_cluster("a", {"env": "dev"}))])
    plan = plan_of(
        a_placement(predicates=requiring(celSelector={"celExpressions": [text]})),
        timed(cel_compiler(fleet.scores), Tally()),
    )
    fleet.subscribe("placement", plan.selectors, plan.paths)
    seen = visibility("apps", (), [a_binding()], [a_set()])
    result = schedule(Cycle(plan, fleet, seen, datetime(2026, 1, 1, tzinfo=UTC), decided(fleet, (), {})))
    explanation = explain_placement(result)
    assert explanation.funnel[1].reasons[0].reason == "predicate 1: 'labels.env == \"prod\"' is false"
    assert explain_cluster(result, "a").checks[1].details == ('labels.env = "dev"', 'labels.env == "prod" is false')
    assert fleet.put(msgspec.json.encode(a_cluster("a", {"env": "prod"}))) == {"placement"}
    assert fleet.put(msgspec.json.encode(a_cluster("a", {"env": "prod", "tier": "x"}))) == frozenset()


def test_the_cut_is_explained_from_both_sides() -> None:
    names = ["a", "b", "c"]
    placement = a_placement(numberOfClusters=1)
    result = result_of(placement, *(a_cluster(name) for name in names))
    assert {name: explain_cluster(result, name).cut for name in names} == {
        "a": "above the cut: 1 of 3 that fit are taken (1 wanted); the first that is not taken is b with 100",
        "b": "below the cut: 1 of 3 that fit are taken (1 wanted); the last one taken is a with 100; "
        "equal scores go by name",
        "c": "below the cut: 1 of 3 that fit are taken (1 wanted); the last one taken is a with 100; "
        "equal scores go by name",
    }
    disliked = result_of(placement, a_cluster("a", taints=[a_taint("x", "PreferNoSelect")]), a_cluster("b"))
    assert explain_cluster(disliked, "a").cut.endswith(
        "the last one taken is b with 100; a cluster with a PreferNoSelect taint ranks after all without one"
    )
    nothing = result_of(a_placement(numberOfClusters=0), a_cluster("a"))
    assert explain_cluster(nothing, "a").cut == "below the cut: none of 1 that fit is taken (0 wanted)"


def test_a_spread_says_whom_it_leaves_out_and_why() -> None:
    constraint = {"topologyKey": "zone", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"}
    placement = a_placement(numberOfClusters=2, spreadPolicy={"spreadConstraints": [constraint]})
    clusters = [
        a_cluster("a", {"zone": "1"}),
        a_cluster("b", {"zone": "1"}),
        a_cluster("c", {"zone": "2"}),
        a_cluster("d"),
    ]
    result = result_of(placement, *clusters)
    assert result.selected == ["a", "c"]
    assert {reason.reason: reason.examples for reason in funnel(result)[-1].reasons} == {
        "fits and scores high enough, but would spread the placement unevenly over metadata.labels.zone": ("b",),
        "fits, but has no metadata.labels.zone, over which the placement must be spread": ("d",),
    }
    assert explain_cluster(result, "d").stage == "Pick"


def test_sets_that_have_the_cluster_and_cannot_be_seen_are_named() -> None:
    objects = [
        a_set("bound", {"in": "yes"}),
        a_binding("bound"),
        a_set("other", {"env": "dev"}),
        a_set("third", {"x": "y"}),
    ]
    why = muster.explain([*objects, a_cluster("a", {"env": "dev"})], a_placement(), cluster="a")
    assert [(check.name, check.reason) for check in why.checks if check.name.startswith("set")] == [
        (
            "set bound",
            "label in is missing; wanted in=yes (bound by ManagedClusterSetBinding apps/bound)",
        ),
        (
            "set other",
            "has the cluster, but no ManagedClusterSetBinding apps/other lets the placement see it",
        ),
    ]


class _Even:
    name = "Even"

    def why_not(self, cluster: Mapping[str, Any]) -> str | None:
        return None if int(cluster["metadata"]["name"]) % 2 == 0 else "odd"


def test_filters_of_plugins_are_explained_in_their_own_words() -> None:
    profile = profile_with({"Even": _Even})
    fleet = Fleet()
    fleet.put_many(msgspec.json.encode(a_cluster(str(number))) for number in range(4))
    plan = plan_of(a_placement(), cel_compiler(fleet.scores))
    seen = visibility("apps", (), [a_binding()], [a_set()])
    result = schedule(Cycle(plan, fleet, seen, datetime(2026, 1, 1, tzinfo=UTC), decided(fleet, (), {})), profile)
    found = explain_placement(result, profile)
    assert told(found.funnel[3]) == [("FilterObjects", "odd", 2, ("1", "3"), [])]
    assert found.funnel[3].reasons[0].bare == "removed by Even"
    assert [(miss.cluster, miss.failures, miss.stage) for miss in found.near_misses] == [
        ("1", 1, "Even"),
        ("3", 1, "Even"),
    ]
    check = explain_cluster(result, "1", profile).checks[-1]
    assert (check.name, check.passed, check.reason) == ("Even", False, "odd")
