"""Finding the resource a user means."""

from __future__ import annotations

import pytest

from muster.client.discovery import Discovery, ServedResource, from_aggregated, from_legacy
from muster.errors import InvalidObjectError

CLUSTERS = ServedResource(
    group="cluster.open-cluster-management.io",
    version="v1",
    plural="managedclusters",
    singular="managedcluster",
    kind="ManagedCluster",
    namespaced=False,
    short_names=("mcl",),
)
EVENTS = ServedResource("", "v1", "events", "event", "Event", namespaced=True)
SERVED = Discovery((EVENTS, CLUSTERS))


@pytest.mark.parametrize(
    "wanted",
    [
        "managedclusters",
        "managedcluster",
        "mcl",
        "ManagedCluster",
        "managedclusters.cluster.open-cluster-management.io",
        "managedclusters.v1.cluster.open-cluster-management.io",
    ],
)
def test_a_resource_goes_by_many_names(wanted: str) -> None:
    assert SERVED.named(wanted) == CLUSTERS


def test_what_is_not_served_is_named() -> None:
    with pytest.raises(InvalidObjectError, match="doesn't have a resource type 'pods'"):
        SERVED.named("pods")
    with pytest.raises(InvalidObjectError, match=r"no kind 'ManagedCluster' in 'v9' \(the server has it in cluster\."):
        SERVED.of_kind("v9", "ManagedCluster")


def test_paths_follow_the_conventions() -> None:
    assert CLUSTERS.object_path("ignored", "c1") == "/apis/cluster.open-cluster-management.io/v1/managedclusters/c1"
    assert EVENTS.path("apps") == "/api/v1/namespaces/apps/events"
    assert EVENTS.path() == "/api/v1/events"


def test_both_forms_of_discovery_say_the_same() -> None:
    aggregated = {
        "items": [
            {
                "metadata": {"name": CLUSTERS.group},
                "versions": [
                    {
                        "version": "v1",
                        "resources": [
                            {
                                "resource": "managedclusters",
                                "responseKind": {"group": CLUSTERS.group, "version": "v1", "kind": "ManagedCluster"},
                                "scope": "Cluster",
                                "singularResource": "managedcluster",
                                "shortNames": ["mcl"],
                            }
                        ],
                    }
                ],
            }
        ]
    }
    legacy = {
        "groupVersion": f"{CLUSTERS.group}/v1",
        "resources": [
            {
                "name": "managedclusters",
                "singularName": "managedcluster",
                "namespaced": False,
                "kind": "ManagedCluster",
                "shortNames": ["mcl"],
            },
            {"name": "managedclusters/status", "singularName": "", "namespaced": False, "kind": "ManagedCluster"},
        ],
    }
    assert from_aggregated([aggregated]) == from_legacy([legacy]) == Discovery((CLUSTERS,))
