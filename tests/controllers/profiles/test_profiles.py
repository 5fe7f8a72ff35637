"""ClusterProfiles where a set is bound: made, kept true, and taken away; those of others are left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding
from tests.controllers.running import CLUSTERS, SETS, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.controllers.running import Driver

PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/apps/clusterprofiles"
BINDINGS = "/apis/cluster.open-cluster-management.io/v1beta2/namespaces/apps/managedclustersetbindings"
LABEL = "cluster.open-cluster-management.io/clusterset"


@pytest.fixture
def driver() -> Iterator[Driver]:
    with driven_hub() as found, controllers(found.hub, profiles=True):
        found.send(
            "POST",
            SETS,
            {
                "apiVersion": f"{LABEL.partition('/')[0]}/v1beta2",
                "kind": "ManagedClusterSet",
                "metadata": {"name": "prod"},
            },
        )
        for name in ("c1", "c2", "c3"):
            labels = {} if name == "c3" else {LABEL: "prod"}
            found.create(
                {
                    "apiVersion": f"{LABEL.partition('/')[0]}/v1",
                    "kind": "ManagedCluster",
                    "metadata": {"name": name, "labels": labels},
                    "spec": {"hubAcceptsClient": True},
                }
            )
        yield found


def names(driver: Driver) -> list[str]:
    return [each["metadata"]["name"] for each in driver.get(PROFILES)["items"]]


def status(driver: Driver, name: str) -> dict[str, Any]:
    found = (driver.get(f"{PROFILES}/{name}") or {}).get("status", {})
    return {
        "version": found.get("version", {}).get("kubernetes"),
        "properties": {each["name"]: each["value"] for each in found.get("properties", ())},
        "conditions": {each["type"]: each["status"] for each in found.get("conditions", ())},
    }


def test_profiles_follow_bindings_sets_and_clusters(driver: Driver) -> None:
    assert names(driver) == []
    driver.create(a_binding("prod"))
    eventually(lambda: names(driver), ["c1", "c2"])
    found = driver.get(f"{PROFILES}/c1")
    assert found["spec"] == {"displayName": "c1", "clusterManager": {"name": "open-cluster-management"}}
    labels = {
        "x-k8s.io/cluster-manager": "open-cluster-management",
        "open-cluster-management.io/cluster-name": "c1",
        "multicluster.x-k8s.io/clusterset": "prod",
    }
    assert found["metadata"]["labels"] == labels

    # What a cluster says, its profile says.
    conditions = driver.get(f"{CLUSTERS}/c1")["status"]["conditions"]
    conditions.append({**conditions[0], "type": "ManagedClusterJoined"})
    claims = [{"name": "region.example.com", "value": "eu"}]
    said = {"version": {"kubernetes": "v1.36.0"}, "clusterClaims": claims, "conditions": conditions}
    driver.patch(f"{CLUSTERS}/c1/status", {"status": said})
    wanted = {
        "version": "v1.36.0",
        "properties": {"region.example.com": "eu"},
        "conditions": {"ControlPlaneHealthy": "True", "Joined": "True"},
    }
    eventually(lambda: status(driver, "c1"), wanted)
    driver.patch(f"{PROFILES}/c1/status", {"status": {"properties": None, "version": {"kubernetes": "v9"}}})
    eventually(lambda: status(driver, "c1"), wanted)
    driver.patch(f"{PROFILES}/c1", {"metadata": {"labels": {"x-k8s.io/cluster-manager": "me"}}})
    eventually(lambda: driver.get(f"{PROFILES}/c1")["metadata"]["labels"], labels)

    # Who is in the set has a profile; who leaves it, or is deleted, has none.
    driver.patch(f"{CLUSTERS}/c3", {"metadata": {"labels": {LABEL: "prod"}}})
    eventually(lambda: names(driver), ["c1", "c2", "c3"])
    driver.patch(f"{CLUSTERS}/c2", {"metadata": {"labels": {LABEL: "default"}}})
    eventually(lambda: names(driver), ["c1", "c3"])
    driver.send("DELETE", f"{CLUSTERS}/c3")
    eventually(lambda: names(driver), ["c1"])
    driver.send("DELETE", f"{PROFILES}/c1")
    eventually(lambda: names(driver), ["c1"])
    driver.send("DELETE", f"{BINDINGS}/prod")
    eventually(lambda: names(driver), [])


def test_how_others_get_to_a_cluster_stays_in_its_profile(driver: Driver) -> None:
    driver.create(a_binding("prod"))
    eventually(lambda: names(driver), ["c1", "c2"])
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"clusterName": "c1"}}
    way = {"name": "secretreader", "cluster": {"server": "https://c1.example.com", "extensions": [extension]}}
    old = {"name": "older", "cluster": {"server": "https://c1.example.com"}}
    ways = {"accessProviders": [way], "credentialProviders": [old]}
    driver.patch(f"{PROFILES}/c1/status", {"status": ways})
    driver.patch(f"{CLUSTERS}/c1/status", {"status": {"version": {"kubernetes": "v1.36.0"}}})
    eventually(lambda: status(driver, "c1")["version"], "v1.36.0")
    found = driver.get(f"{PROFILES}/c1")["status"]
    assert {key: found[key] for key in ways} == ways


def test_profiles_of_others_are_left_alone(driver: Driver) -> None:
    other = {
        "apiVersion": "multicluster.x-k8s.io/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {"name": "c1"},
        "spec": {"displayName": "theirs", "clusterManager": {"name": "somebody"}},
    }
    driver.send("POST", PROFILES, other)
    driver.create(a_binding("prod"))
    eventually(lambda: names(driver), ["c1", "c2"])
    driver.send("DELETE", f"{BINDINGS}/prod")
    eventually(lambda: names(driver), ["c1"])
    assert driver.get(f"{PROFILES}/c1")["spec"] == other["spec"]
