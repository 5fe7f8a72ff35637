"""From a token to a cluster of the fleet, and back out again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission import Settings
from muster.api.registration import ACCEPTED, FINALIZER
from muster.hub.access import AccessSettings
from tests.builders import a_binding, a_placement
from tests.controllers.registration.joining import (
    CSRS,
    LABEL,
    PREFIX,
    a_cluster,
    a_joiner,
    a_request,
    accept,
    an_agent,
    joined,
)
from tests.controllers.running import CLUSTERS, available, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.controllers.running import Driver

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ADDONS = "/apis/addon.open-cluster-management.io/v1alpha1/namespaces/{}/managedclusteraddons"
YES, NO = ("True", "HubClusterAdminAccepted"), ("False", "HubClusterAdminDenied")


@pytest.fixture
def driver() -> Iterator[Driver]:
    with driven_hub() as found, controllers(found.hub):
        yield found


def lease(cluster: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/{cluster}/leases/managed-cluster-lease"


def verdict(driver: Driver, cluster: str) -> tuple[str, str] | None:
    return driver.condition(f"{CLUSTERS}/{cluster}", ACCEPTED)


def bindings(driver: Driver, cluster: str) -> list[str]:
    found = driver.get(f"{RBAC}/namespaces/{cluster}/rolebindings")["items"]
    return sorted(each["metadata"]["name"].rpartition(":")[2] for each in found)


def test_a_cluster_joins_works_is_denied_and_goes(driver: Driver) -> None:
    joiner = a_joiner(driver)
    assert joiner.send("POST", CLUSTERS, a_cluster("c1"))[0] == 201
    assert joiner.send("POST", CSRS, a_request("c1", "first"))[0] == 201
    agent = an_agent(driver, "c1")
    assert agent.send("GET", f"{CLUSTERS}/c1")[0] == 403  # nobody has let it in
    accept(driver, "c1", "first")

    # It is let in: a namespace, rights, a lease, and the kind that every agent watches.
    eventually(lambda: verdict(driver, "c1"), YES)
    assert driver.get("/api/v1/namespaces/c1")["metadata"]["labels"][LABEL] == "c1"
    assert bindings(driver, "c1") == ["registration", "work"]
    assert FINALIZER in driver.get(f"{CLUSTERS}/c1")["metadata"]["finalizers"]
    held = agent.send("GET", lease("c1"))[1]
    held["spec"]["renewTime"] = "2030-01-01T00:00:00.000000Z"
    assert agent.send("PUT", lease("c1"), held)[0] == 200
    eventually(lambda: agent.send("GET", ADDONS.format("c1"))[0], 200)
    now = {"lastTransitionTime": "2026-11-18T00:00:00Z", "message": "", "reason": "Said"}
    said = [
        *driver.get(f"{CLUSTERS}/c1")["status"]["conditions"],
        {"type": "ManagedClusterJoined", "status": "True", **now},
    ]
    assert agent.patch(f"{CLUSTERS}/c1/status", {"status": {"conditions": said}})[0] == 200

    # It renews its certificate by itself.
    assert agent.send("POST", CSRS, a_request("c1", "second"))[0] == 201
    eventually(
        lambda: driver.condition(f"{CSRS}/second", "Approved"), ("True", "AutoApprovedByHubCSRApprovingController")
    )

    # It is denied: its agent sees that, and nothing else.
    driver.patch(f"{CLUSTERS}/c1", {"spec": {"hubAcceptsClient": False}})
    eventually(lambda: verdict(driver, "c1"), NO)
    assert agent.send("GET", f"{CLUSTERS}/c1")[0] == 200
    assert [agent.send("GET", lease("c1"))[0], agent.send("POST", CSRS, a_request("c1", "third"))[0]] == [403, 403]

    # It is accepted again, and deleted: its add-ons go first, its rights after them, the namespace stays.
    driver.patch(f"{CLUSTERS}/c1", {"spec": {"hubAcceptsClient": True}})
    eventually(lambda: verdict(driver, "c1"), YES)
    addon = {"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": "ManagedClusterAddOn"}
    metadata = {"name": "logs", "finalizers": ["example.com/agent"]}
    driver.send("POST", ADDONS.format("c1"), {**addon, "metadata": metadata})
    driver.send("DELETE", f"{CLUSTERS}/c1")
    eventually(lambda: driver.condition(f"{CLUSTERS}/c1", "Deleting"), ("False", "ResourceRemaining"))
    assert bindings(driver, "c1") == ["registration", "work"]
    driver.patch(f"{ADDONS.format('c1')}/logs", {"metadata": {"finalizers": None}})
    eventually(lambda: driver.get(f"{CLUSTERS}/c1"), None)
    eventually(lambda: bindings(driver, "c1"), [])
    left = [f"{RBAC}/clusterroles/open-cluster-management:managedcluster:c1", lease("c1")]
    assert [driver.get(path) for path in left] == [None, None]
    assert driver.get("/api/v1/namespaces/c1")["status"]["phase"] == "Active"


def test_clusters_without_an_agent_are_left_alone(driver: Driver) -> None:
    driver.create({**a_cluster("fed"), "spec": {"hubAcceptsClient": True}})
    a_joiner(driver)
    joined(driver, "c1")
    eventually(lambda: verdict(driver, "c1"), YES)
    assert driver.get("/api/v1/namespaces/fed") is None
    assert "finalizers" not in driver.get(f"{CLUSTERS}/fed")["metadata"]


@pytest.mark.parametrize(
    ("name", "reason"), [("apps", "NamespaceTaken"), ("kube-edge", "NameReserved"), ("work", "NameReserved")]
)
def test_no_cluster_gets_what_belongs_to_others(driver: Driver, name: str, reason: str) -> None:
    found = a_cluster(name, hubAcceptsClient=True)
    driver.send("POST", CLUSTERS, {**found, "metadata": {"name": name, "annotations": {"muster.dev/agent": "true"}}})
    eventually(lambda: verdict(driver, name), ("False", reason))
    assert driver.get(f"{RBAC}/clusterrolebindings/open-cluster-management:managedcluster:{name}") is None


def test_a_namespace_that_is_marked_is_taken(driver: Driver) -> None:
    driver.patch("/api/v1/namespaces/apps", {"metadata": {"labels": {LABEL: "apps"}}})
    a_joiner(driver)
    joined(driver, "apps")
    eventually(lambda: verdict(driver, "apps"), YES)


def test_rights_that_somebody_has_changed_are_put_right(driver: Driver) -> None:
    a_joiner(driver)
    joined(driver, "c1")
    eventually(lambda: verdict(driver, "c1"), YES)
    role = f"{RBAC}/clusterroles/open-cluster-management:managedcluster:c1"
    rules = driver.get(role)["rules"]
    driver.patch(role, {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})
    driver.patch(f"{CLUSTERS}/c1", {"spec": {"hubAcceptsClient": False}})
    eventually(lambda: verdict(driver, "c1"), NO)
    driver.patch(f"{CLUSTERS}/c1", {"spec": {"hubAcceptsClient": True}})
    eventually(lambda: verdict(driver, "c1"), YES)
    assert driver.get(role)["rules"] == rules


def test_nobody_renews_for_somebody_else(driver: Driver) -> None:
    a_joiner(driver)
    joined(driver, "c1")
    eventually(lambda: verdict(driver, "c1"), YES)
    agent = an_agent(driver, "c1")
    wrong = {
        "another-clusters": (f"{PREFIX}c2:a1", f"{PREFIX}c2"),
        "another-agents": (f"{PREFIX}c1:a2", f"{PREFIX}c1"),
        "of-two-clusters": (f"{PREFIX}c1:a1", f"{PREFIX}c1", f"{PREFIX}c2"),
        "a-nodes": (f"{PREFIX}c1:a1", f"{PREFIX}c1", "system:nodes"),
        "of-no-agent": (f"{PREFIX}c1", f"{PREFIX}c1"),
        "of-a-longer-name": (f"{PREFIX}c1:a1:b", f"{PREFIX}c1"),
    }
    for name, subject in wrong.items():
        assert agent.send("POST", CSRS, a_request("c1", name, *subject))[0] == 201
    assert agent.send("POST", CSRS, a_request("c1", "mine"))[0] == 201
    eventually(lambda: driver.condition(f"{CSRS}/mine", "Approved") is not None, True)
    time.sleep(0.1)  # requests are looked at one after the other: the wrong ones came first
    assert [name for name in wrong if driver.condition(f"{CSRS}/{name}", "Approved")] == []


def test_a_new_cluster_gets_no_work_until_it_is_ready() -> None:
    settings = AccessSettings(admission=Settings(taint_on_join=True))
    with driven_hub(settings=settings) as driver, controllers(driver.hub):
        driver.create(a_binding("global"), a_placement())
        a_joiner(driver)
        joined(driver, "c1")
        eventually(lambda: verdict(driver, "c1"), YES)
        agent = an_agent(driver, "c1")

        def say(**said: Any) -> None:
            conditions = driver.get(f"{CLUSTERS}/c1")["status"]["conditions"]
            kept = [each for each in conditions if each["type"] == ACCEPTED]
            fresh = available(a_cluster("c1"))["conditions"]
            assert agent.patch(f"{CLUSTERS}/c1/status", {"status": {"conditions": kept + fresh, **said}})[0] == 200

        def taints() -> list[str]:
            return [each["key"] for each in driver.get(f"{CLUSTERS}/c1")["spec"].get("taints", ())]

        say()  # available, and nobody knows its version
        eventually(taints, ["muster.dev/joining"])
        assert driver.decided() == []
        say(version={"kubernetes": "v1.36.0"})
        eventually(taints, [])
        eventually(lambda: driver.decided(), ["c1"])
