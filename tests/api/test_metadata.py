"""About api/metadata.py."""

from __future__ import annotations

from typing import Any

import pytest

from muster.api.metadata import metadata_warnings, validate_metadata


def causes(metadata: dict[str, Any], old: dict[str, Any] | None = None, *, namespaced: bool = False) -> list[str]:
    found = validate_metadata({"metadata": metadata}, None if old is None else {"metadata": old}, namespaced)
    return [str(cause) for cause in found]


def test_a_plain_object_is_fine() -> None:
    metadata = {
        "name": "a.b",
        "labels": {"example.com/a": "b"},
        "annotations": {"Example.com/A": "anything at all"},
        "finalizers": ["example.com/f"],
        "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}],
    }
    assert causes(metadata) == []


def test_a_name_is_required() -> None:
    assert causes({}) == ["metadata.name: Required value: name or generateName is required"]


def test_a_generated_name_is_checked_by_its_prefix_too() -> None:
    assert causes({"generateName": "a-", "name": "a-x7k2p"}) == []
    fields = [text.split(":")[0] for text in causes({"generateName": "A-", "name": "A-x7k2p"})]
    assert fields == ["metadata.generateName", "metadata.name"]


def test_the_namespace_belongs_to_namespaced_kinds_only() -> None:
    assert causes({"name": "a"}, namespaced=True) == ["metadata.namespace: Required value"]
    assert causes({"name": "a", "namespace": "b"}) == ["metadata.namespace: Forbidden: not allowed on this type"]
    assert causes({"name": "a", "namespace": "b.c"}, namespaced=True) == [
        'metadata.namespace: Invalid value: "b.c": must not contain dots'
    ]


def test_bad_labels_and_annotations_are_named() -> None:
    found = causes({"name": "a", "labels": {"a b": "c d"}, "annotations": {"x y": ""}})
    assert [text.split(": ")[:3] for text in found] == [
        ["metadata.labels", "Invalid value", '"a b"'],
        ["metadata.labels", "Invalid value", '"c d"'],
        ["metadata.annotations", "Invalid value", '"x y"'],
    ]


def test_annotations_have_a_limit_in_bytes() -> None:
    assert causes({"name": "a", "annotations": {"k": "é" * 131072}}) == [
        "metadata.annotations: Too long: may not be more than 262144 bytes"
    ]


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (
            {"apiVersion": "v1", "kind": "X", "name": "y"},
            ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
        ),
        (
            {"apiVersion": "g/", "kind": "X", "name": "y", "uid": "u"},
            ['metadata.ownerReferences.apiVersion: Invalid value: "g/": version must not be empty'],
        ),
    ],
)
def test_an_owner_is_named_completely(owner: dict[str, Any], expected: list[str]) -> None:
    assert causes({"name": "a", "ownerReferences": [owner]}) == expected


def test_only_one_owner_controls() -> None:
    owners = [{"apiVersion": "v1", "kind": "X", "name": name, "uid": name, "controller": True} for name in "ab"]
    (text,) = causes({"name": "a", "ownerReferences": owners})
    assert text.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for X/a and X/b'
    )


def test_two_ways_to_treat_dependents_exclude_each_other() -> None:
    (text,) = causes({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]})
    assert text.endswith("finalizer orphan and foregroundDeletion cannot be both set")


def test_finalizers_cannot_be_added_while_deleting() -> None:
    old = {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/f"]}
    assert causes({"name": "a", "finalizers": ["x/f", "x/g"]}, old) == [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"x/g"}'
    ]
    assert causes({"name": "a", "finalizers": []}, old) == []


def test_identity_does_not_change() -> None:
    assert causes({"name": "b", "uid": "2"}, {"name": "a", "uid": "1"}) == [
        'metadata.name: Invalid value: "b": field is immutable',
        'metadata.uid: Invalid value: "2": field is immutable',
    ]


def test_a_finalizer_without_a_domain_is_warned_about_once() -> None:
    obj = {"metadata": {"finalizers": ["nodomain", "orphan", "x/y"]}}
    assert metadata_warnings(obj) == [
        'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts '
        "with other finalizer writers"
    ]
    assert metadata_warnings(obj, obj) == []
