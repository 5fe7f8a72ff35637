"""JSON merge patches: the examples of RFC 7396, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.hub.patches.merge import merge_patched

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=3),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), below, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_examples_of_the_rfc_come_out_as_printed(target: Any, patch: Any, result: Any) -> None:
    assert merge_patched(target, patch) == result


@given(target=json_values, patch=json_values)
def test_patching_twice_is_patching_once(target: Any, patch: Any) -> None:
    once = merge_patched(target, patch)
    assert merge_patched(once, patch) == once


@given(target=st.dictionaries(st.text("abc", max_size=2), json_values))
def test_an_empty_patch_changes_nothing(target: dict[str, Any]) -> None:
    assert merge_patched(target, {}) == target


@given(target=json_values, patch=json_values)
def test_the_target_stays_as_it_was(target: Any, patch: Any) -> None:
    before = repr(target)
    merge_patched(target, patch)
    assert repr(target) == before
