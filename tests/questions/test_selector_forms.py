"""FleetEvaluation's selector takes every form of the specification of selectors, over every kind that can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.questions.asked import OTHERS
from tests.builders import a_cluster
from tests.questions.observing import an_observer, evaluation

if TYPE_CHECKING:
    from muster.questions.observer import Observer

Object = dict[str, Any]
RESOURCES = ("managedclusters", "clusterprofiles", "clusters", "clusterrequests")
PURPOSED = ("clusters", "clusterrequests")
KINDS = {"clusterprofiles": "ClusterProfile", "clusters": "Cluster", "clusterrequests": "ClusterRequest"}
NAMESPACE = {"managedclusters": "", "clusterprofiles": "x", "clusters": "x", "clusterrequests": "x"}
GOLD, SILVER = {"tier": "gold"}, {"tier": "silver"}


def an_object(resource: str, name: str, labels: Object, purposes: list[str]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE[resource], "labels": labels, "resourceVersion": "1"}
    spec: Object = {"purpose": purposes[0]} if resource == "clusterrequests" else {"purposes": purposes}
    return {"kind": KINDS[resource], "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def observer() -> Observer:
    """In each resource: a is gold and for mcp, b is silver and for workload, c has no label and is for mcp."""
    given: list[tuple[str, Object, list[str]]]
    given = [("a", GOLD, ["mcp"]), ("b", SILVER, ["workload"]), ("c", {}, ["mcp"])]
    found = an_observer(*(a_cluster(name, labels) for name, labels, _ in given))
    for resource, key in OTHERS.items():
        objects = [an_object(resource, *each) for each in given]
        found.handlers()[key].replace([msgspec.json.encode(each) for each in objects], "5")
    return found


def selected(observer: Observer, resource: str, selector: Any) -> str:
    status = evaluation(observer, resource=resource, selector=selector)
    assert status["valid"], status["diagnostics"]
    return "".join(row["name"] for row in status["rows"])


def identity(resource: str, *names: str) -> list[Object]:
    place = {"namespace": NAMESPACE[resource]} if NAMESPACE[resource] else {}
    return [{"name": name, **place} for name in names]


@pytest.mark.parametrize("resource", RESOURCES)
def test_identities_and_labels_select_everywhere(observer: Observer, resource: str) -> None:
    wanted = identity(resource, "b", "none")
    elsewhere = [{"name": "b", "namespace": "elsewhere"}]
    for selector, expected in (
        ({"matchIdentities": wanted}, "b"),
        ({"matchIdentities": elsewhere}, ""),
        ({"matchIdentities": None}, "abc"),
        ({"matchIdentities": []}, ""),
        ({"matchLabels": GOLD}, "a"),
        ({"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]}, "bc"),
        ({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, "c"),
        ({"matchLabels": {}, "matchExpressions": []}, "abc"),
        ({"matchLabels": None, "matchExpressions": None}, "abc"),
        ({}, "abc"),
        (None, "abc"),
        # An identity list that is there, even empty, is the only thing that counts (IdentityLabelSelector).
        ({"matchIdentities": wanted, "matchLabels": GOLD}, "b"),
        ({"matchIdentities": [], "matchLabels": GOLD}, ""),
        ({"matchIdentities": None, "matchLabels": GOLD}, "a"),
    ):
        assert selected(observer, resource, selector) == expected, selector


@pytest.mark.parametrize("resource", PURPOSED)
def test_purposes_and_their_aggregates_select_what_has_purposes(observer: Observer, resource: str) -> None:
    wanted = identity(resource, "b")
    mcp = [{"operator": "ContainsAny", "values": ["mcp"]}]
    for selector, expected in (
        ({"matchPurposes": mcp}, "ac"),
        ({"matchPurposes": [{"operator": "ContainsAll", "values": ["mcp"]}]}, "ac"),
        ({"matchPurposes": [{"operator": "ContainsNone", "values": ["mcp"]}]}, "b"),
        ({"matchPurposes": [{"operator": "Equals", "values": ["workload", "workload"]}]}, "b"),
        ({"matchPurposes": []}, "abc"),
        ({"matchPurposes": None}, "abc"),
        ({"matchIdentities": wanted, "matchPurposes": mcp}, "b"),
        ({"matchIdentities": None, "matchPurposes": mcp}, "ac"),
        ({"matchLabels": GOLD, "matchPurposes": mcp}, "a"),
        ({"matchLabels": SILVER, "matchPurposes": mcp}, ""),
        ({"matchIdentities": wanted, "matchLabels": GOLD, "matchPurposes": mcp}, "b"),
        ({"matchIdentities": [], "matchLabels": GOLD, "matchPurposes": mcp}, ""),
        ({"matchIdentities": None, "matchLabels": GOLD, "matchPurposes": mcp}, "a"),
    ):
        assert selected(observer, resource, selector) == expected, selector


@pytest.mark.parametrize("resource", ["managedclusters", "clusterprofiles"])
def test_what_has_no_purposes_contains_none(observer: Observer, resource: str) -> None:
    none = {"matchPurposes": [{"operator": "ContainsNone", "values": ["workload"]}]}
    purposed = "ac" if resource == "clusterprofiles" else "abc"  # the profiles of this test carry the field

    assert selected(observer, resource, none) == purposed


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize(
    "selector",
    [
        {"matchPurposes": [{"operator": "ContainsAll", "values": []}]},
        {"matchPurposes": [{"operator": "Has", "values": ["mcp"]}]},
        {"matchLabels": {"a b": "c"}},
        {"matchExpressions": [{"key": "tier", "operator": "In"}]},
        {"matchIdentities": "a"},
        {"matchNames": ["a"]},
    ],
)
def test_what_is_no_selector_is_told(observer: Observer, resource: str, selector: Object) -> None:
    status = evaluation(observer, resource=resource, selector=selector)

    assert (status["valid"], status["diagnostics"][0]["field"]) == (False, "spec.selector")
