"""Single objects that once ended the controllers for good, written through the API while they run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint
from tests.controllers.running import APPS, CLUSTERS, GROUP, SETS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e
SCORES = f"{GROUP}/v1alpha1/namespaces/victim/addonplacementscores"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/victim/leases"
MERGE = {"Content-Type": "application/merge-patch+json"}
TIMES = (
    "2030-01-01T00:00:00+99:00",
    "2030-01-01T00:00:00+24:00",
    "2030-01-01t00:00:00z",
    "9999-12-31T23:59:59-12:00",
    "0000-01-01T00:00:00Z",
    "2030-01-01T00:00:00.123456789012345678901234567890Z",
)


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        driver.send("POST", "/api/v1/namespaces", {"metadata": {"name": "victim"}})
        yield driver


def test_nothing_that_one_object_holds_ends_the_controllers(hub: Driver) -> None:
    def attempt(method: str, path: str, body: Any) -> int:
        """What is refused is refused; what is not must do no harm."""
        headers = MERGE if method == "PATCH" else {"Content-Type": "application/json"}
        code: int = hub.hub.request(method, path, json.dumps(body).encode(), headers)[0]
        return code

    policy = {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}, "weight": 1}
    spec = {"configurations": [policy, {"scoreCoordinate": {"builtIn": "ResourceAllocatableCPU"}, "weight": 1}]}
    with controllers(hub.hub) as manager:
        hub.create(a_binding("global"), a_cluster("good"), a_cluster("victim"))
        hub.create(a_placement("p1", prioritizerPolicy=spec))
        eventually(hub.decided, ["good", "victim"])
        taken = 0
        for number, text in enumerate(TIMES):
            score = a_score("victim", {"cpu": 5}, name=f"usage-{number}", valid_until=text)
            attempt("POST", SCORES, score)
            taken += attempt("PATCH", f"{SCORES}/usage-{number}/status", {"status": score["status"]}) < 300
            lease = {"metadata": {"name": "managed-cluster-lease"}, "spec": {"renewTime": text}}
            attempt("POST" if not number else "PATCH", f"{LEASES}{'/managed-cluster-lease' if number else ''}", lease)
            attempt("PATCH", f"{CLUSTERS}/victim", {"spec": {"taints": [a_taint("k", "PreferNoSelect", added=text)]}})
        assert taken >= 3  # a server that refuses all of it would make this test say nothing
        many = a_score("victim", {"cpu": 2**31 - 1})
        many["status"]["scores"][0]["quantity"] = "1" * 4301
        attempt("POST", SCORES, many)
        attempt("PATCH", f"{SCORES}/usage/status", {"status": many["status"]})
        attempt("PATCH", f"{LEASES}/managed-cluster-lease", {"spec": {"renewTime": "9999-12-31T23:59:59.000000Z"}})
        attempt("PATCH", f"{CLUSTERS}/victim", {"spec": {"leaseDurationSeconds": -(2**31)}})
        amounts = {"allocatable": {"cpu": "1e309"}, "capacity": {"cpu": "1e309", "memory": "9" * 5000}}
        attempt("PATCH", f"{CLUSTERS}/victim/status", {"status": amounts})
        # Everything else goes on.
        hub.create(a_cluster("fresh"), a_placement("p2"))
        eventually(lambda: {"good", "fresh"} <= set(hub.decided("p2")), True)
        eventually(lambda: {"good", "fresh"} <= set(hub.decided("p1")), True)
        eventually(lambda: manager.idle, True)
        text = manager.metrics.render().decode()
        assert 'muster_unreadable_objects_now{kind="managedclusters"}' in text


def test_a_set_with_a_thousand_labels_is_counted_between_other_work(hub: Driver) -> None:
    labels = {f"l{number}": "x" for number in range(1000)}
    with controllers(hub.hub) as manager:
        hub.create(a_binding("global"), a_placement("p1"))
        for number in range(20):
            hub.send("POST", CLUSTERS, a_cluster(f"c{number:02}", {**labels, "n": str(number)}))
        hub.create(a_set("wide", labels))
        path = f"{SETS}/wide"
        eventually(lambda: hub.condition(path, "ClusterSetEmpty"), ("False", "ClustersSelected"))
        eventually(lambda: manager.idle, True)
        assert hub.get(f"{APPS}/placements/p1") is not None
