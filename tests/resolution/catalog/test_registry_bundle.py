"""Bundle directories and chains of failed updates."""

from __future__ import annotations

from typing import Any

import pytest

from muster.errors import InvalidObjectError
from muster.resolution.catalog.registry_bundle import read_bundle_directory
from muster.resolution.request import Installed, UpgradeStrategy
from muster.resolution.solving.fail_forward import BrokenReplacementError, still_counting

CSV: dict[str, Any] = {
    "metadata": {"name": "a.v1", "annotations": {"olm.skipRange": "<1.0.0"}},
    "spec": {
        "version": "1.0.0",
        "replaces": "a.v0",
        "customresourcedefinitions": {
            "owned": [{"name": "as.example.com", "version": "v1", "kind": "A"}],
            "required": [{"name": "bs.example.com", "version": "v1", "kind": "B"}],
        },
    },
}
ANNOTATIONS = {
    "annotations": {
        "operators.operatorframework.io.bundle.package.v1": "a",
        "operators.operatorframework.io.bundle.channels.v1": "stable, fast",
        "operators.operatorframework.io.bundle.channel.default.v1": "fast",
    }
}


def test_a_bundle_directory_says_what_it_provides_and_requires() -> None:
    read = read_bundle_directory(CSV, ANNOTATIONS)
    assert (read.channels, read.default_channel, read.replaces, read.skip_range) == (
        ("stable", "fast"),
        "fast",
        "a.v0",
        "<1.0.0",
    )
    assert [str(api) for api in read.bundle.apis] == ["A (example.com/v1)"]
    assert [prop.type for _, prop in read.bundle.requirements] == ["olm.gvk.required"]


def test_dependencies_take_the_place_of_required_apis() -> None:
    dependencies = {"dependencies": [{"type": "olm.package", "value": {"packageName": "d", "version": "1.x"}}]}
    properties = {"properties": [{"type": "tier", "value": 1}]}
    read = read_bundle_directory(CSV, ANNOTATIONS, dependencies, properties)
    assert [(prop.type, prop.value) for _, prop in read.bundle.requirements] == [
        ("olm.package.required", {"packageName": "d", "versionRange": "1.x"})
    ]
    assert any(prop.type == "tier" for prop in read.bundle.properties())


@pytest.mark.parametrize(
    ("csv", "annotations", "dependencies", "reason"),
    [
        ({}, ANNOTATIONS, None, "the manifest has no metadata"),
        (CSV, None, None, "metadata/annotations.yaml has no annotations"),
        (CSV, {"annotations": {}}, None, "has no operators.operatorframework.io.bundle.package.v1"),
        (CSV, ANNOTATIONS, {"dependencies": 3}, "is no list"),
        (CSV, ANNOTATIONS, {"dependencies": ["x"]}, "a property is a mapping"),
    ],
)
def test_what_is_missing_is_named(csv: Any, annotations: Any, dependencies: Any, reason: str) -> None:
    with pytest.raises(InvalidObjectError, match=reason):
        read_bundle_directory(csv, annotations, dependencies)


CHAIN = (
    Installed("a.v1", phase="Replacing"),
    Installed("a.v2", phase="Replacing", replaces="a.v1"),
    Installed("a.v3", phase="Failed", replaces="a.v2"),
)


def test_failed_updates_are_stepped_over_only_if_asked() -> None:
    forward = UpgradeStrategy.FAIL_FORWARD
    assert still_counting(CHAIN, UpgradeStrategy.DEFAULT, "ns") == CHAIN
    assert still_counting(CHAIN, forward, "ns") == CHAIN[2:]
    healthy = (CHAIN[0], Installed("a.v2", phase="Succeeded", replaces="a.v1"))
    assert still_counting(healthy, forward, "ns") == healthy
    with pytest.raises(BrokenReplacementError, match="in phase Failed instead of Replacing"):
        still_counting((Installed("a.v1", phase="Failed"), *CHAIN[1:]), forward, "ns")
    circle = (Installed("a", phase="Replacing", replaces="b"), Installed("b", phase="Replacing", replaces="a"))
    with pytest.raises(BrokenReplacementError, match="has already been seen"):
        still_counting(circle, forward, "ns")
