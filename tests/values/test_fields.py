"""About values/fields.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.values.fields import FieldRequirement, FieldSelector, InvalidFieldSelectorError, parse_field_selector

fields = st.from_regex(r"[a-z]{1,5}(\.[a-z]{1,5}){0,2}", fullmatch=True)
requirements = st.builds(FieldRequirement, fields, st.text(max_size=10), st.booleans())


@settings(deadline=None)
@given(st.lists(requirements, max_size=4).map(lambda each: FieldSelector(tuple(each))))
def test_parsing_what_was_printed_gives_the_selector_back(selector: FieldSelector) -> None:
    assert parse_field_selector(str(selector)) == selector


@settings(deadline=None)
@given(requirements, st.text(max_size=10))
def test_a_requirement_and_its_negation_disagree(each: FieldRequirement, value: str) -> None:
    assert each.matches(value) != FieldRequirement(each.field, each.value, not each.negated).matches(value)


def test_both_equality_signs_mean_the_same() -> None:
    assert parse_field_selector("a==b") == parse_field_selector("a=b")


def test_a_missing_field_is_the_empty_string() -> None:
    assert parse_field_selector("a=,b!=x").matches(lambda _: "")


def test_a_trailing_comma_is_tolerated_and_spaces_count() -> None:
    assert parse_field_selector("a=b,").requirements == (FieldRequirement("a", "b"),)
    assert parse_field_selector(" a=b").requirements == (FieldRequirement(" a", "b"),)


def test_the_one_value_a_field_must_have_is_known() -> None:
    selector = parse_field_selector("metadata.name=a,metadata.namespace!=b")
    assert selector.exact("metadata.name") == "a"
    assert selector.exact("metadata.namespace") is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("foo", "invalid selector: 'foo'; can't understand 'foo'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=b\\c", "invalid field selector: invalid escape sequence: \\c"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_the_real_server(text: str, error: str) -> None:
    with pytest.raises(InvalidFieldSelectorError) as raised:
        parse_field_selector(text)
    assert str(raised.value) == error
