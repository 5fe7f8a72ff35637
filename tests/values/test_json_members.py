"""Members of JSON of any shape: what is there, or an empty one."""

from __future__ import annotations

from typing import Any

import pytest

from muster.values.json_members import list_at, object_at, text_at

SOURCE: dict[str, Any] = {"a": {"b": {"c": "text"}, "items": [1], "none": None}, "text": "x", "zero": 0}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("a", "b"), {"c": "text"}),
        ((), SOURCE),
        (("missing",), {}),
        (("a", "none"), {}),
        (("a", "items"), {}),
        (("text", "below"), {}),
        (("zero", "below", "further"), {}),
    ],
)
def test_an_object_is_found_or_is_empty(path: tuple[str, ...], found: dict[str, Any]) -> None:
    assert object_at(SOURCE, *path) == found


def test_lists_and_texts_are_found_or_are_empty() -> None:
    assert list_at(SOURCE, "a", "items") == [1]
    assert [list_at(SOURCE, *path) for path in (("a",), ("text",), ("a", "none"), ("x", "y"))] == [[], [], [], []]
    assert text_at(SOURCE, "a", "b", "c") == "text"
    assert [text_at(SOURCE, *path) for path in (("a",), ("zero",), ("a", "none"), ("x", "y"))] == ["", "", "", ""]
