"""Explanations, dry runs and warnings as users meet them: `muster hub run` with its processes, and the real kubectl."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers.processes import HubProcess, hub_process
from tests.e2e.test_kubectl import KUBECTL, Kubectl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]
EXPLAIN = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/apps/placements/{}/explain"
ROLES = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: explain-placements, namespace: apps}}
rules:
- apiGroups: [cluster.open-cluster-management.io]
  resources: [placements/explain]
  verbs: [get, create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: explain-placements, namespace: apps}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: explain-placements}}
subjects: [{{kind: User, name: dora, apiGroup: rbac.authorization.k8s.io}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: some-clusters}}
rules:
- apiGroups: [cluster.open-cluster-management.io]
  resources: [managedclusters]
  resourceNames: [{seen}]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: some-clusters}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: some-clusters}}
subjects: [{{kind: User, name: dora, apiGroup: rbac.authorization.k8s.io}}]
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with hub_process(tmp_path_factory.mktemp("hub"), "--demo") as running:
        yield running


@pytest.fixture(scope="module")
def admin(hub: HubProcess, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    kubectl = Kubectl(tmp_path_factory.mktemp("home"), hub.kubeconfig)
    _eventually_explained(kubectl)
    return kubectl


def _eventually_explained(kubectl: Kubectl) -> dict[str, Any]:
    """The explanation of a placement of the demo, as soon as the controllers answer."""
    deadline = time.monotonic() + 60
    while (result := kubectl.run("get", "--raw", EXPLAIN.format("checkout"))).returncode:
        assert "ServiceUnavailable" in result.stderr, result.stderr
        assert time.monotonic() < deadline, result.stderr
        time.sleep(0.2)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def _placement(home: Path, label: str) -> str:
    """A file with a placement that asks for a label."""
    selector = {"labelSelector": {"matchLabels": {label: "Amazon"}}}
    placement = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "tried", "namespace": "apps"},
        "spec": {"predicates": [{"requiredClusterSelector": selector}]},
    }
    file = home / "placement.json"
    file.write_text(json.dumps(placement))
    return str(file)


def test_a_dry_run_equals_what_is_decided_afterwards(admin: Kubectl) -> None:
    file = _placement(admin.home, "cloud")
    tried = json.loads(admin("create", "--raw", EXPLAIN.format("tried"), "-f", file))
    names = [name for page in tried["decisions"] for name in page["clusters"]["clusters"]]
    assert (tried["dryRun"], tried["selected"], tried["diff"]["gained"]["clusters"]) == (True, len(names), names)
    assert len(names) > 3
    admin("get", "placement", "-n", "apps", "tried", fails=True)
    admin("apply", "-f", file)
    admin("wait", "-n", "apps", "placement/tried", "--for=condition=PlacementSatisfied", "--timeout=30s")
    label = "cluster.open-cluster-management.io/placement=tried"
    pages: Any = admin.json("get", "placementdecisions", "-n", "apps", "-l", label)
    assert [each["clusterName"] for page in pages["items"] for each in page["status"]["decisions"]] == names


def test_kubectl_prints_what_only_the_fleet_can_know(admin: Kubectl) -> None:
    file = _placement(admin.home, "clod")
    deadline = time.monotonic() + 30
    while "Warning: spec.predicates[0]" not in (said := admin.run("apply", "--dry-run=server", "-f", file).stderr):
        assert time.monotonic() < deadline, said  # a busy machine may take longer than a write waits
    assert "no cluster has the label" in said
    assert "cloud" in said


def test_a_user_who_may_get_some_clusters_is_told_of_those(admin: Kubectl) -> None:
    clusters: Any = admin.json("get", "managedclusters")
    everybody = [each["metadata"]["name"] for each in clusters["items"]]
    whole = _eventually_explained(admin)
    seen = whole["decisions"][0]["clusters"]["clusters"][:2]
    admin("apply", "-f", "-", stdin=ROLES.format(seen=", ".join(seen)))
    dora = ("--as", "dora")
    text = admin("get", "--raw", EXPLAIN.format("checkout"), *dora)
    answer = json.loads(text)
    assert (answer["fleet"], answer["selected"]) == (len(everybody), whole["selected"])
    assert [name for name in everybody if f'"{name}"' in text] == sorted(seen)
    assert answer["decisions"][0]["clusters"]["hidden"] == whole["selected"] - 2
    hidden = next(name for name in everybody if name not in seen)
    refusal = admin("get", "--raw", f"{EXPLAIN.format('checkout')}?cluster={hidden}", *dora, fails=True)
    assert 'User "dora" cannot get resource "managedclusters"' in refusal
    shown = json.loads(admin("get", "--raw", f"{EXPLAIN.format('checkout')}?cluster={seen[0]}", *dora))
    assert shown["cluster"]["selected"]
    assert "cannot list" in admin("get", "managedclusters", *dora, fails=True)


def test_controllers_that_died_are_missed_for_a_moment_only(hub: HubProcess, admin: Kubectl) -> None:
    assert hub.kill("controllers")
    assert _eventually_explained(admin)["kind"] == "PlacementExplanation"
