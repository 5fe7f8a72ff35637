"""Two writers race over HTTP: one labels a cluster with a set that is not there yet, the other creates that set.

Neither may put a cluster into a set. Alone each may do what it does; together they would, if any moment lay between
check and write. `MUSTER_RACES=1000` runs as many rounds as the name says.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROUNDS = int(os.environ.get("MUSTER_RACES", "200"))
OCM = "cluster.open-cluster-management.io"
CLUSTERS = f"/apis/{OCM}/v1/managedclusters"
SETS = f"/apis/{OCM}/v1beta2/managedclustersets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
MERGE = "application/merge-patch+json"
TOKENS = {"dev": "the-token-of-dev", "sre": "the-token-of-sre"}


class Writer:
    """One user on one connection."""

    def __init__(self, hub: RunningHub, token: str) -> None:
        self._connection = http.client.HTTPConnection(hub.host, hub.port, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        self._connection.request(method, path, data, {**self._headers, "Content-Type": kind})
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[RunningHub]:
    users = {token: User(name, name, (AUTHENTICATED,)) for name, token in TOKENS.items()}
    with running_hub(state=tmp_path, users=users) as running:
        yield running


def grant(admin: Writer, user: str, *rules: tuple[list[str], list[str]]) -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": user},
        "rules": [{"apiGroups": [OCM], "resources": resources, "verbs": verbs} for verbs, resources in rules],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    for plural, obj in (("clusterroles", role), ("clusterrolebindings", binding)):
        code, answer = admin.send("POST", f"{RBAC}/{plural}", obj)
        assert code == 201, answer


@pytest.mark.timeout(1800)
def test_no_race_lets_a_cluster_into_a_set(hub: RunningHub) -> None:
    admin, dev, sre = (Writer(hub, token) for token in (hub.token, TOKENS["dev"], TOKENS["sre"]))
    grant(admin, "dev", (["patch"], ["managedclusters"]))
    grant(admin, "sre", (["create"], ["managedclustersets", "managedclustersets/exclusiveKey"]))
    cluster = {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": {"name": "mc1"}, "spec": {}}
    assert admin.send("POST", CLUSTERS, cluster)[0] == 201
    start, codes, won = threading.Barrier(2), {}, {"dev": 0, "sre": 0}

    def label(name: str) -> None:
        patch = {"metadata": {"labels": {"region": name}}}
        start.wait(30)
        codes["dev"] = dev.send("PATCH", f"{CLUSTERS}/mc1", patch, MERGE)[0]

    def create(name: str) -> None:
        obj = {
            "apiVersion": f"{OCM}/v1beta2",
            "kind": "ManagedClusterSet",
            "metadata": {"name": name},
            "spec": {"exclusiveKey": "region"},
        }
        start.wait(30)
        codes["sre"] = sre.send("POST", SETS, obj)[0]

    for number in range(ROUNDS):
        name = f"set-{number}"
        racers = [threading.Thread(target=racer, args=(name,)) for racer in (label, create)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join(30)
        # Exactly one of them: whoever comes second finds what the first has written.
        assert sorted(codes.values()) in ([200, 403], [201, 403]), (name, codes)
        won["dev" if codes["dev"] == 200 else "sre"] += 1
        assert admin.send("PATCH", f"{CLUSTERS}/mc1", {"metadata": {"labels": {"region": None}}}, MERGE)[0] == 200
    for writer in (admin, dev, sre):
        writer.close()
    print(f"{ROUNDS} rounds, won by {won}")
