"""Which labels an agent must carry."""

from __future__ import annotations

import pytest

from muster.classification import APPLIED, Classification, LabelPlan, by_label, plan_labels, read_applied
from muster.classification.labels import Taken
from muster.classification.outcomes import MATCH, NO_MATCH, Outcome, failed
from tests.classification.builders import SIZE, a_classification

BROKEN = failed("x")
A = a_classification("a", value="medium", query="a")
B = a_classification("b", value="large", query="b")
TWIN = a_classification("twin", value="medium", query="twin")
GOING = a_classification("going", value="medium", query="going", deleting=True)


def planned(
    said: dict[Classification, Outcome], present: dict[str, str] | None = None, applied: dict[str, str] | None = None
) -> LabelPlan:
    outcomes = {each.query: outcome for each, outcome in said.items()}
    return plan_labels(present or {}, applied or {}, by_label(said), outcomes)


@pytest.mark.parametrize(
    ("said", "present", "changes"),
    [
        ({A: MATCH}, {}, {SIZE: "medium"}),
        ({A: MATCH}, {SIZE: "medium"}, {}),
        ({A: MATCH}, {SIZE: "QUERYERROR-medium"}, {SIZE: "medium"}),
        ({A: NO_MATCH}, {}, {}),
        ({A: NO_MATCH}, {SIZE: "medium"}, {SIZE: None}),
        ({A: NO_MATCH}, {SIZE: "QUERYERROR-medium"}, {SIZE: None}),
        ({A: NO_MATCH}, {SIZE: "medium-plus"}, {}),
        ({A: BROKEN}, {}, {SIZE: "QUERYERROR-medium"}),
        ({A: BROKEN}, {SIZE: "medium"}, {SIZE: "QUERYERROR-medium"}),
        ({GOING: MATCH}, {SIZE: "medium"}, {SIZE: None}),
        ({GOING: MATCH}, {SIZE: "other"}, {}),
    ],
)
def test_one_classification_sets_changes_and_removes_its_own_values(
    said: dict[Classification, Outcome], present: dict[str, str], changes: dict[str, str | None]
) -> None:
    assert planned(said, present).changes == changes


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({A: MATCH, B: MATCH}, "medium"),
        ({B: MATCH, A: MATCH}, "medium"),
        ({A: NO_MATCH, B: MATCH}, "large"),
        ({A: BROKEN, B: MATCH}, "QUERYERROR-medium"),
        ({A: MATCH, B: BROKEN}, "medium"),
        ({A: NO_MATCH, B: BROKEN}, "QUERYERROR-large"),
        ({A: NO_MATCH, TWIN: MATCH}, "medium"),
        ({GOING: MATCH, TWIN: MATCH}, "medium"),
        ({A: NO_MATCH, B: NO_MATCH}, None),
    ],
)
@pytest.mark.parametrize("before", [None, "medium", "large", "QUERYERROR-large"])
def test_the_first_name_that_has_something_to_say_gets_the_key_whatever_was_there(
    said: dict[Classification, Outcome], label: str | None, before: str | None
) -> None:
    present = {SIZE: before} if before else {}
    after = {**present, **planned(said, present, {"size": before} if before else {}).changes}
    assert after.get(SIZE) == label


def test_a_match_without_the_label_is_told_who_has_it() -> None:
    assert planned({A: MATCH, B: MATCH}).missed == {"b": Taken("medium", "a")}
    assert planned({A: MATCH, TWIN: MATCH}).missed == {}
    assert planned({A: MATCH, B: NO_MATCH}, {SIZE: "mine"}).missed == {"a": Taken("mine", "")}
    assert str(Taken("medium", "a")) == "medium, from AgentClassification a"
    assert str(Taken("mine", "")) == "mine, set by hand"


def test_a_value_set_by_hand_is_never_overwritten() -> None:
    for outcome in (MATCH, NO_MATCH, BROKEN):
        plan = planned({A: outcome}, {SIZE: "mine"})
        assert (plan.changes, plan.applied) == ({}, {})


def test_a_label_of_ours_is_recognized_when_its_classification_is_gone() -> None:
    assert planned({}, {SIZE: "medium"}, {"size": "medium"}).changes == {SIZE: None}
    assert planned({}, {SIZE: "medium"}).changes == {}
    assert planned({}, {SIZE: "QUERYERROR-old"}).changes == {SIZE: None}
    assert planned({B: MATCH}, {SIZE: "medium"}, {"size": "medium"}).changes == {SIZE: "large"}
    assert planned({}, {"size": "medium", "other.io/size": "QUERYERROR-old"}, {"size": "medium"}).changes == {}


def test_the_record_says_exactly_which_labels_are_ours() -> None:
    plan = planned({A: MATCH})
    assert (plan.record, plan.applied_text()) == (True, '{"size":"medium"}')
    settled = planned({A: MATCH}, {SIZE: "medium"}, {"size": "medium"})
    assert settled.is_empty
    left = planned({A: NO_MATCH}, {}, {"size": "medium"})
    assert (left.record, left.applied_text(), left.is_empty) == (True, None, False)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"size": 1}', "[" * 100_000])
def test_a_record_that_is_not_ours_says_nothing(text: str) -> None:
    assert read_applied({APPLIED: text}) == {}
    assert read_applied(None) == {}


def test_a_label_that_hangs_on_a_query_without_an_answer_stays_as_it_is() -> None:
    groups = by_label([A, B])
    unknown = plan_labels({}, {}, groups, {"b": MATCH})
    assert (unknown.changes, unknown.is_empty) == ({}, True)  # a may have a say yet
    kept = plan_labels({SIZE: "medium"}, {"size": "medium"}, groups, {"b": MATCH})
    assert (kept.changes, kept.applied, kept.is_empty) == ({}, {"size": "medium"}, True)
    known = plan_labels({SIZE: "large"}, {"size": "large"}, groups, {"a": MATCH})
    assert known.changes == {SIZE: "medium"}  # whatever b says
    assert plan_labels({SIZE: "medium"}, {"size": "medium"}, by_label([GOING]), {}).changes == {SIZE: None}
    beside = plan_labels({SIZE: "medium"}, {"size": "medium"}, by_label([GOING, B]), {})
    assert (beside.changes, beside.applied) == ({SIZE: None}, {})  # a deletion does not wait for slow queries
    assert plan_labels({SIZE: "medium"}, {"size": "medium"}, by_label([GOING, TWIN]), {}).changes == {}
