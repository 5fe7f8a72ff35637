"""FleetEvaluation: counts, rows, values, cost and diagnostics, over every form of what can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.questions.kinds import Refusal
from muster.questions.asked import Scope
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.questions.observing import an_observer, evaluation, named

if TYPE_CHECKING:
    from muster.questions.observer import Observer

LABELS = "managedCluster.metadata.labels"
FLEET = (
    a_cluster("c1", {"cloud": "Amazon", "tier": "gold"}, {"id": "1"}),
    a_cluster("c2", {"cloud": "Azure", "tier": "silver"}, {"id": "2"}),
    a_cluster("c3", {"cloud": "Amazon"}, {"id": "3"}),
    a_cluster("c4", {"tier": "gold"}, taints=[a_taint("gpu")]),
)


@pytest.fixture
def observer() -> Observer:
    return an_observer(*FLEET)


def counts(status: Any) -> tuple[int, int, int]:
    return status["matched"], status["unmatched"], status["failed"]


def test_a_condition_is_counted_as_true_false_and_failed(observer: Observer) -> None:
    status = evaluation(observer, expression=f"{LABELS}.cloud == 'Amazon'")

    assert (counts(status), status["objects"], status["hidden"], status["type"]) == ((2, 1, 1), 4, 0, "bool")
    assert named(status) == ["c1", "c3"]
    assert status["failures"] == [{"error": "NoSuchKey", "count": 1, "message": "no such key: cloud", "example": "c4"}]


def test_rows_say_why_they_do_not_match_with_the_values_that_were_seen(observer: Observer) -> None:
    status = evaluation(observer, expression=f"{LABELS}.cloud == 'Amazon'", rows={"show": "Unmatched"})

    assert [(row["name"], row["verdict"], row["why"]) for row in status["rows"]] == [
        ("c2", "Unmatched", f"'{LABELS}.cloud == 'Amazon'' is false (metadata.labels.cloud = 'Azure')")
    ]


def test_an_expression_that_is_no_condition_matches_where_it_has_a_value_and_its_values_are_counted(
    observer: Observer,
) -> None:
    status = evaluation(observer, expression=f"{LABELS}.tier")

    assert counts(status) == (3, 0, 1)
    assert status["values"] == [{"value": "gold", "count": 2}, {"value": "silver", "count": 1}]
    assert status["valuesInAll"] == 2


def test_values_of_another_expression_are_counted_on_what_matches(observer: Observer) -> None:
    status = evaluation(observer, expression=f"{LABELS}.cloud == 'Amazon'", distinct=f"size({LABELS})", mostValues=1)

    assert status["values"] == [{"value": 1, "count": 1}]
    assert status["valuesInAll"] == 2


def test_rows_are_filtered_sorted_and_paged_with_the_fields_that_are_wanted(observer: Observer) -> None:
    fields = [{"name": "tier", "expression": f"{LABELS}.tier"}, {"expression": "1 + 1"}]
    rows = {"show": "All", "filter": "managedCluster.metadata.name != 'c2'", "sortBy": f"{LABELS}.tier"}

    status = evaluation(observer, rows=rows | {"fields": fields, "offset": 1, "limit": 2})

    assert status["rowsInAll"] == 3
    assert [(row["name"], row.get("fields")) for row in status["rows"]] == [
        ("c4", {"tier": "gold", "1 + 1": 2}),
        ("c3", {"1 + 1": 2}),
    ], "without a value comes last"
    assert counts(status) == (4, 0, 0), "a filter of rows changes no count"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"sortBy": "name"}, ["c1", "c2", "c3", "c4"]),
        ({"sortBy": "name", "descending": True}, ["c4", "c3", "c2", "c1"]),
        ({"sortBy": f"{LABELS}.tier", "descending": True}, ["c2", "c1", "c4", "c3"]),
        ({"sortBy": f"size({LABELS})"}, ["c3", "c4", "c1", "c2"]),
        ({"limit": 0}, []),
        ({"offset": 9}, []),
    ],
)
def test_an_order_is_total_and_equal_ones_go_by_name(
    observer: Observer, rows: dict[str, Any], expected: list[str]
) -> None:
    assert named(evaluation(observer, rows={"show": "All"} | rows)) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"matchLabels": {"cloud": "Amazon"}}, ["c1", "c3"]),
        ({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}, ["c1", "c2", "c4"]),
        ({"labelSelector": {"matchLabels": {"tier": "gold"}}}, ["c1", "c4"]),
        (
            {"claimSelector": {"matchExpressions": [{"key": "id", "operator": "In", "values": ["2", "3"]}]}},
            ["c2", "c3"],
        ),
        ({"celSelector": {"celExpressions": [f"has({LABELS}.cloud)", f"{LABELS}.cloud != 'Azure'"]}}, ["c1", "c3"]),
        ({"celExpressions": [f"{LABELS}.tier == 'silver'"]}, ["c2"]),
        ({"matchIdentities": [{"name": "c2"}, {"name": "c4"}]}, ["c2", "c4"]),
        ({"matchIdentities": []}, []),
        (a_set("s", {"tier": "gold"}), ["c1", "c4"]),
        ({}, ["c1", "c2", "c3", "c4"]),
    ],
)
def test_a_selector_of_any_form_selects_what_it_selects(
    observer: Observer, selector: dict[str, Any], expected: list[str]
) -> None:
    assert named(evaluation(observer, selector=selector)) == expected


def test_of_several_predicates_one_must_hold(observer: Observer) -> None:
    wanted = [
        {"labelSelector": {"matchLabels": {"cloud": "Azure"}}},
        {"labelSelector": {"matchLabels": {"tier": "gold"}}},
    ]
    predicates = [{"requiredClusterSelector": each} for each in wanted]

    status = evaluation(observer, predicates=predicates, rows={"show": "All"})

    assert [row["name"] for row in status["rows"] if row["verdict"] == "Matched"] == ["c1", "c2", "c4"]
    assert [row["why"] for row in status["rows"] if row["verdict"] == "Unmatched"] == [
        "label cloud is 'Amazon'; wanted cloud=Azure (and 1 more predicates do not hold)"
    ]


@pytest.mark.parametrize(
    ("asked", "field", "place"),
    [
        ({"expression": "1 +"}, "spec.expression", (3, 1, 4)),
        ({"expression": "true &&\nnope"}, "spec.expression", (8, 2, 1)),
        (
            {"selector": {"celSelector": {"celExpressions": ["true", "nope"]}}},
            "spec.selector.celSelector.celExpressions[1]",
            (0, 1, 1),
        ),
        (
            {"predicates": [{}, {"requiredClusterSelector": {"celSelector": {"celExpressions": ["nope"]}}}]},
            "spec.predicates[1].requiredClusterSelector.celSelector.celExpressions[0]",
            (0, 1, 1),
        ),
        ({"rows": {"filter": "nope"}}, "spec.rows.filter", (0, 1, 1)),
        ({"rows": {"sortBy": "nope"}}, "spec.rows.sortBy", (0, 1, 1)),
        ({"rows": {"fields": [{"expression": "nope"}]}}, "spec.rows.fields[0].expression", (0, 1, 1)),
        ({"distinct": "nope"}, "spec.distinct", (0, 1, 1)),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    observer: Observer, asked: dict[str, Any], field: str, place: tuple[int, int, int]
) -> None:
    status = evaluation(observer, **asked)

    first = status["diagnostics"][0]
    assert (status["valid"], first["field"], first["severity"]) == (False, field, "error")
    assert (first["from"], first["line"], first["column"]) == place
    assert (counts(status), status["objects"]) == ((0, 0, 0), 4)


@pytest.mark.parametrize(
    "selector", [{"matchLabels": {"a": 1}}, {"celExpressions": [1]}, {"matchPurposes": "x"}, {"a": 1}]
)
def test_what_is_no_selector_is_said_to_be_none(observer: Observer, selector: dict[str, Any]) -> None:
    status = evaluation(observer, selector=selector)

    assert (status["valid"], [each["field"] for each in status["diagnostics"]]) == (False, ["spec.selector"])


def test_the_cost_is_told_against_its_limits(observer: Observer) -> None:
    cost = evaluation(observer, expression=f"{LABELS}.tier.matches('^g')")["cost"]

    assert cost["highest"] > cost["estimateLeast"] - 1
    assert (cost["estimateLimit"], cost["limit"]) == (10_000_000, 1_000_000)


def test_an_expression_that_placements_could_not_have_is_evaluated_and_warned_of(observer: Observer) -> None:
    nested = "[1,2,3,4,5,6,7,8]"
    text = "managedCluster.metadata.annotations.all(a, managedCluster.metadata.annotations.all(b, a + b != a))"
    text = f"has(managedCluster.metadata.annotations) && {text} || {nested}.size() == 8"

    status = evaluation(observer, expression=text)

    assert (status["valid"], counts(status)) == (True, (4, 0, 0))
    assert [each["severity"] for each in status["diagnostics"]] == ["warning"]


def test_a_budget_that_ends_one_object_ends_no_other() -> None:
    many = {f"k{number}": "x" * 60 for number in range(120)}
    text = f"{LABELS}.all(a, {LABELS}.all(b, {LABELS}.all(c, a + b + c != '')))"

    observer = an_observer(a_cluster("large", many), a_cluster("small", {"a": "b"}), seconds=100)
    status = evaluation(observer, expression=text)

    assert counts(status) == (1, 0, 1)
    assert [(each["error"], each["example"]) for each in status["failures"]] == [("BudgetExceeded", "large")]


def test_long_values_are_cut_and_rows_stop_at_a_megabyte() -> None:
    clusters = [a_cluster(f"c{number:03d}", {"n": str(number)}, {"long": "y" * 1000}) for number in range(300)]
    text = "managedCluster.status.clusterClaims[0].value"
    fields = [{"name": f"f{number}", "expression": text} for number in range(8)]

    status = evaluation(an_observer(*clusters), rows={"show": "All", "limit": 300, "fields": fields}, distinct=text)

    assert status["rowsInAll"] == 300
    assert 100 < len(status["rows"]) < 300
    long = evaluation(an_observer(a_cluster("c", {}, {"long": "y" * 5000})), distinct=text)
    assert long["values"] == [{"value": "y" * 256 + "…", "count": 1}]


def test_a_placement_selects_what_its_schedule_selects() -> None:
    placement = a_placement("p", numberOfClusters=1, predicates=[])
    observer = an_observer(*FLEET, a_set("global"), a_binding("global"))

    status = evaluation(observer, placement=placement, rows={"show": "All"})

    assert counts(status) == (1, 3, 0)
    assert [row["name"] for row in status["rows"] if row["verdict"] == "Matched"] == ["c1"]
    everything = evaluation(observer, placement=a_placement("p"))
    assert named(everything) == ["c1", "c2", "c3"], "c4 has a taint"


def test_a_placement_that_is_misconfigured_says_so() -> None:
    selector = {"celSelector": {"celExpressions": ["nope"]}}
    placement = a_placement("p", predicates=[{"requiredClusterSelector": selector}])

    status = evaluation(an_observer(*FLEET, a_set("global"), a_binding("global")), placement=placement)

    assert (status["valid"], status["diagnostics"][0]["field"]) == (False, "spec.placement")
    assert "undeclared reference" in status["diagnostics"][0]["message"]


def test_who_may_get_some_is_told_of_these_and_of_the_others_one_number(observer: Observer) -> None:
    scope = Scope(names=frozenset({"c2", "c4", "gone"}))

    status = evaluation(observer, scope, expression=f"{LABELS}.tier == 'gold'", rows={"show": "All"})

    assert (counts(status), status["objects"], status["hidden"]) == ((1, 1, 0), 2, 2)
    assert named(status) == ["c2", "c4"]


def a_decision(placement: str, namespace: str, *clusters: str) -> dict[str, Any]:
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "PlacementDecision",
        "metadata": {"name": f"{placement}-1", "namespace": namespace, "labels": {PLACEMENT_LABEL: placement}},
        "status": {"decisions": [{"clusterName": each, "reason": ""} for each in clusters]},
    }


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (Scope(everything=True), [2, 1, 0, 0]),
        (Scope(namespaces=frozenset({"apps"})), [1, 1, 0, 0]),
        (Scope(), [0, 0, 0, 0]),
    ],
)
def test_rows_say_how_many_placements_have_decided_for_them_of_those_that_may_be_explained(
    places: Scope, expected: list[int]
) -> None:
    observer = an_observer(*FLEET, a_decision("p", "apps", "c1", "c2", "gone"), a_decision("q", "shops", "c1"))

    asked = evaluation(observer, places=places, rows={"placements": True})
    unasked = evaluation(observer, places=places)

    assert [row["placements"] for row in asked["rows"]] == expected
    assert all("placements" not in row for row in unasked["rows"])


def test_clusters_of_bound_sets_are_counted_and_not_shown() -> None:
    observer = an_observer(*FLEET, a_set("golden", {"tier": "gold"}), a_binding("golden"))
    scope = Scope(names=frozenset({"c1"}), bound="apps")

    status = evaluation(observer, scope, expression=f"{LABELS}.cloud", rows={"show": "All"})

    assert (counts(status), status["objects"], status["unnamed"], status["hidden"]) == ((1, 0, 1), 2, 1, 2)
    assert (named(status), status["failures"]) == (["c1"], [])
    assert status["values"] == [{"value": "Amazon", "count": 1}]


def test_a_world_that_is_still_being_read_answers_nothing(observer: Observer) -> None:
    observer.ready = False

    with pytest.raises(Refusal) as refused:
        evaluation(observer, expression="true")

    assert refused.value.code == 503
