"""Synthetic fleets."""

from __future__ import annotations

from collections import Counter

from muster.demo import Fleet, fleet_objects
from muster.demo.clusters import a_cluster


def test_the_same_seed_makes_the_same_fleet_and_another_seed_another() -> None:
    assert list(fleet_objects(Fleet(5, 3, 7))) == list(fleet_objects(Fleet(5, 3, 7)))
    assert list(fleet_objects(Fleet(5, 3, 7))) != list(fleet_objects(Fleet(5, 3, 8)))


def test_a_larger_fleet_starts_with_the_smaller_one() -> None:
    small, large = (
        [obj for obj in fleet_objects(Fleet(size, 0)) if obj["kind"] == "ManagedCluster"] for size in (3, 30)
    )
    assert large[:3] == small


def test_a_fleet_has_every_kind_of_object_in_an_order_in_which_they_can_be_created() -> None:
    objects = list(fleet_objects(Fleet(4, 2)))
    assert Counter(obj["kind"] for obj in objects) == {
        "Namespace": 8,
        "ManagedClusterSet": 6,
        "ManagedClusterSetBinding": 5,
        "ManagedCluster": 4,
        "AddOnPlacementScore": 4,
        "ClusterProfile": 1,
        "Placement": 5,
        "Agent": 2,
        "AgentClassification": 3,
        "Resolution": 2,
        "Cluster": 4,
        "ClusterRequest": 1,
    }
    created: set[str] = set()
    for obj in objects:
        if obj["kind"] == "Namespace":
            created.add(obj["metadata"]["name"])
        elif namespace := obj["metadata"].get("namespace"):
            assert namespace in created


def test_clusters_differ_in_what_selections_look_at() -> None:
    clusters = [a_cluster(1, index) for index in range(300)]
    assert len({each.name for each in clusters}) == 300
    for key, least in (("cloud", 4), ("region", 12), ("version", 40), ("tier", 3), ("vendor", 4)):
        assert len({each.object["metadata"]["labels"][key] for each in clusters}) >= least
    assert any("taints" in each.object["spec"] for each in clusters)
