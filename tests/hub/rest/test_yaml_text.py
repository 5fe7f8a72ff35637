"""YAML bodies: Kubernetes' reading of scalars, duplicate keys, bombs."""

from __future__ import annotations

from typing import Any

import pytest

from muster.hub.requests import MalformedBodyError
from muster.hub.rest.yaml_text import decode_yaml, encode_yaml
from muster.hub.status import StatusError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 2026-01-01T00:00:00Z", {"a": "2026-01-01T00:00:00Z"}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: yes", {"a": True}),
        ("a: 'yes'", {"a": "yes"}),
        ("a: 0x1F", {"a": 31}),
        ("a: 0755", {"a": 493}),
        ("a: 1_000", {"a": 1000}),
        ("a: -5", {"a": -5}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: .5", {"a": 0.5}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: =", {"a": "="}),
        ("1: x\ntrue: z", {"1": "x", "true": "z"}),
        ("a: y\nb: N", {"a": True, "b": False}),
        ("y: n", {"true": False}),
        ("base: &b {x: 1, z: 2}\nuse: {<<: *b, z: 3}", {"base": {"x": 1, "z": 2}, "use": {"x": 1, "z": 3}}),
        ("a: 99999999999999999999", {"a": 1e20}),
        ("", None),
    ],
)
def test_scalars_are_read_as_kubernetes_reads_them(text: str, value: Any) -> None:
    assert decode_yaml(text.encode()) == (value, ())


def test_duplicate_keys_are_reported_with_their_line() -> None:
    value, duplicates = decode_yaml(b"spec:\n  a: 1\n  a: 2\n")
    assert value == {"spec": {"a": 2}}
    assert duplicates == ('yaml: unmarshal errors:\n  line 3: key "a" already set in map',)


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    levels = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    levels += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    with pytest.raises(StatusError, match="once aliases are expanded"):
        decode_yaml("\n".join(levels).encode())


def test_a_bomb_of_merges_is_refused() -> None:
    levels = ["a0: &a0 {k: v}"]
    levels += [f"a{n}: &a{n} {{<<: [{','.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 12)]
    with pytest.raises(StatusError, match="once aliases are expanded"):
        decode_yaml("\n".join(levels).encode())


def test_a_value_that_contains_itself_is_refused() -> None:
    with pytest.raises(StatusError, match="contains itself"):
        decode_yaml(b"a: &a [*a]")


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, "\n".join("  " * n + "a:" for n in range(150))])
def test_too_deep_a_document_is_refused(text: str) -> None:
    with pytest.raises((StatusError, MalformedBodyError)):
        decode_yaml(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system [true]",
        "a: !!binary aGk=",
        "a: .nan",
        "a: .inf",
        "a: [",
        "? [x]\n: y",
        "a: b: c",
        "\xff",
    ],
)
def test_what_is_not_plain_data_is_refused(text: str) -> None:
    with pytest.raises(MalformedBodyError):
        decode_yaml(text.encode("latin-1"))


def test_answers_are_sorted_block_style_without_anchors() -> None:
    shared = {"x": 1}
    assert encode_yaml({"b": [shared, shared], "a": "2026-01-01", "empty": {}}) == (
        b"a: '2026-01-01'\nb:\n- x: 1\n- x: 1\nempty: {}\n"
    )
