"""About values/labels.py."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.values.causes import Cause
from muster.values.labels import (
    EVERYTHING,
    NOTHING,
    InvalidSelectorError,
    Operator,
    Requirement,
    Selector,
    format_label_selector,
    from_label_selector,
    label_selector_as_map,
    label_selector_causes,
    parse_selector,
    requirement,
    selector,
    to_label_selector,
)

# ----------------------------------------------------------------------------------------------------------------------
# Laws.

ends = st.text("aZ9", min_size=1, max_size=2)
names = st.builds(lambda start, middle, end: start + middle + end, ends, st.text("b-_.", max_size=3), ends)
keys = names | names.map(lambda name: f"example.com/{name}")
values = names | st.just("")
integers = st.integers(0, 2**63 - 1).map(str)


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    key = draw(keys)
    match draw(st.sampled_from(["set", "one", "integer", "none"])):
        case "set":
            operator = draw(st.sampled_from(["in", "notin"]))
            return requirement(key, operator, draw(st.lists(values, min_size=1, max_size=4)))
        case "one":
            return requirement(key, draw(st.sampled_from(["=", "==", "!="])), [draw(values)])
        case "integer":
            return requirement(key, draw(st.sampled_from(["gt", "lt"])), [draw(integers)])
        case _:
            return requirement(key, draw(st.sampled_from(["exists", "!"])), [])


selectors = st.lists(requirements(), max_size=5, unique_by=lambda each: each.key).map(selector)
label_maps = st.dictionaries(keys, values | integers, max_size=5)


@settings(deadline=None)
@given(selectors)
def test_parsing_what_was_printed_gives_the_selector_back(parsed: Selector) -> None:
    assert parse_selector(str(parsed)) == parsed


@settings(deadline=None)
@given(selectors, selectors, label_maps)
def test_a_comma_is_an_and(left: Selector, right: Selector, labels: dict[str, str]) -> None:
    both = selector([*left.requirements, *right.requirements])
    assert both.matches(labels) == (left.matches(labels) and right.matches(labels))


@settings(deadline=None)
@given(keys, st.lists(values, min_size=1, max_size=4), label_maps)
def test_notin_is_the_opposite_of_in(key: str, chosen: list[str], labels: dict[str, str]) -> None:
    assert requirement(key, "in", chosen).matches(labels) != requirement(key, "notin", chosen).matches(labels)


@settings(deadline=None)
@given(keys, label_maps)
def test_not_exists_is_the_opposite_of_exists(key: str, labels: dict[str, str]) -> None:
    assert requirement(key, "exists", []).matches(labels) != requirement(key, "!", []).matches(labels)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parsed = parse_selector(text)
    except InvalidSelectorError:
        return
    assert parse_selector(str(parsed)) == parsed


# ----------------------------------------------------------------------------------------------------------------------
# The string form.


def test_requirements_are_sorted_by_key_and_values_are_sets() -> None:
    parsed = parse_selector("z notin (b,a,b),!y,x")
    assert parsed.requirements == (
        Requirement("x", Operator.EXISTS),
        Requirement("y", Operator.DOES_NOT_EXIST),
        Requirement("z", Operator.NOT_IN, frozenset({"a", "b"})),
    )
    assert str(parsed) == "x,!y,z notin (a,b)"


@pytest.mark.parametrize(
    ("text", "values_"),
    [("x in ()", {""}), ("x in (,)", {""}), ("x in (a,,)", {"a", ""}), ("x in (,a,b)", {"", "a", "b"}), ("x=", {""})],
)
def test_a_left_out_value_is_the_empty_one(text: str, values_: set[str]) -> None:
    assert parse_selector(text).requirements[0].values == values_


def test_words_of_the_grammar_are_keywords_only_where_an_operator_stands() -> None:
    assert parse_selector("in in (in,notin)").requirements == (
        Requirement("in", Operator.IN, frozenset({"in", "notin"})),
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a===b", "unable to parse requirement: found '=', expected: identifier"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("x IN (a)", "unable to parse requirement: found 'IN', expected: in, notin, =, ==, !=, gt, lt"),
        ("x in a", "unable to parse requirement: found 'a' expected: '('"),
        ("x in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("x in (a,=)", "unable to parse requirement: found '=', expected: ',', or identifier"),
        ("!!x", "unable to parse requirement: found '!', expected: identifier"),
        (
            "x>a",
            'unable to parse requirement: values[0]: Invalid value: "a": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
        ),
        ("/a=b", 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'),
    ],
)
def test_a_mistake_is_told_in_the_words_of_the_real_server(text: str, error: str) -> None:
    with pytest.raises(InvalidSelectorError) as raised:
        parse_selector(text)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("text", "label", "matches"),
    [
        ("x>1", "2", True),
        ("x>1", "1", False),
        ("x<1", "-5", True),
        ("x>1", "two", False),
        ("x>1", "٢", False),
        ("x>1", "9223372036854775808", False),
        ("x>01", "2", True),
    ],
)
def test_comparisons_want_64_bit_integers(text: str, label: str, matches: bool) -> None:
    assert parse_selector(text).matches({"x": label}) is matches


def test_a_missing_label_satisfies_only_the_negations() -> None:
    satisfied = [
        text
        for text in ("x=a", "x!=a", "x in (a)", "x notin (a)", "x", "!x", "x>1")
        if parse_selector(text).matches({})
    ]
    assert satisfied == ["x!=a", "x notin (a)", "!x"]


# ----------------------------------------------------------------------------------------------------------------------
# The object form.


def test_null_selects_nothing_and_an_empty_selector_everything() -> None:
    assert from_label_selector(None) == NOTHING
    assert from_label_selector({}) == EVERYTHING
    assert not NOTHING.matches({})
    assert EVERYTHING.matches({})


def test_labels_and_expressions_become_one_selector() -> None:
    spec = {
        "matchLabels": {"vendor": "OpenShift"},
        "matchExpressions": [
            {"key": "region", "operator": "NotIn", "values": ["eu-1"]},
            {"key": "gpu", "operator": "DoesNotExist"},
        ],
    }
    assert format_label_selector(spec) == "!gpu,region notin (eu-1),vendor=OpenShift"


def test_the_first_mistake_of_an_object_is_raised_and_all_of_them_are_listed_for_admission() -> None:
    spec: dict[str, Any] = {
        "matchLabels": {"a": "b c"},
        "matchExpressions": [
            {"key": "k", "operator": "In", "values": []},
            {"key": "k", "operator": "Exists", "values": ["v"]},
            {"key": "k", "operator": "in"},
        ],
    }
    with pytest.raises(InvalidSelectorError, match="a valid label must be"):
        from_label_selector(spec)
    causes = label_selector_causes(spec, "spec.selector")
    assert [cause.field for cause in causes] == [
        "spec.selector.matchLabels",
        "spec.selector.matchExpressions[0].values",
        "spec.selector.matchExpressions[1].values",
        "spec.selector.matchExpressions[2].operator",
    ]
    assert causes[1] == Cause(
        "FieldValueRequired",
        "spec.selector.matchExpressions[0].values",
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
    )
    assert format_label_selector(spec) == "<error>"


def test_the_string_form_has_words_the_object_form_lacks() -> None:
    assert to_label_selector(parse_selector("a=b,c in (d),!e")) == {
        "matchLabels": {"a": "b"},
        "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["d"]},
            {"key": "e", "operator": "DoesNotExist"},
        ],
    }
    with pytest.raises(InvalidSelectorError, match='"gt" isn\'t supported in label selectors'):
        to_label_selector(parse_selector("a>1"))


def test_the_old_form_knows_equality_only() -> None:
    assert label_selector_as_map(None) is None
    assert label_selector_as_map({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}) == {"a": "b"}
    with pytest.raises(InvalidSelectorError, match="without a single value"):
        label_selector_as_map({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]})


def test_the_object_form_shows_a_value_as_often_as_it_was_given() -> None:
    twice = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["b", "a", "b"]}]}
    assert format_label_selector(twice) == "k in (a,b,b)"
    assert from_label_selector(twice).matches({"k": "b"})
    assert from_label_selector(twice) == parse_selector("k in (a,b)")
    assert str(parse_selector("k in (a,b,b)")) == "k in (a,b)"  # the string form is a set, there as here
