"""JSON patches: the examples of RFC 6902, errors, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from muster.hub.patches.json_patch import JsonPatchError, json_patched
from tests.hub.patches.test_merge import json_values


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
        ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}], {"foo": ["bar", "qux", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
        (
            {"baz": "qux", "foo": "bar"},
            [{"op": "replace", "path": "/baz", "value": "boo"}],
            {"baz": "boo", "foo": "bar"},
        ),
        (
            {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
            [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
            {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
            {"foo": ["all", "cows", "eat", "grass"]},
        ),
        (
            {"foo": "bar"},
            [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
            {"foo": "bar", "child": {"grandchild": {}}},
        ),
        (
            {"foo": ["bar"]},
            [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
            {"foo": ["bar", ["abc", "def"]]},
        ),
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
        (
            {"a": [1]},
            [{"op": "copy", "from": "/a", "path": "/b"}, {"op": "add", "path": "/b/-", "value": 2}],
            {"a": [1], "b": [1, 2]},
        ),
        ({"a": 1}, [{"op": "replace", "path": "", "value": {"b": 2}}], {"b": 2}),
    ],
)
def test_operations_do_what_the_rfc_says(document: Any, operations: list[Any], result: Any) -> None:
    assert json_patched(document, operations) == result


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/missing/child", "value": 1},
        {"op": "add", "path": "/list/7", "value": 1},
        {"op": "add", "path": "/list/01", "value": 1},
        {"op": "add", "path": "/list/x", "value": 1},
        {"op": "add", "path": "/list/" + "9" * 5000, "value": 1},
        {"op": "add", "path": "/a"},
        {"op": "remove", "path": "/missing"},
        {"op": "remove", "path": ""},
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "move", "from": "/a", "path": "/a/b"},
        {"op": "copy", "path": "/b"},
        {"op": "test", "path": "/a", "value": True},
        {"op": "test", "path": "/a", "value": 2},
        {"op": "frobnicate", "path": "/a"},
        {"path": "/a"},
        {"op": "add", "path": "a", "value": 1},
    ],
)
def test_what_cannot_be_carried_out_is_an_error(operation: dict[str, Any]) -> None:
    with pytest.raises(JsonPatchError):
        json_patched({"a": 1, "list": [1]}, [operation])


def test_a_patch_that_copies_itself_again_and_again_is_stopped() -> None:
    double = {"op": "copy", "from": "/a", "path": "/a/-"}
    with pytest.raises(JsonPatchError, match="copies too much"):
        json_patched({"a": ["x" * 100]}, [double] * 64)


@given(document=json_values, value=json_values)
def test_what_was_added_can_be_tested_and_removed(document: Any, value: Any) -> None:
    holder = {"document": document}
    added = json_patched(
        holder, [{"op": "add", "path": "/new", "value": value}, {"op": "test", "path": "/new", "value": value}]
    )
    assert json_patched(added, [{"op": "remove", "path": "/new"}]) == holder


@given(document=json_values)
def test_the_document_stays_as_it_was(document: Any) -> None:
    holder = {"document": document}
    before = repr(holder)
    json_patched(holder, [{"op": "copy", "from": "/document", "path": "/copy"}, {"op": "remove", "path": "/document"}])
    assert repr(holder) == before
