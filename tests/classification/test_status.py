"""What the status of a classification says, and when it may go."""

from __future__ import annotations

from pathlib import Path

from muster.classification import may_go, names, report
from tests.classification.builders import SIZE, a_classification, a_roster, put, settle


def test_all_is_well() -> None:
    classification = a_classification(query=".cpu.count == 2")
    roster = a_roster(classification, a={"cpu": {"count": 2}}, b={"cpu": {"count": 4}})
    settle(roster, {"a": {"cpu": {"count": 2}}, "b": {"cpu": {"count": 4}}})
    found = report(roster, classification)
    assert (found.matched, found.errors) == (1, 0)
    assert found.conditions == {
        "QueryValid": ("True", "QueryIsValid", "The query is valid"),
        "QueryErrors": ("False", "NoQueryErrors", "No Agents failed to apply the classification"),
    }


def test_errors_come_with_their_first_text_and_examples() -> None:
    classification = a_classification(query="[.disks[]] | length > 1")
    inventories: dict[str, dict[str, int]] = {name: {} for name in "edcba"}
    roster = a_roster(classification, **inventories)
    settle(roster, inventories)
    status, reason, message = report(roster, classification).conditions["QueryErrors"]
    assert (status, reason) == ("True", "HasQueryErrors")
    assert message == ("5 Agents failed to apply the classification: cannot iterate over: null (for example a, b, c)")


def test_errors_of_others_on_the_same_key_are_not_counted() -> None:
    good, bad = a_classification("good", query="false"), a_classification("bad", value="large", query="error")
    roster = a_roster(good, bad, a={})
    settle(roster, {"a": {}})
    assert [report(roster, each).errors for each in (good, bad)] == [0, 1]


def test_an_error_behind_another_ones_label_is_counted_all_the_same() -> None:
    first, second = a_classification("a"), a_classification("b", value="large", query="1")
    roster = a_roster(first, second, host={})
    settle(roster, {"host": {}})
    assert roster.labels("host") == {SIZE: "medium"}
    assert [report(roster, each).errors for each in (first, second)] == [0, 1]


def test_twins_are_counted_by_what_each_of_them_says() -> None:
    one, two = a_classification("one"), a_classification("two", query="false")
    roster = a_roster(one, two, a={})
    settle(roster, {"a": {}})
    assert [report(roster, each).matched for each in (one, two)] == [1, 0]


def test_counts_come_from_labels_before_anything_is_evaluated() -> None:
    classification = a_classification(query="false")
    roster = a_roster(classification)
    put(roster, "a", {}, {SIZE: "medium"})
    put(roster, "b", {}, {SIZE: "QUERYERROR-medium"})
    put(roster, "c", {}, {SIZE: "QUERYERROR-other"})
    found = report(roster, classification)
    assert (found.matched, found.errors) == (1, 1)
    message = "1 Agents failed to apply the classification (for example b)"
    assert found.conditions["QueryErrors"] == ("True", "HasQueryErrors", message)


def test_a_classification_waits_for_its_labels_and_for_its_errors() -> None:
    going = a_classification(deleting=True)
    for value, free in (("medium", False), ("QUERYERROR-medium", False), ("other", True)):
        roster = a_roster(going)
        put(roster, "a", {}, {SIZE: value})
        assert may_go(roster, going) is free


def test_a_twin_that_stays_takes_over() -> None:
    going = a_classification("going", deleting=True)
    roster = a_roster(going, a_classification("stays"))
    put(roster, "a", {}, {SIZE: "medium"})
    assert may_go(roster, going)
    roster.put_classification(a_classification("stays", deleting=True))
    assert not may_go(roster, going)


def test_a_label_that_cannot_be_set_is_told_and_labels_nobody() -> None:
    classification = a_classification(value="v" * 60)
    roster = a_roster(classification, a={})
    settle(roster, {"a": {}})
    assert roster.labels("a") == {}
    status, reason, message = report(roster, classification).conditions["QueryValid"]
    assert (status, reason) == ("False", "QueryIsNotValid")
    assert "must be no more than 52 characters" in message


def test_conditions_annotations_and_the_finalizer_are_explained() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "classification.md"
    text = page.read_text(encoding="utf-8")
    conditions = (names.QUERY_VALID, names.QUERY_ERRORS, names.QUERY_PAUSED, names.LABELS_APPLIED)
    reasons = ("QueryIsValid", "QueryIsNotValid", "NoQueryErrors", "HasQueryErrors", "BudgetExhausted", "LabelTaken")
    told = [name for name in (*conditions, *reasons, names.FINALIZER, names.UPDATED_AT) if name not in text]
    assert told == []
    assert "/applied`" in text
