"""FleetEvaluation over ClusterProfiles, Clusters and ClusterRequests, and the mirrors that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.questions.asked import OTHERS, Scope
from tests.questions.observing import EVERYTHING, an_observer, evaluation

if TYPE_CHECKING:
    from muster.questions.observer import Observer

OPENMCP = "clusters.openmcp.cloud/v1alpha1"


def a_purposed(name: str, *purposes: str, namespace: str = "a", labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}, "resourceVersion": "1"}
    return {"apiVersion": OPENMCP, "kind": "Cluster", "metadata": metadata, "spec": {"purposes": list(purposes)}}


def a_request(name: str, purpose: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "a", "resourceVersion": "1"}
    return {"apiVersion": OPENMCP, "kind": "ClusterRequest", "metadata": metadata, "spec": {"purpose": purpose}}


@pytest.fixture
def observer() -> Observer:
    found = an_observer()
    clusters = (
        a_purposed("c1", "mcp", "dev", labels={"tier": "gold"}),
        a_purposed("c2", "mcp"),
        a_purposed("c1", "onboarding", namespace="b", labels={"tier": "gold"}),
    )
    found.handlers()[OTHERS["clusters"]].replace([msgspec.json.encode(each) for each in clusters], "5")
    requests = found.handlers()[OTHERS["clusterrequests"]]
    requests.replace([msgspec.json.encode(a_request("r1", "mcp")), msgspec.json.encode(a_request("r2", "dev"))], "5")
    return found


def shown(status: Any) -> list[tuple[str, str]]:
    return [(row["namespace"], row["name"]) for row in status["rows"]]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"expression": "'mcp' in object.spec.purposes"}, [("a", "c1"), ("a", "c2")]),
        ({"selector": {"matchPurposes": [{"operator": "ContainsAll", "values": ["mcp", "dev"]}]}}, [("a", "c1")]),
        (
            {
                "selector": {
                    "matchLabels": {"tier": "gold"},
                    "matchPurposes": [{"operator": "ContainsNone", "values": ["onboarding"]}],
                }
            },
            [("a", "c1")],
        ),
        ({"selector": {"matchIdentities": [{"name": "c1", "namespace": "b"}]}}, [("b", "c1")]),
        ({"selector": {"matchLabels": {"tier": "gold"}}, "namespace": "b"}, [("b", "c1")]),
        ({}, [("a", "c1"), ("a", "c2"), ("b", "c1")]),
    ],
)
def test_clusters_are_selected_by_identity_label_and_purpose(
    observer: Observer, asked: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert shown(evaluation(observer, resource="clusters", **asked)) == expected


def test_a_request_has_one_purpose(observer: Observer) -> None:
    selector = {"matchPurposes": [{"operator": "Equals", "values": ["dev"]}]}

    assert shown(evaluation(observer, resource="clusterrequests", selector=selector)) == [("a", "r2")]


@pytest.mark.parametrize(
    ("scope", "expected", "hidden"),
    [
        (EVERYTHING, 3, 0),
        (Scope(namespaces=frozenset({"b"})), 1, 2),
        (Scope(names=frozenset({"a/c2", "a/none"})), 1, 2),
        (Scope(), 0, 3),
    ],
)
def test_objects_are_those_that_the_asker_may_get(observer: Observer, scope: Scope, expected: int, hidden: int) -> None:
    status = evaluation(observer, scope, resource="clusters", expression="true")

    assert (status["matched"], status["hidden"]) == (expected, hidden)


@pytest.mark.parametrize("selector", [{"claimSelector": {}}, {"celExpressions": ["true"]}, {"labelSelector": {}}])
def test_selectors_of_placements_are_for_managed_clusters(observer: Observer, selector: dict[str, Any]) -> None:
    status = evaluation(observer, resource="clusters", selector=selector)

    assert (status["valid"], status["diagnostics"][0]["field"]) == (False, "spec.selector")


def test_what_goes_is_gone_and_what_changes_has_changed(observer: Observer) -> None:
    handlers = observer.handlers()
    new = a_purposed("c2", "other")
    new["metadata"]["resourceVersion"] = "9"
    handlers[OTHERS["clusters"]].put(msgspec.json.encode(new))
    gone = a_purposed("c1")
    handlers[OTHERS["clusters"]].remove(msgspec.json.encode(gone))

    status = evaluation(observer, resource="clusters", rows={"show": "All"}, distinct="object.spec.purposes")

    assert shown(status) == [("a", "c2"), ("b", "c1")]
    assert [each["value"] for each in status["values"]] == [["onboarding"], ["other"]]
