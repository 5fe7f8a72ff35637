"""A cluster that joins, played by a test: what an agent of Open Cluster Management sends, as the users that it is."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.controllers.running import CLUSTERS, Driver
from tests.hub.signing.requests import pem, signing_request

if TYPE_CHECKING:
    from collections.abc import Mapping

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
LABEL = "open-cluster-management.io/cluster-name"
PREFIX = "system:open-cluster-management:"
TOKEN = "abc123.0123456789abcdef"
_TOKEN_DATA = {
    "token-id": "abc123",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:managedcluster",
}


@dataclass(frozen=True)
class Asker:
    """Sends requests as somebody: with a token, or as a user and groups."""

    driver: Driver
    headers: Mapping[str, str]

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        code, _, answer = self.driver.hub.request(method, path, data, {"Content-Type": content_type, **self.headers})
        return code, json.loads(answer)

    def patch(self, path: str, body: Any) -> tuple[int, Any]:
        return self.send("PATCH", path, body, "application/merge-patch+json")


def a_joiner(driver: Driver) -> Asker:
    """Whoever has a token to join with."""
    data = {key: base64.b64encode(text.encode()).decode() for key, text in _TOKEN_DATA.items()}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "bootstrap-token-abc123"},
        "type": "bootstrap.kubernetes.io/token",
        "data": data,
    }
    driver.send("POST", "/api/v1/namespaces/kube-system/secrets", secret)
    return Asker(driver, {"Authorization": f"Bearer {TOKEN}"})


def an_agent(driver: Driver, cluster: str, name: str = "a1") -> Asker:
    """Whoever has a certificate of the cluster."""
    groups = f"{PREFIX}{cluster}"
    return Asker(driver, {"Impersonate-User": f"{PREFIX}{cluster}:{name}", "Impersonate-Group": groups})


def a_cluster(name: str, **spec: Any) -> dict[str, Any]:
    kind = {"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster"}
    return {**kind, "metadata": {"name": name}, "spec": {"hubAcceptsClient": False, **spec}}


def a_request(cluster: str, name: str, user: str = "", *groups: str) -> dict[str, Any]:
    """For a certificate of an agent of the cluster; or for whatever name and groups are given."""
    content = pem(user or f"{PREFIX}{cluster}:a1", *(groups or (f"{PREFIX}{cluster}", f"{PREFIX}managed-clusters")))
    found = signing_request(name, content)
    return {**found, "metadata": {"name": name, "labels": {LABEL: cluster}}}


def accept(driver: Driver, cluster: str, request: str) -> None:
    """As `clusteradm accept` does it: approve the request, then accept the cluster."""
    found = driver.get(f"{CSRS}/{request}")
    verdict = {"type": "Approved", "status": "True", "reason": "clusteradm Approve", "message": "approved"}
    status = {**found.get("status", {}), "conditions": [verdict]}
    driver.send("PUT", f"{CSRS}/{request}/approval", {**found, "status": status})
    driver.patch(f"{CLUSTERS}/{cluster}", {"spec": {"hubAcceptsClient": True}})


def joined(driver: Driver, cluster: str) -> None:
    """Let a cluster ask, and let it in."""
    joiner = Asker(driver, {"Authorization": f"Bearer {TOKEN}"})
    assert joiner.send("POST", CLUSTERS, a_cluster(cluster))[0] == 201
    assert joiner.send("POST", CSRS, a_request(cluster, f"{cluster}-first"))[0] == 201
    accept(driver, cluster, f"{cluster}-first")
