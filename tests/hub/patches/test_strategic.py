"""Strategic merge patches: lists with identity, and directives."""

from __future__ import annotations

from typing import Any

import pytest

from muster.hub.patches.strategic import StrategicPatchError, strategic_patched
from muster.hub.patches.structure import object_type

TYPE = object_type(
    {
        "type": "object",
        "properties": {
            "data": {"type": "object", "additionalProperties": {"type": "string"}},
            "plain": {"type": "array", "items": {"type": "string"}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "items": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}, "x": {"type": "integer"}}},
            },
        },
    }
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"data": {"a": "1", "b": "1"}}, {"data": {"a": "2", "b": None}}, {"data": {"a": "2"}}),
        ({"plain": ["a"]}, {"plain": ["b"]}, {"plain": ["b"]}),
        ({"set": ["a", "b"]}, {"set": ["b", "c"]}, {"set": ["a", "b", "c"]}),
        ({"set": ["a", "b"]}, {"$deleteFromPrimitiveList/set": ["a"]}, {"set": ["b"]}),
        (
            {"items": [{"name": "a", "x": 1}, {"name": "b"}]},
            {"items": [{"name": "a", "x": 2}, {"name": "c"}]},
            {"items": [{"name": "a", "x": 2}, {"name": "b"}, {"name": "c"}]},
        ),
        (
            {"items": [{"name": "a"}, {"name": "b"}]},
            {"items": [{"name": "a", "$patch": "delete"}]},
            {"items": [{"name": "b"}]},
        ),
        (
            {"items": [{"name": "a"}]},
            {"items": [{"$patch": "replace"}, {"name": "z"}]},
            {"items": [{"name": "z"}]},
        ),
        (
            {"items": [{"name": "a"}, {"name": "b"}]},
            {"$setElementOrder/items": [{"name": "b"}, {"name": "a"}], "items": [{"name": "a", "x": 1}]},
            {"items": [{"name": "b"}, {"name": "a", "x": 1}]},
        ),
        ({"data": {"a": "1"}}, {"data": {"$patch": "replace", "b": "2"}}, {"data": {"b": "2"}}),
        ({"data": {"a": "1"}}, {"data": {"$patch": "delete"}}, {"data": {}}),
        ({"data": {"a": "1", "b": "1"}}, {"data": {"$retainKeys": ["a"], "a": "3"}}, {"data": {"a": "3"}}),
        (
            {"metadata": {"finalizers": ["a"]}},
            {"metadata": {"finalizers": ["b"]}},
            {"metadata": {"finalizers": ["a", "b"]}},
        ),
        ({}, {"items": [{"name": "a", "x": None}]}, {"items": [{"name": "a"}]}),
    ],
)
def test_lists_merge_by_identity_and_directives_do_the_rest(target: Any, patch: Any, result: Any) -> None:
    assert strategic_patched(target, patch, TYPE) == result


def test_an_item_without_its_key_cannot_be_merged() -> None:
    with pytest.raises(StrategicPatchError, match="does not contain declared merge key: name"):
        strategic_patched({"items": []}, {"items": [{"x": 1}]}, TYPE)


def test_unknown_directives_are_refused() -> None:
    for patch in ({"$frobnicate": 1}, {"data": {"$patch": "frobnicate"}}):
        with pytest.raises(StrategicPatchError):
            strategic_patched({"data": {}}, patch, TYPE)
