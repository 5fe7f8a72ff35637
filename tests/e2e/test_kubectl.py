"""The real kubectl drives the hub as a new user would. Skipped where there is none on PATH."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.rest.running import RunningHub

KUBECTL = os.environ.get("KUBECTL") or shutil.which("kubectl")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]

CLUSTER = """\
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: {name}
  labels:
    region: eu
spec:
  hubAcceptsClient: true
"""


@dataclass
class Kubectl:
    """kubectl with a kubeconfig and a home of its own."""

    home: Path
    kubeconfig: Path

    def __call__(self, *args: str, stdin: str | None = None, fails: bool = False, **env: str) -> str:
        result = self.run(*args, stdin=stdin, **env)
        assert (result.returncode != 0) == fails, f"kubectl {' '.join(args)}\n{result.stdout}{result.stderr}"
        return result.stderr if fails else result.stdout

    def run(self, *args: str, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        assert KUBECTL is not None
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig), **env}
        return subprocess.run(
            [KUBECTL, *args], input=stdin, capture_output=True, text=True, timeout=60, env=environment, check=False
        )

    def json(self, *args: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(self(*args, "-o", "json"))
        return found


@pytest.fixture(scope="module")
def kubectl(hub: RunningHub, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    home = tmp_path_factory.mktemp("home")
    return Kubectl(home, hub.kubeconfig(home / "kubeconfig"))


@pytest.fixture
def minor(kubectl: Kubectl) -> int:
    """The minor version of the client."""
    found = re.search(r'"gitVersion": "v1\.(\d+)', kubectl("version", "--client", "-o", "json"))
    assert found is not None
    return int(found[1])


def test_api_resources_names_our_kinds_with_their_short_names(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources").splitlines()
    shown = {line.split()[0]: line.split()[1:] for line in lines}
    assert shown["managedclusters"][0] == "mcl,mcls"
    assert {"placements", "managedclustersets", "namespaces", "configmaps", "leases", "clusterroles"} <= set(shown)


def test_apply_twice_says_created_then_unchanged_then_configured(kubectl: Kubectl) -> None:
    manifest = CLUSTER.format(name="applied")
    name = "managedcluster.cluster.open-cluster-management.io/applied"
    assert kubectl("apply", "-f", "-", stdin=manifest) == f"{name} created\n"
    assert kubectl("apply", "-f", "-", stdin=manifest) == f"{name} unchanged\n"
    changed = manifest.replace("region: eu", "region: us")
    assert kubectl("apply", "-f", "-", stdin=changed) == f"{name} configured\n"
    assert kubectl("get", "mcl", "applied", "-o", "jsonpath={.metadata.labels.region}") == "us"


def test_server_side_apply_twice_changes_nothing_the_second_time(kubectl: Kubectl) -> None:
    manifest = CLUSTER.format(name="ssa")
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=manifest)
    before = kubectl("get", "mcl", "ssa", "-o", "jsonpath={.metadata.resourceVersion}")
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=manifest)
    assert kubectl("get", "mcl", "ssa", "-o", "jsonpath={.metadata.resourceVersion}") == before


def test_a_field_of_another_manager_is_a_conflict_until_it_is_forced(kubectl: Kubectl) -> None:
    manifest = CLUSTER.format(name="conflict")
    kubectl("apply", "--server-side", "--field-manager", "one", "-f", "-", stdin=manifest)
    other = manifest.replace("region: eu", "region: us")
    refused = kubectl("apply", "--server-side", "--field-manager", "two", "-f", "-", stdin=other, fails=True)
    assert 'conflict with "one"' in refused
    kubectl("apply", "--server-side", "--field-manager", "two", "--force-conflicts", "-f", "-", stdin=other)
    assert kubectl("get", "mcl", "conflict", "-o", "jsonpath={.metadata.labels.region}") == "us"


def test_get_prints_columns_wide_columns_labels_and_yaml(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="shown"))
    header, row = kubectl("get", "mcl", "shown").splitlines()
    assert header.split()[:3] == ["NAME", "HUB", "ACCEPTED"]
    assert row.split()[:2] == ["shown", "true"]
    assert "region=eu" in kubectl("get", "mcl", "shown", "-o", "wide", "--show-labels")
    assert "hubAcceptsClient: true" in kubectl("get", "mcl", "shown", "-o", "yaml")
    assert kubectl("get", "mcl", "-l", "region=eu", "--field-selector", "metadata.name=shown", "-o", "name") == (
        "managedcluster.cluster.open-cluster-management.io/shown\n"
    )


def test_get_watches_changes(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="watched"))
    output: list[str] = []

    def watch() -> None:
        output.append(kubectl.run("get", "mcl", "watched", "-w", "--request-timeout=4s", "--no-headers").stdout)

    watching = threading.Thread(target=watch)
    watching.start()
    time.sleep(1.5)
    kubectl("label", "mcl", "watched", "seen=1")
    watching.join()
    assert [line.split()[0] for line in output[0].splitlines()] == ["watched", "watched"]


def test_describe_shows_the_object_and_asks_for_events(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="described"))
    shown = kubectl("describe", "mcl", "described")
    assert "Hub Accepts Client:" in shown
    assert re.search(r"Events:\s+<none>", shown)


def test_label_annotate_patch_and_edit_change_the_object(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="changed"))
    kubectl("label", "mcl", "changed", "tier=gold")
    kubectl("annotate", "mcl", "changed", "note=x")
    kubectl("patch", "mcl", "changed", "--type=merge", "-p", '{"spec":{"leaseDurationSeconds":90}}')
    kubectl("patch", "mcl", "changed", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels/region"}]')
    kubectl("edit", "mcl", "changed", KUBE_EDITOR="sed -i s/gold/silver/")
    found = json.loads(kubectl("get", "mcl", "changed", "-o", "json"))
    assert found["metadata"]["labels"] == {"tier": "silver"}
    assert found["metadata"]["annotations"]["note"] == "x"
    assert found["spec"] == {"hubAcceptsClient": True, "leaseDurationSeconds": 90}
    refused = kubectl("patch", "mcl", "changed", "-p", '{"metadata":{"labels":{"p":"2"}}}', fails=True)
    assert "accepted media types include: application/json-patch+json, application/merge-patch+json" in refused


def test_built_in_kinds_take_strategic_patches(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=a=1", "--from-literal=b=2")
    kubectl("patch", "configmap", "settings", "-p", '{"data":{"a":null,"c":"3"}}')
    assert json.loads(kubectl("get", "cm", "settings", "-o", "json"))["data"] == {"b": "2", "c": "3"}


def test_wait_sees_conditions_and_deletions(kubectl: Kubectl, hub: RunningHub) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="waited"))
    condition = {
        "type": "ManagedClusterConditionAvailable",
        "status": "True",
        "reason": "Up",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    code, _, body = hub.request(
        "PATCH",
        "/apis/cluster.open-cluster-management.io/v1/managedclusters/waited/status",
        json.dumps({"status": {"conditions": [condition]}}).encode(),
        {"Content-Type": "application/merge-patch+json"},
    )
    assert code == 200, body
    kubectl("wait", "mcl/waited", "--for=condition=ManagedClusterConditionAvailable", "--timeout=10s")
    finalizers = '{"metadata":{"finalizers":["example.com/hold"]}}'
    kubectl("patch", "mcl", "waited", "--type=merge", "-p", finalizers)
    kubectl("delete", "mcl", "waited", "--wait=false")
    release = ("patch", "mcl", "waited", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    later = threading.Timer(1.0, kubectl, release)
    later.start()
    kubectl("wait", "mcl/waited", "--for=delete", "--timeout=10s")
    later.join()


def test_delete_waits_until_the_object_is_gone(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=CLUSTER.format(name="doomed"))
    assert "deleted" in kubectl("delete", "mcl", "doomed")
    assert "NotFound" in kubectl("get", "mcl", "doomed", fails=True)
    assert "NotFound" in kubectl("delete", "mcl", "doomed", fails=True)


def test_diff_shows_what_apply_would_change(kubectl: Kubectl) -> None:
    manifest = CLUSTER.format(name="diffed")
    kubectl("apply", "-f", "-", stdin=manifest)
    assert kubectl("diff", "-f", "-", stdin=manifest) == ""
    result = kubectl.run("diff", "-f", "-", stdin=manifest.replace("region: eu", "region: us"))
    assert result.returncode == 1
    assert re.search(r"^-\s+region: eu$", result.stdout, re.MULTILINE)
    assert re.search(r"^\+\s+region: us$", result.stdout, re.MULTILINE)


def test_explain_describes_our_fields(kubectl: Kubectl) -> None:
    shown = kubectl("explain", "managedcluster.spec")
    assert "hubAcceptsClient" in shown
    assert "<boolean>" in shown
    assert "leaseDurationSeconds" in kubectl("explain", "managedcluster", "--recursive")


def test_a_namespace_is_created_used_and_deleted_with_what_is_in_it(kubectl: Kubectl) -> None:
    kubectl("create", "ns", "team")
    kubectl("-n", "team", "create", "configmap", "inside", "--from-literal=a=1")
    kubectl("-n", "team", "create", "secret", "generic", "hidden", "--from-literal=password=x")
    assert kubectl("-n", "team", "get", "secret", "hidden", "-o", "jsonpath={.data.password}") == "eA=="
    kubectl("delete", "ns", "team", "--timeout=20s")
    assert "NotFound" in kubectl("get", "ns", "team", fails=True)


def test_unknown_fields_are_refused_as_kubectl_asks(kubectl: Kubectl, minor: int) -> None:
    manifest = CLUSTER.format(name="typo").replace("hubAcceptsClient", "hubAcceptClient")
    refused = kubectl("apply", "-f", "-", stdin=manifest, fails=True)
    # Before 1.25 kubectl validated by itself, with our schema.
    assert ('unknown field "spec.hubAcceptClient"' if minor >= 25 else 'unknown field "hubAcceptClient"') in refused


def test_roles_and_access_reviews_work_over_protobuf(kubectl: Kubectl, minor: int) -> None:
    kubectl(
        "create",
        "clusterrole",
        "reader",
        "--verb=get,list",
        "--resource=managedclusters.cluster.open-cluster-management.io",
    )
    kubectl("create", "clusterrolebinding", "readers", "--clusterrole=reader", "--group=devs")
    assert "reader" in kubectl("get", "clusterrolebinding", "readers", "-o", "wide")
    assert kubectl("auth", "can-i", "create", "placements").strip() == "yes"
    if minor >= 28:
        assert "system:masters" in kubectl("auth", "whoami")


def test_what_the_server_is_can_be_asked(kubectl: Kubectl) -> None:
    assert "Server Version" in kubectl("version")
    assert kubectl("get", "--raw", "/healthz") == "ok"
    assert "readyz check passed" in kubectl("get", "--raw", "/readyz?verbose")
    assert "apiserver_request_total" in kubectl("get", "--raw", "/metrics")
    assert "managedclusters.cluster.open-cluster-management.io" in kubectl("get", "crd", "-o", "name")
