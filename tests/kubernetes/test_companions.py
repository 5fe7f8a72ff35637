"""Programs beside the controllers: what the settings add, and that they can work with the rights that they get."""

from __future__ import annotations

import base64
import contextlib
import json
import signal
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.errors import InvalidObjectError
from muster.importing.found import ACCESS, SOURCE
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.companions import companions
from muster.kubernetes.settings import DEFAULTS, HomeSettings, settings_from
from tests.collecting.fakes import FakeClusters
from tests.kubernetes.installing import install
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import CLUSTERS, User, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.values.json import JsonObject
    from tests.kubernetes.server import Server

HOME = DEFAULTS.namespace
BOTH = HomeSettings(sync=True, registration=True)


def of(settings: HomeSettings, kind: str, name: str) -> JsonObject:
    (found,) = [each for each in objects(settings) if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def test_each_is_an_option_that_changes_nothing_else() -> None:
    before = objects(DEFAULTS)
    for settings, name in (
        (HomeSettings(sync=True), "muster-sync"),
        (HomeSettings(registration=True), "muster-registration"),
    ):
        added = [each for each in objects(settings) if each not in before]
        assert {each["metadata"]["name"] for each in added} == {name}
        assert [each for each in before if each not in objects(settings)] == []
        accounts = {one["name"] for each in added for one in each.get("subjects", [])}
        assert accounts == {name}, "what it may do is nobody else's"


def test_nobody_but_those_who_look_reads_credentials_and_they_read_no_others() -> None:
    def reading(settings: HomeSettings, name: str) -> list[Any]:
        return [
            each.get("resourceNames")
            for each in of(settings, "ClusterRole", name)["rules"]
            if "secrets" in each["resources"]
        ]

    assert reading(BOTH, "muster-sync") == [["muster-kubeconfig"]]
    assert reading(BOTH, "muster") == reading(BOTH, "muster-registration") == []


def test_profiles_are_written_where_that_is_set() -> None:
    def args(settings: HomeSettings) -> list[str]:
        found: list[str] = of(settings, "Deployment", "muster")["spec"]["template"]["spec"]["containers"][0]["args"]
        return found

    def writes(settings: HomeSettings) -> bool:
        rules = of(settings, "ClusterRole", "muster")["rules"]
        return any("clusterprofiles" in each["resources"] and "create" in each["verbs"] for each in rules)

    with_profiles = HomeSettings(cluster_profiles=True)
    assert ("--cluster-profiles" in args(with_profiles), writes(with_profiles)) == (True, True)
    assert ("--cluster-profiles" in args(DEFAULTS), writes(DEFAULTS)) == (False, False)


@pytest.mark.parametrize("setting", ["registration", "clusterProfiles"])
@pytest.mark.parametrize("mode", ["beside", "instead"])
def test_what_open_cluster_management_does_is_left_to_it(setting: str, mode: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        settings_from({"mode": mode, setting: True})
    assert str(caught.value).startswith(setting)


# -------------------------------------------------------------------------------------------------- on a real server


@contextlib.contextmanager
def running(*command: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "muster", *command], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def told(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        found: bytes = answer.read()
    return found.decode()


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_they_work_with_the_rights_that_they_get(server: Server, tmp_path: Path) -> None:
    install(server)
    admin = User(server.kubeconfig)
    admin.ok("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": HOME}})
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    rights = [each for each in companions(BOTH) if each["kind"] in kinds]
    applied = ["kubectl", f"--kubeconfig={server.kubeconfig}", "apply", "-f", "-"]
    subprocess.run(applied, input=yaml.safe_dump_all(rights), text=True, check=True, capture_output=True)

    def account(name: str) -> str:
        return str(server.user(f"system:serviceaccount:{HOME}:{name}", ("system:serviceaccounts",)))

    def condition(cluster: str, kind: str) -> str:
        found = admin.ok("GET", f"{CLUSTERS}/{cluster}").get("status", {}).get("conditions", [])
        return next((each["status"] for each in found if each["type"] == kind), "")

    looking, letting_in = free_ports(2)
    with FakeClusters(tmp_path).running() as clusters:
        clusters.add("far")
        admin.ok("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": "far"}})
        config = base64.b64encode(json.dumps(clusters.kubeconfig("far")).encode()).decode()
        secret = {"kind": "Secret", "metadata": {"name": "muster-kubeconfig"}, "data": {"kubeconfig": config}}
        admin.ok("POST", "/api/v1/namespaces/far/secrets", secret)
        kind = {"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster"}
        metadata = {"name": "far", "labels": {SOURCE: "kubeconfig"}, "annotations": {ACCESS: "secret"}}
        admin.ok("POST", CLUSTERS, {**kind, "metadata": metadata, "spec": {"hubAcceptsClient": True}})
        options = (f"--lease-namespace={HOME}", f"--listen=127.0.0.1:{looking}", "--every=1", "--full-every=1")
        with running("sync", "--watch", *options, "--kubeconfig", account("muster-sync")):
            eventually(lambda: condition("far", "Synced"), "True")
            lease = "/apis/coordination.k8s.io/v1/namespaces/far/leases/managed-cluster-lease"
            eventually(lambda: admin.ok("GET", lease)["spec"]["holderIdentity"], "muster-sync")
            eventually(lambda: told(looking, "/readyz"), "ok")
            metrics = told(looking, "/metrics")
            assert "\nmuster_sync_clusters 1\n" in metrics
            assert "\nmuster_sync_connections 1\n" in metrics
    more = (f"--namespace={HOME}", f"--listen=127.0.0.1:{letting_in}")
    with running("kubernetes", "registration", *more, "--kubeconfig", account("muster-registration")):
        metadata = {"name": "near", "annotations": {"muster.dev/agent": "true"}}
        admin.ok("POST", CLUSTERS, {**kind, "metadata": metadata, "spec": {"hubAcceptsClient": True}})
        eventually(lambda: condition("near", "HubAcceptedManagedCluster"), "True")
        role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/open-cluster-management:managedcluster:near"
        assert admin.ok("GET", role)["rules"]
        assert admin.ok("GET", "/apis/coordination.k8s.io/v1/namespaces/near/leases/managed-cluster-lease")
        eventually(lambda: told(letting_in, "/readyz"), "ok")
        assert 'workqueue_depth{name="registration"}' in told(letting_in, "/metrics")
        admin.ok("DELETE", f"{CLUSTERS}/near")
        eventually(lambda: admin.send("GET", role).code, 404)
