"""ClassificationPreview: what a query or a classification makes of the hosts that the asker may get."""

from __future__ import annotations

from typing import Any

import pytest

from tests.questions.previewing import HOSTS, Object, a_host, a_query, asked, rule

PREFIX = "inventoryclassification.agent-install.openshift.io/"
APPLIED = f"{PREFIX}applied"
EVERYTHING = [rule("agents", "get"), rule("agentclassifications", "get")]
FLEET = [
    a_host("h1", {"cpu": {"count": 2}}),
    a_host("h2", {"cpu": {"count": 16}}),
    a_host("h3", {"cpu": {"count": 64}}),
    a_host("h4", {"cpu": "broken"}),
    a_host("other", {"cpu": {"count": 64}}, namespace="elsewhere"),
]
BIG = a_query("big", ".cpu.count > 8")


def preview(spec: Object, *objects: Object, rules: list[Object] | None = None, **more: Any) -> Any:
    given = EVERYTHING if rules is None else rules
    return asked([*FLEET, *objects], given, "ClassificationPreview", {"namespace": "hosts", **spec}, **more)


def rows(status: Any, *fields: str) -> list[tuple[Any, ...]]:
    return [(each["name"], *(each.get(field) for field in fields)) for each in status["rows"]]


def test_a_query_says_which_hosts_match_which_do_not_and_on_which_it_fails() -> None:
    status = preview({"query": ".cpu.count > 8"})

    assert [status[name] for name in ("valid", "hosts", "hidden", "matched", "unmatched", "failed")] == [
        True,
        4,
        0,
        2,
        1,
        1,
    ]
    assert rows(status, "verdict", "values", "error") == [
        ("h1", "Unmatched", [False], None),
        ("h2", "Matched", [True], None),
        ("h3", "Matched", [True], None),
        ("h4", "Failed", None, 'expected an object but got: string ("broken")'),
    ]
    assert (status["gained"], status["lost"], status["classifications"]) == (0, 0, [])


def test_what_is_neither_true_nor_false_is_shown() -> None:
    status = preview({"query": ".cpu.count?", "rows": {"limit": 2}})

    assert rows(status, "values", "code") == [("h1", [2], "QueryNotBoolean"), ("h2", [16], "QueryNotBoolean")]
    assert status["rowsInAll"] == 4
    several = preview({"query": "1, 2, 3, 4, 5, 6, 7", "rows": {"limit": 1}})
    assert several["rows"][0]["values"] == [1, 2, 3, 4, 5]


def test_a_query_that_does_not_compile_is_told_with_its_place() -> None:
    status = preview({"query": ".cpu\n.count ("})

    assert (status["valid"], status["hosts"], status["failed"]) == (False, 4, 4)
    assert status["diagnostics"] == [
        {
            "field": "spec.query",
            "message": 'unexpected token "("',
            "severity": "error",
            "from": 12,
            "to": 13,
            "line": 2,
            "column": 8,
        }
    ]


def test_a_classification_that_is_not_saved_says_which_labels_hosts_would_get() -> None:
    labelled = a_host("h5", {"cpu": {"count": 1}}, **{f"{PREFIX}size": "big"})
    labelled["metadata"]["annotations"] = {APPLIED: '{"size":"big"}'}

    status = preview({"classification": BIG}, labelled)

    assert (status["gained"], status["lost"], status["changed"]) == (3, 1, 0)
    assert rows(status, "before", "after") == [
        ("h1", None, None),
        ("h2", None, "big"),
        ("h3", None, "big"),
        ("h4", None, "QUERYERROR-big"),
        ("h5", "big", None),
    ]
    fare = status["classifications"][0]
    assert (fare["name"], fare["key"], fare["value"], fare["matched"], fare["errors"]) == ("big", "size", "big", 2, 1)


def test_a_saved_one_is_asked_about_by_name_and_changes_nothing_when_labels_are_right() -> None:
    right = a_host("h9", {"cpu": {"count": 32}}, **{f"{PREFIX}size": "big"})

    status = preview({"name": "big", "rows": {"show": "Changed"}}, BIG, right)

    assert rows(status, "after") == [("h2", "big"), ("h3", "big"), ("h4", "QUERYERROR-big")]
    assert preview({"name": "none"}, BIG)["refused"] == 404


