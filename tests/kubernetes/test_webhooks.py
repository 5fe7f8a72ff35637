"""The webhooks, called by a real kube-apiserver: what they refuse, fill in, say and convert, and what happens without
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.kubernetes.settings import HomeSettings
from muster.selectors.membership import DEFAULT_KEY
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import (
    CLUSTERS,
    OCM,
    SETS,
    User,
    eventually,
    grant,
    install,
    install_kinds,
    replica,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.replicas import Server


pytestmark = [pytest.mark.e2e, pytest.mark.slow]
_SETTINGS = HomeSettings(policies=False)  # so that webhooks alone guard permissions
_PORTS = tuple(free_ports(2))
_PLACEMENTS = f"/apis/{OCM}/v1beta1/namespaces/default/placements"
_BINDINGS = f"/apis/{OCM}/v1beta2/namespaces/default/managedclustersetbindings"


@pytest.fixture(scope="module")
def admin(server: Server) -> User:
    admin = User(server.kubeconfig)
    install(admin, _SETTINGS, *_PORTS)
    install_kinds(admin, _SETTINGS, _PORTS[0])
    everything = {"apiGroups": [OCM], "resources": ["*"], "verbs": ["create", "update", "patch", "get", "delete"]}
    plain = {
        **everything,
        "resources": ["managedclusters", "managedclusters/status", "managedclustersets", "placements"],
    }
    bindings = {**everything, "resources": ["managedclustersetbindings"]}
    join = {"apiGroups": [OCM], "resources": ["managedclustersets/join"], "verbs": ["create"]}
    grant(admin, "dev", plain, bindings, {**join, "resourceNames": ["default", "dev-set"]})
    return admin


@pytest.fixture(scope="module")
def pods(server: Server, admin: User) -> Iterator[None]:
    with replica(server.kubeconfig, ports=(_PORTS[0], _PORTS[1])) as running:
        eventually(lambda: running.health()[0], 200)
        # The server reads new configurations a moment after they were written.
        eventually(lambda: admin.send("POST", f"{SETS}?dryRun=All", a_set("probe")).code, 201)
        eventually(lambda: "default" in str(admin.send("POST", f"{CLUSTERS}?dryRun=All", a_cluster("probe")).body))
        yield


@pytest.fixture(scope="module")
def dev(server: Server, admin: User) -> User:
    return User(server.user("dev"))


def a_set(name: str, version: str = "v1beta2", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{OCM}/{version}",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": spec,
    }


def a_cluster(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{OCM}/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
    }


@pytest.mark.usefixtures("pods")
def test_a_cluster_joins_only_with_permission(dev: User) -> None:
    assert dev.send("POST", CLUSTERS, a_cluster("j1", {DEFAULT_KEY: "dev-set"})).code == 201
    refused = dev.send("POST", CLUSTERS, a_cluster("j2", {DEFAULT_KEY: "prod-set"}))
    assert refused.code == 403
    assert 'admission webhook "clusters.permissions.muster.dev" denied the request' in refused.body["message"]
    assert "prod-set" in refused.body["message"]
    moved = dev.send("PATCH", f"{CLUSTERS}/j1", {"metadata": {"labels": {DEFAULT_KEY: "prod-set"}}})
    assert moved.code == 403
    assert dev.send("PATCH", f"{CLUSTERS}/j1", {"metadata": {"labels": {"color": "red"}}}).code == 200


@pytest.mark.usefixtures("pods")
def test_accepting_and_binding_need_permission(dev: User) -> None:
    assert dev.send("POST", CLUSTERS, a_cluster("a1", hubAcceptsClient=True)).code == 403
    assert dev.send("POST", CLUSTERS, a_cluster("a1", hubAcceptsClient=False)).code == 201
    binding = {
        "apiVersion": f"{OCM}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": "prod-set"},
        "spec": {"clusterSet": "prod-set"},
    }
    assert dev.send("POST", _BINDINGS, binding).code == 403


@pytest.mark.usefixtures("pods")
def test_a_new_set_takes_in_no_cluster_that_its_maker_may_not_update(admin: User, server: Server) -> None:
    admin.ok("POST", CLUSTERS, a_cluster("theirs", {DEFAULT_KEY: "taken"}))
    sets = {"apiGroups": [OCM], "resources": ["managedclustersets"], "verbs": ["create"]}
    seen = {"apiGroups": [OCM], "resources": ["managedclusters"], "verbs": ["get"]}
    grant(admin, "maker", sets, seen)
    maker = User(server.user("maker"))
    eventually(lambda: maker.send("POST", f"{SETS}?dryRun=All", a_set("empty")).code, 201)
    refused = maker.send("POST", SETS, a_set("taken"))
    assert refused.code == 403
    assert "theirs" in refused.body["message"]
    told = admin.send("POST", f"{SETS}?dryRun=All", a_set("taken"))
    assert told.code == 201
    assert any("become members: 1: theirs" in text for text in told.warnings)
    assert admin.send("GET", f"{SETS}/taken").code == 404, "a dry run stores nothing"


@pytest.mark.usefixtures("pods")
def test_defaults_are_filled_in(admin: User) -> None:
    made = admin.ok("POST", CLUSTERS, a_cluster("d1", taints=[{"key": "k", "effect": "NoSelect"}]))
    assert made["metadata"]["labels"][DEFAULT_KEY] == "default"
    assert made["spec"]["taints"][0]["timeAdded"]
    forged = {"spec": {"taints": [{"key": "k", "effect": "NoSelect", "timeAdded": "2001-01-01T00:00:00Z"}]}}
    assert admin.send("PATCH", f"{CLUSTERS}/d1", forged).code == 400


@pytest.mark.usefixtures("pods")
def test_a_placement_that_cannot_work_is_stored_with_a_warning(admin: User) -> None:
    selector = {"celSelector": {"celExpressions": ["managedCluster.nonsense("]}}
    placement = {
        "apiVersion": f"{OCM}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "w1"},
        "spec": {"predicates": [{"requiredClusterSelector": selector}]},
    }
    made = admin.send("POST", _PLACEMENTS, placement)
    assert made.code == 201
    assert any("placement cannot be scheduled" in text for text in made.warnings)


@pytest.mark.usefixtures("pods")
def test_the_fleet_warns_of_a_placement_that_has_no_sets(admin: User) -> None:
    placement = {
        "apiVersion": f"{OCM}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "unbound"},
        "spec": {},
    }

    def warned() -> bool:
        return any(
            "bind" in text.lower() for text in admin.send("POST", f"{_PLACEMENTS}?dryRun=All", placement).warnings
        )

    eventually(warned)


@pytest.mark.usefixtures("pods")
def test_sets_are_served_in_all_their_versions(admin: User) -> None:
    older = a_set("conv", "v1beta1", clusterSelector={"selectorType": "LegacyClusterSetLabel"})
    admin.ok("POST", f"/apis/{OCM}/v1beta1/managedclustersets", older)
    now = admin.ok("GET", f"{SETS}/conv")
    assert now["spec"]["clusterSelector"]["selectorType"] == "ExclusiveClusterSetLabel"
    back = admin.ok("GET", f"/apis/{OCM}/v1beta1/managedclustersets/conv")
    assert back["spec"]["clusterSelector"]["selectorType"] == "LegacyClusterSetLabel"


@pytest.mark.usefixtures("pods")
def test_pairs_hold(admin: User) -> None:
    path = "/api/v1/namespaces/open-cluster-management-hub/configmaps"
    admin.ok("POST", path, {"metadata": {"name": "clusterset-validation"}, "data": {"region": "apac"}})
    try:
        assert admin.send("POST", SETS, a_set("emea", exclusiveKey="region")).code == 403
        assert admin.send("POST", SETS, a_set("apac", exclusiveKey="region")).code == 201
    finally:
        admin.ok("DELETE", f"{path}/clusterset-validation")


def test_without_our_pods_permissions_are_refused_and_everything_else_goes_on(admin: User) -> None:
    """With policies in the API server as usual, only sets that begin to have members wait for us."""
    install(admin, HomeSettings(), *free_ports(2))  # where nobody listens
    eventually(lambda: admin.send("POST", f"{SETS}?dryRun=All", a_set("blocked")).code, 500)
    assert "sets.permissions.muster.dev" in admin.send("POST", SETS, a_set("blocked")).body["message"]
    eventually(lambda: admin.send("POST", f"{CLUSTERS}?dryRun=All", a_cluster("free")).code, 201)
    admin.ok("POST", CLUSTERS, a_cluster("free"))
    condition = {
        "type": "ManagedClusterConditionAvailable",
        "status": "True",
        "reason": "R",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    admin.ok("PATCH", f"{CLUSTERS}/free/status", {"status": {"conditions": [condition]}})
    admin.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "untouched"}})
    lease = {"metadata": {"name": "any"}, "spec": {"holderIdentity": "me"}}
    admin.ok("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
    placement = {
        "apiVersion": f"{OCM}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "free"},
        "spec": {},
    }
    admin.ok("POST", _PLACEMENTS, placement)
    # A set that is there can be changed and deleted, as long as it does not begin to have members.
    existing = [each["metadata"]["name"] for each in admin.ok("GET", SETS)["items"]]
    if existing:
        admin.ok("PATCH", f"{SETS}/{existing[0]}", {"metadata": {"annotations": {"a": "b"}}})
        admin.ok("PATCH", f"{SETS}/{existing[0]}/status", {"status": {"conditions": []}})
