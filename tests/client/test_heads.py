"""An object can be named whatever else it holds."""

from __future__ import annotations

import json

import pytest

from muster.client.heads import Head, Meta, elements, head_of, members

NAMED = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "namespace": "n", "resourceVersion": "7"}}
HEAD = Head("v1", "X", Meta("a", "n", "", "7"))


def test_the_head_of_an_object() -> None:
    assert head_of(json.dumps(NAMED | {"spec": {"a": [1, "}"]}}).encode()) == HEAD
    assert str(HEAD) == "n/a"


@pytest.mark.parametrize("depth", [1_100, 100_000])
def test_the_head_of_an_object_that_nests_too_deep_to_be_decoded(depth: int) -> None:
    text = json.dumps(NAMED)[:-1] + ', "spec": {"metadata": "\\"]}", "x": ' + "[" * depth + "]" * depth + "}}"
    assert head_of(text.encode()) == HEAD


@pytest.mark.parametrize("text", [b"", b"null", b"[]", b"{", b'"x"', b'{"metadata": 5}', b'{"metadata": {"name": 5}}'])
def test_what_is_no_object_has_an_empty_head(text: bytes) -> None:
    assert head_of(text) == Head()


def test_json_is_taken_apart_at_its_outermost_commas() -> None:
    assert list(elements(b'[ {"a": [1, 2]}, "x,\\"y", 3 ]')) == [b'{"a": [1, 2]}', b'"x,\\"y"', b"3"]
    assert list(elements(b"[]")) == []
    assert members(b'{"a\\u0062": {"c": 1}, "d":[]}') == {"ab": b'{"c": 1}', "d": b"[]"}