def test_who_is_in_the_way_of_whom_is_told() -> None:
    first = a_query("a-first", ".cpu.count > 32", value="huge")
    by_hand = a_host("h6", {"cpu": {"count": 10}}, **{f"{PREFIX}size": "mine"})

    status = preview({"classification": BIG}, first, by_hand, a_query("c", "true", key="colour"))

    assert status["conflicts"] == [
        {
            "namespace": "hosts",
            "classification": "big",
            "key": "size",
            "value": value,
            "by": by,
            "count": 1,
            "examples": [host],
        }
        for value, by, host in (("huge", "a-first", "h3"), ("mine", "", "h6"))
    ]
    assert [each["name"] for each in status["classifications"]] == ["a-first", "big"]  # colour is another matter
    assert [each.get("taken") for each in status["rows"]][2:] == [
        {"value": "huge", "by": "a-first"},
        None,
        {"value": "mine", "by": ""},
    ]


def test_a_change_of_a_saved_one_takes_its_place() -> None:
    status = preview({"classification": a_query("big", ".cpu.count > 32")}, BIG)

    assert (status["matched"], [each["name"] for each in status["classifications"]]) == (1, ["big"])
    other = preview({"classification": a_query("big", "true", value="large")}, BIG)
    assert (other["valid"], other["diagnostics"][0]["field"]) == (False, "spec.classification.spec")
    assert "cannot be changed" in other["diagnostics"][0]["message"]


def test_given_classifications_count_instead_of_the_saved() -> None:
    rival = a_query("a", "true", value="all", namespace="")

    status = preview({"classification": BIG, "among": [rival]}, a_query("0", "true", value="zero"))
    alone = preview({"classification": BIG, "among": []}, a_query("0", "true", value="zero"))

    assert [each["name"] for each in status["classifications"]] == ["a", "big"]
    assert [each["name"] for each in alone["classifications"]] == ["big"]


def test_all_classifications_together_are_what_the_command_classify_says() -> None:
    status = preview({}, BIG, a_query("colour", "true", key="colour", value="red"))

    first = status["rows"][1]
    assert (first["labels"], first["changes"]) == ({"colour": "red", "size": "big"}, {"colour": "red", "size": "big"})
    assert [(each["classification"], each["verdict"]) for each in first["outcomes"]] == [
        ("big", "Matched"),
        ("colour", "Matched"),
    ]
    assert [(each["name"], each["matched"]) for each in status["classifications"]] == [("big", 2), ("colour", 4)]


def test_one_host_is_explained_with_the_values_of_the_parts() -> None:
    status = preview({"query": ".cpu.count > 8", "host": "h2", "explain": True})

    assert rows(status, "parts") == [
        (
            "h2",
            [
                {"text": ".cpu", "values": [{"count": 16}], "more": 0},
                {"text": ".cpu.count", "values": [16], "more": 0},
                {"text": ".cpu.count > 8", "values": [True], "more": 0},
            ],
        )
    ]
    assert [(each["verdict"], each["count"], len(each["parts"])) for each in status["outcomes"]] == [
        ("Matched", 2, 3),
        ("Failed", 1, 1),
        ("Unmatched", 1, 3),
    ]


def test_rows_come_in_pages() -> None:
    query = {"query": "true", "rows": {"offset": 1, "limit": 2}}

    assert [each["name"] for each in preview(query)["rows"]] == ["h2", "h3"]
    assert [each["name"] for each in preview({"query": ".cpu.count > 8", "rows": {"show": "Failed"}})["rows"]] == ["h4"]


def test_only_hosts_that_the_asker_may_get_are_looked_at() -> None:
    some = [rule("agents", "get", names=["h1", "h2"]), rule("agentclassifications", "get", names=["other"])]

    status = preview({"classification": BIG}, a_query("a-first", "true", value="huge"), rules=some)

    assert rows(status, "after") == [("h1", None), ("h2", "big")]
    assert (status["hosts"], status["hidden"], status["hiddenClassifications"]) == (2, 2, 1)
    assert status["conflicts"] == []


def test_names_that_may_not_be_got_are_refused_whether_they_are_there_or_not() -> None:
    some = [rule("agents", "get", names=["h1"]), rule("agentclassifications", "get", names=["other"])]

    for spec in ({"name": "big"}, {"name": "none"}, {"query": "true", "host": "h2"}, {"query": "true", "host": "no"}):
        assert preview(spec, BIG, rules=some)["refused"] == 403
    assert preview({"query": "true", "host": "nobody"})["refused"] == 404


