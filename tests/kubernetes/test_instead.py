"""In the place of Open Cluster Management's placement controller: its role, its lease, its kinds, its probes."""

from __future__ import annotations

import ssl
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from muster.api import RESOURCES
from muster.cli.main import typed
from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.replicas import CLUSTERS, OCM, SETS, User, eventually, grant, install, install_kinds, replica

if TYPE_CHECKING:
    from tests.kubernetes.replicas import Server

_HUB = "open-cluster-management-hub"
_LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{_HUB}/leases/placement-lock"
_PLACEMENTS = f"/apis/{OCM}/v1beta1/namespaces/default/placements"
_DECISIONS = f"/apis/{OCM}/v1beta1/namespaces/default/placementdecisions"
_READ = ["get", "list", "watch"]
#: What the role of Open Cluster Management's controller allows, as its operator installs it.
_ROLE = (
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": [*_READ, "create", "delete", "update"]},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]},
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": [*_READ, "create", "update", "patch"],
    },
    {
        "apiGroups": [OCM],
        "resources": ["managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores"],
        "verbs": _READ,
    },
    {"apiGroups": [OCM], "resources": ["placements"], "verbs": _READ},
    {
        "apiGroups": [OCM],
        "resources": ["placementdecisions"],
        "verbs": [*_READ, "create", "update", "patch", "delete"],
    },
    {"apiGroups": [OCM], "resources": ["placements/status", "placementdecisions/status"], "verbs": ["update", "patch"]},
    {"apiGroups": [OCM], "resources": ["placements/finalizers"], "verbs": ["update"]},
)


def test_under_the_name_of_the_controller_it_is_the_controller() -> None:
    assert typed(["/placement", "controller", "-v", "4"]) == ["kubernetes", "placement", "controller", "-v", "4"]
    assert typed(["/usr/bin/muster", "version"]) == ["version"]


def an_object(kind: str, version: str, name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": f"{OCM}/{version}", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.e2e
@pytest.mark.slow
def test_placements_are_decided_within_the_role_of_the_controller_it_replaces(server: Server) -> None:
    admin = User(server.kubeconfig)
    install(admin, HomeSettings(webhooks=False), 0, 0)
    ours_alone = tuple(key for key, each in RESOURCES.items() if each.group != OCM)
    install_kinds(admin, HomeSettings(webhooks=False), without=ours_alone)
    grant(admin, "placement-controller", *_ROLE)
    admin.ok("POST", SETS, an_object("ManagedClusterSet", "v1beta2", "default"))
    selector = {"selectorType": "LabelSelector", "labelSelector": {}}
    admin.ok("POST", SETS, an_object("ManagedClusterSet", "v1beta2", "global", clusterSelector=selector))
    bindings = f"/apis/{OCM}/v1beta2/namespaces/default/managedclustersetbindings"
    admin.ok("POST", bindings, an_object("ManagedClusterSetBinding", "v1beta2", "global", clusterSet="global"))
    for name in ("c1", "c2"):
        admin.ok("POST", CLUSTERS, an_object("ManagedCluster", "v1", name, {"in": "here"}, hubAcceptsClient=True))
    wanted = {"labelSelector": {"matchLabels": {"in": "here"}}}
    admin.ok(
        "POST",
        _PLACEMENTS,
        an_object("Placement", "v1beta1", "p", predicates=[{"requiredClusterSelector": wanted}]),
    )

    def decided() -> list[str]:
        pages = admin.ok("GET", f"{_DECISIONS}?labelSelector={OCM}/placement=p")["items"]
        return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", ()))

    flags = ["--feature-gates=PlacementDebugServer=true", "--tls-min-version=VersionTLS12", "-v=2"]
    flags += ["--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]
    command = ("kubernetes", "placement", "controller")
    with replica(server.user("placement-controller"), f"--namespace={_HUB}", *flags, command=command) as running:
        eventually(lambda: running.says("leading"))
        eventually(decided, ["c1", "c2"])
        assert admin.ok("GET", _LEASE)["spec"]["holderIdentity"]
        eventually(lambda: admin.ok("GET", f"{_PLACEMENTS}/p")["status"]["numberOfSelectedClusters"], 2)
        assert "taints" not in admin.ok("GET", f"{CLUSTERS}/c1")["spec"], "taints are somebody else's"
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        address = f"https://127.0.0.1:{running.health_port}/healthz"
        with urllib.request.urlopen(address, timeout=10, context=trust) as reply:
            assert reply.status == 200
        # One more cluster, and what the server lacks is not asked for again and again.
        admin.ok("POST", CLUSTERS, an_object("ManagedCluster", "v1", "c3", {"in": "here"}, hubAcceptsClient=True))
        eventually(decided, ["c1", "c2", "c3"])
        assert not running.says("internal error")
        # Records of guards are no part of that role: guarded placements would lose nothing, which is said once.
        refused = [line for line in running.log if "orbidden" in line]
        assert ["guarded placements lose no cluster" in line for line in refused] == [True], refused
    eventually(lambda: admin.ok("GET", _LEASE)["spec"].get("holderIdentity", ""), "")
