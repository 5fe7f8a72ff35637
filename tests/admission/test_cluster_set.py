"""Sets, clusters and bindings as a webhook is asked about them: the same checks as in the hub."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from muster.admission.review import mutated, validated
from muster.selectors.membership import DEFAULT_KEY
from tests.admission.writes import NOW, OCM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.admission import Asker

Object = dict[str, Any]


class World:
    """Some objects, and a user who may nothing but what is listed."""

    def __init__(self, *objects: Object, may: Sequence[tuple[str, str, str]] = ()) -> None:
        self._objects = objects
        self._may = may
        self.asked: list[tuple[str, str, int]] = []

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        return next((each for each in self._of(resource) if each["metadata"]["name"] == name), None)

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[Object]:
        return self._of(resource)

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        found = [each["metadata"] for each in self._of(resource)]
        return [each["name"] for each in found if (each.get("labels") or {}).get(key) == value]

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        path = resource.partition(".")[0]
        self.asked.append((verb, path, len(names)))
        return [name for name in names if (verb, path, name) not in self._may and (verb, path, "*") not in self._may]

    def _of(self, resource: str) -> Sequence[Object]:
        return [each for each in self._objects if f"{each['kind'].lower()}s" == resource.partition(".")[0]]


def a_set(name: str, **spec: Any) -> Object:
    return {"apiVersion": f"{OCM}/v1beta2", "kind": "ManagedClusterSet", "metadata": {"name": name}, "spec": spec}


def a_cluster(name: str, **labels: str) -> Object:
    metadata = {"name": name, "labels": {DEFAULT_KEY: "default", **labels}}
    return {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": {}}


def reviewed(new: Object, world: World, old: Object | None = None, **request: Any) -> Object:
    """The status of a refusal; empty when it is allowed."""
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "resource": {
                "group": OCM,
                "version": new["apiVersion"].rpartition("/")[2],
                "resource": f"{new['kind'].lower()}s",
            },
            "operation": "CREATE" if old is None else "UPDATE",
            "name": new["metadata"]["name"],
            "userInfo": {"username": "sre1"},
            "object": new,
            "oldObject": old,
            **request,
        },
    }
    assert mutated(review, NOW)["response"] == {"uid": "u", "allowed": True}
    found: Object = asyncio.run(validated(review, world, NOW))["response"].get("status") or {}
    return found


def test_a_webhook_refuses_a_set_whose_key_and_clusters_are_not_the_creator_s() -> None:
    get = [("get", "managedclusters", "*")]
    world = World(a_cluster("mc1", region="apac"), a_cluster("mc2", region="us"), may=get)
    status = reviewed(a_set("apac", exclusiveKey="region"), world)
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert [line.strip().partition(" (")[0] for line in status["message"].splitlines()[2:4]] == [
        f'create managedclustersets/exclusiveKey.{OCM} "region"',
        f'update managedclusters.{OCM} "mc1"',
    ]


def test_who_may_update_every_cluster_is_not_asked_about_each() -> None:
    clusters = [a_cluster(f"mc{number}", region="apac") for number in range(50)]
    world = World(
        *clusters, may=[("update", "managedclusters", "*"), ("create", "managedclustersets/exclusiveKey", "*")]
    )
    assert reviewed(a_set("apac", exclusiveKey="region"), world) == {}
    assert ("update", "managedclusters", 50) not in world.asked


def test_thousands_are_asked_about_in_batches() -> None:
    get = [("get", "managedclusters", "*")]
    world = World(*(a_cluster(f"mc{number}", region="apac") for number in range(2500)), may=get)
    status = reviewed(a_set("apac", exclusiveKey="region"), world)
    counts = [count for _, path, count in world.asked if path == "managedclusters"]
    assert counts == [1, 1000, 1000, 500, 1000, 1000, 500]
    assert "for 2490 more" in status["message"]


def test_a_webhook_guards_labels_keys_and_bindings() -> None:
    apac = a_set("apac", exclusiveKey="region")
    old, new = a_cluster("mc1"), a_cluster("mc1", region="apac")
    assert reviewed(new, World(apac), old)["code"] == 403
    assert reviewed(new, World(apac, may=[("create", "managedclustersets/join", "apac")]), old) == {}
    assert reviewed(new, World(), old) == {}
    changed = reviewed(a_set("apac", exclusiveKey="vendor"), World(may=[("create", "x", "*")]), apac)
    assert (changed["code"], changed["details"]["causes"][0]["field"]) == (422, "spec.exclusiveKey")
    binding = {
        "apiVersion": f"{OCM}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": "apac", "namespace": "apps"},
        "spec": {"clusterSet": "apac"},
    }
    assert reviewed(binding, World(), namespace="apps")["code"] == 403
    assert reviewed(binding, World(may=[("create", "managedclustersets/bind", "apac")]), namespace="apps") == {}


def test_a_write_that_moves_nobody_asks_nothing() -> None:
    world = World(a_set("apac", exclusiveKey="region"))
    cluster = a_cluster("mc1", region="apac")
    beating = {**cluster, "status": {"version": {"kubernetes": "v1.31.0"}}}
    assert reviewed(beating, world, cluster) == {}
    assert reviewed(beating, world, cluster, subResource="status") == {}
    assert world.asked == []


def test_addresses_are_https_and_then_the_name_can_be_a_namespace_s() -> None:
    wrong = a_cluster("my.cluster") | {
        "spec": {"managedClusterClientConfigs": [{"url": "http://a"}, {"url": "https://b"}, {"url": "https://[c"}]}
    }
    status = reviewed(wrong, World(may=[("create", "managedclustersets/join", "default")]))
    assert (status["code"], status["message"].splitlines()) == (
        400,
        [
            "metadata.name format is not correct: must not contain dots",
            'url "http://a" is invalid in client configs',
            'url "https://[c" is invalid in client configs',
        ],
    )