def test_without_a_namespace_all_are_asked_where_the_asker_may() -> None:
    spec = {"namespace": "", "query": ".cpu.count > 8"}

    everywhere = preview(spec)
    bound = asked(FLEET, EVERYTHING, "ClassificationPreview", spec, namespace="elsewhere")

    assert (everywhere["hosts"], everywhere["matched"]) == (5, 3)
    assert (bound["hosts"], bound["hidden"], [each["name"] for each in bound["rows"]]) == (1, 4, ["other"])


def test_a_runaway_is_ended_by_its_budget_and_paused_after_three() -> None:
    status = preview({"classification": a_query("slow", "[range(1e9)] | length > 1")})

    assert (status["failed"], status["matched"]) == (4, 0)
    fare = status["classifications"][0]
    paused = [each for each in fare["conditions"] if each["type"] == "QueryPaused"]
    assert [each["status"] for each in paused] == ["True"]


def test_a_query_that_is_set_aside_is_not_asked_again() -> None:
    def holds(kind: str, metadata: Any) -> object:
        return (kind, metadata.name) if metadata.name == "big" else None

    for spec in ({"name": "big"}, {"query": BIG["spec"]["query"]}, {"classification": {**BIG, "metadata": {}}}):
        assert preview(spec, BIG, holds=holds)["refused"] == 409
    assert preview({"query": "true"}, BIG, holds=holds)["matched"] == 4


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"spec": {"labelKey": "a b", "labelValue": "x", "query": "true"}}, "spec.classification.spec"),
        ({"spec": {"labelKey": "a", "labelValue": "x", "query": 5}}, "spec.classification.spec.query"),
        ({"spec": {"labelKey": "a", "labelValue": "x", "query": "." * 65_537}}, "spec.classification.spec.query"),
        ({}, "spec.classification.spec"),
    ],
)
def test_what_cannot_be_used_is_an_answer(given: Object, field: str) -> None:
    status = preview({"classification": given})

    assert (status["valid"], status["diagnostics"][0]["field"]) == (False, field)
    assert status["gained"] == status["failed"] if field.endswith("query") else status["gained"] == 0


def test_the_namespace_may_be_that_of_the_classification() -> None:
    spec = {"namespace": "", "classification": BIG}

    assert preview(spec)["hosts"] == 4
    assert preview({**spec, "namespace": "elsewhere"})["refused"] == 422


def test_the_group_of_hosts_is_theirs() -> None:
    wrong = [rule("agents", "get", group="other.io"), rule("agentclassifications", "get", group="other.io")]

    assert (HOSTS, preview({"query": "true"}, rules=wrong)["hosts"]) == ("agent-install.openshift.io", 0)


def a_reported_host(name: str, cpus: int) -> Object:
    metadata = {"name": name, "namespace": "hosts", "resourceVersion": "1"}
    spec = {"hardware": {"cpu": {"count": cpus}}}
    return {"apiVersion": "metal3.io/v1alpha1", "kind": "HardwareData", "metadata": metadata, "spec": spec}


def test_hosts_that_others_report_are_previewed_by_who_may_get_them() -> None:
    reported = [a_reported_host("m1", 64), a_reported_host("m2", 1), a_reported_host("h1", 64)]
    metal = rule("hardwaredata", "get", group="metal3.io")

    def told(*more: Object) -> tuple[int, int, list[str]]:
        status = preview({"query": ".cpu.count > 8"}, *reported, rules=[*EVERYTHING, *more])
        matched = [each["name"] for each in status["rows"] if each["verdict"] == "Matched"]
        return status["hosts"], status["hidden"], matched

    assert told(metal) == (7, 0, ["h2", "h3", "hardwaredata/h1", "hardwaredata/m1"])
    assert told() == (4, 3, ["h2", "h3"])
    named = rule("hardwaredata", "get", group="metal3.io", names=["h1"])
    assert told(named) == (5, 2, ["h2", "h3", "hardwaredata/h1"])
    one = {"classification": BIG, "host": "hardwaredata/m1"}
    status = preview(one, *reported, rules=[*EVERYTHING, metal])
    assert rows(status, "after") == [("hardwaredata/m1", "big")]
    assert preview(one, *reported)["refused"] == 403
    absent = preview({**one, "host": "hardwaredata/m9"}, *reported, rules=[*EVERYTHING, metal])
    assert (absent["refused"], absent["message"]) == (404, 'hardwaredata.metal3.io "m9" not found')
