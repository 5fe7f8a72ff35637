"""Our Pods are down and the API server still asks them: who has to wait, and who does not.

The configurations are those that we install, with an address where nobody listens.
"""

from __future__ import annotations

import base64
import importlib
from typing import TYPE_CHECKING, Any

import pytest

from muster.kubernetes.settings import DEFAULTS
from tests.kubernetes.calling import CLUSTERS, SETS, a_binding, a_cluster, a_set, bindings
from tests.kubernetes.homes import kubernetes_home
from tests.kubernetes.installing import apply_all, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.values.json import JsonObject
    from tests.kubernetes.homes import Home
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
NOBODY = "https://127.0.0.1:1"


def configurations(server: Server) -> list[JsonObject]:
    """What the API server is told of our webhooks, at an address where nobody is."""
    try:
        serving = importlib.import_module("muster.kubernetes.serving.configurations")
    except ImportError:
        pytest.xfail("needs the webhook configurations of muster.kubernetes.serving")
    authority = base64.b64encode(server.authority.file.read_bytes()).decode()
    found: list[Any] = serving.webhook_configurations(DEFAULTS)
    for each in found:
        for webhook in each["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"{NOBODY}{path}", "caBundle": authority}
    return found


@pytest.fixture
def abandoned(server: Server, tmp_path: Path) -> Iterator[Home]:
    found = configurations(server)
    with kubernetes_home(server, tmp_path) as home:
        home.admin.ok("POST", SETS, a_set("before"))
        home.admin.ok("POST", CLUSTERS, a_cluster("before"))
        apply_all(home.admin, found)
        eventually(lambda: not home.admin.send("POST", SETS, a_set("p"), dry_run=True).is_allowed, "webhooks are asked")
        yield home


def test_only_new_sets_wait_for_our_pods(abandoned: Home) -> None:
    admin = abandoned.admin
    refused = admin.send("POST", SETS, a_set("late"))
    assert (refused.code, "failed calling webhook" in refused.message) == (500, True)
    # Whatever else there is goes on: sets that are there, clusters and their taints, bindings, placements.
    labels = {"metadata": {"labels": {"a": "b"}}}
    admin.ok("PATCH", f"{SETS}/before", labels)
    admin.ok("POST", CLUSTERS, a_cluster("new", taints=[{"key": "a", "effect": "NoSelect"}]))
    admin.ok("PATCH", f"{CLUSTERS}/before", labels | {"spec": {"hubAcceptsClient": True}})
    admin.ok("POST", bindings("default"), a_binding("before"))
    placement = {"metadata": {"name": "p"}, "spec": {"numberOfClusters": 1}}
    placements = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placements"
    version = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}
    admin.ok("POST", placements, version | placement)
    # And so do status, heartbeats, namespaces and leases.
    admin.ok("PATCH", f"{CLUSTERS}/before/status", {"status": {"version": {"kubernetes": "v1"}}})
    admin.ok("PATCH", f"{SETS}/before/status", {"status": {"conditions": []}})
    admin.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "new"}})
    lease = {"metadata": {"name": "heartbeat"}, "spec": {"holderIdentity": "agent"}}
    admin.ok("POST", "/apis/coordination.k8s.io/v1/namespaces/new/leases", lease)
    admin.ok("DELETE", f"{SETS}/before")
    admin.ok("DELETE", f"{CLUSTERS}/new")
