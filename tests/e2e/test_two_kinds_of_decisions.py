"""Two kinds are called PlacementDecision, in two groups: kubectl tells them apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_kubectl import KUBECTL, Kubectl

if TYPE_CHECKING:
    from tests.hub.rest.running import RunningHub

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]

OCM = {
    "apiVersion": "cluster.open-cluster-management.io/v1beta1",
    "kind": "PlacementDecision",
    "metadata": {"name": "same", "namespace": "default", "annotations": {"placement.muster.dev/generation": "7"}},
}
SIG = {
    "apiVersion": "multicluster.x-k8s.io/v1alpha1",
    "kind": "PlacementDecision",
    "metadata": {"name": "same", "namespace": "default"},
    "decisions": [{"clusterProfileRef": {"name": "c1"}, "reason": "because"}],
    "schedulerName": "muster",
}


def test_one_name_two_groups(hub: RunningHub, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("two-kinds")
    kubectl = Kubectl(home, hub.kubeconfig(home / "kubeconfig"))
    for each in (OCM, SIG):
        kubectl("apply", "-f", "-", stdin=json.dumps(each))
    # The short name keeps meaning what it meant, and shows which generation is finished.
    head, row = kubectl("get", "placementdecisions").splitlines()
    assert "GENERATION" in head
    assert " 7 " in row
    head, row = kubectl("get", "placementdecisions.multicluster.x-k8s.io").splitlines()
    assert head.split() == ["NAME", "KEY", "INDEX", "COUNT", "SCHEDULER", "AGE"]
    assert row.split()[:3] == ["same", "1", "muster"]
    assert "clusterProfileRef" in kubectl(
        "explain", "placementdecisions.decisions", "--api-version", str(SIG["apiVersion"])
    )
    assert "clusterName" in kubectl("explain", "placementdecisions.status.decisions")
    kubectl("delete", "placementdecisions.multicluster.x-k8s.io", "same")
    assert kubectl.json("get", "placementdecisions", "same")["apiVersion"] == OCM["apiVersion"]
    kubectl("delete", "placementdecision", "same")
