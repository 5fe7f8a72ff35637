"""Imported clusters are kept true; what is wrong with one is its own condition, and nobody else's."""

from __future__ import annotations

import asyncio
import json
import stat
from typing import TYPE_CHECKING

import pytest

from muster.client import Candidate
from muster.collecting.plugins import credentials_from, read_plugins
from muster.collecting.profiles import providers_of
from muster.errors import InvalidObjectError
from tests.builders import a_binding, a_placement, a_set
from tests.collecting.fakes import TOKEN, FakeClusters, a_node
from tests.controllers.running import CLUSTERS, controllers, eventually
from tests.controllers.syncing.running import imported, keep, syncing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.controllers.running import Driver

AVAILABLE = "ManagedClusterConditionAvailable"
UNREACHABLE = "cluster.open-cluster-management.io/unreachable"


def synced(hub: Driver, name: str) -> tuple[str, str] | None:
    return hub.condition(f"{CLUSTERS}/{name}", "Synced")


def available(hub: Driver, name: str) -> tuple[str, str] | None:
    return hub.condition(f"{CLUSTERS}/{name}", AVAILABLE)


def status(hub: Driver, name: str) -> dict[str, object]:
    found: dict[str, object] = hub.get(f"{CLUSTERS}/{name}").get("status", {})
    return found


def test_a_cluster_that_dies_is_left_and_taken_up_again_when_it_lives(hub: Driver, clusters: FakeClusters) -> None:
    for name in ("east", "west"):
        clusters.add(name)
        imported(hub, clusters, name)
    hub.create(a_set("global"), a_binding("global"), a_placement("p1"))
    with controllers(hub.hub), syncing(hub):
        eventually(lambda: (synced(hub, "east"), synced(hub, "west")), (("True", "Synced"), ("True", "Synced")))
        eventually(hub.decided, ["east", "west"])
        lease = "/apis/coordination.k8s.io/v1/namespaces/east/leases/managed-cluster-lease"
        first = hub.get(lease)["spec"]["renewTime"]
        eventually(lambda: hub.get(lease)["spec"]["renewTime"] > first, True)
        clusters.clusters["east"].does = "close"
        eventually(lambda: available(hub, "east"), ("Unknown", "ManagedClusterUnreachable"))
        assert synced(hub, "east") == ("False", "Unreachable")
        eventually(
            lambda: [each["key"] for each in hub.get(f"{CLUSTERS}/east")["spec"].get("taints", [])], [UNREACHABLE]
        )
        eventually(hub.decided, ["west"])
        assert available(hub, "west") == ("True", "ManagedClusterAvailable")
        assert status(hub, "east")["version"] == {"kubernetes": "v1.33.1"}, "what was known stays"
        clusters.clusters["east"].does = ""
        eventually(lambda: available(hub, "east"), ("True", "ManagedClusterAvailable"))
        eventually(hub.decided, ["east", "west"])


def test_an_upgrade_turns_a_predicate(hub: Driver, clusters: FakeClusters) -> None:
    east = clusters.add("east")
    imported(hub, clusters, "east")
    newer = "semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver('1.35.0'))"
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [newer]}}}
    hub.create(a_set("global"), a_binding("global"), a_placement("p1", predicates=[selector]))
    with controllers(hub.hub), syncing(hub):
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))
        assert hub.decided() == []
        east.version, east.nodes = "v1.36.3", [a_node("n1", "arm64")]
        eventually(hub.decided, ["east"])
        claims = {each["name"]: each["value"] for each in hub.get(f"{CLUSTERS}/east")["status"]["clusterClaims"]}
        assert claims["kubeversion.open-cluster-management.io"] == "v1.36.3"
        assert claims["architectures.muster.dev"] == "arm64"


def test_hostile_clusters_hurt_only_their_own_condition(hub: Driver, clusters: FakeClusters) -> None:
    expected = {
        "hang": ("False", "TimedOut"),
        "drip": ("False", "TimedOut"),
        "redirect": ("False", "Redirected"),
        "endless": ("False", "TooLarge"),
        "pages": ("False", "TooLarge"),
        "gzip": ("False", "Malformed"),
        "circle": ("False", "Malformed"),
        "unhealthy": ("False", "Unhealthy"),
        "lies": ("True", "PartlySynced"),
    }
    for does in expected:
        clusters.add(f"is-{does}", does=does)
        imported(hub, clusters, f"is-{does}")
    clusters.add("untrusted")
    imported(hub, clusters, "untrusted", trusted=False)
    good = clusters.add("good")
    imported(hub, clusters, "good")
    with syncing(hub):
        eventually(lambda: {does: synced(hub, f"is-{does}") for does in expected}, expected)
        eventually(lambda: synced(hub, "untrusted"), ("False", "BadCertificate"))
        assert clusters.clusters["untrusted"].requests == 0
        good.version = "v1.34.0"
        eventually(lambda: status(hub, "good").get("version"), {"kubernetes": "v1.34.0"})
        assert synced(hub, "good") == ("True", "Synced")
        # One that tells too much, or nonsense, is alive; one that is not there may not be.
        assert available(hub, "is-endless") is None
        eventually(lambda: available(hub, "is-hang"), ("Unknown", "ManagedClusterTimedOut"))
        eventually(lambda: available(hub, "is-unhealthy"), ("False", "ManagedClusterKubeAPIServerUnavailable"))
        text = json.dumps(hub.get(CLUSTERS))
        assert "a secret of the server" not in text


def test_credentials_that_are_refused_move_no_decision(hub: Driver, clusters: FakeClusters) -> None:
    clusters.add("east")
    imported(hub, clusters, "east")
    with syncing(hub):
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))
        keep(hub, "east", json.dumps(clusters.kubeconfig("east", token="old")).encode())
        # What was fetched is still good; a new one is asked for when it is not.
        assert available(hub, "east") == ("True", "ManagedClusterAvailable")
    with syncing(hub):
        eventually(lambda: synced(hub, "east"), ("False", "Unauthorized"))
        assert available(hub, "east") == ("True", "ManagedClusterAvailable")
        keep(hub, "east", json.dumps(clusters.kubeconfig("east")).encode())
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"users": [{"name": "collector", "user": {"exec": {"command": "/bin/touch"}}}]},
            "a program would have to make",
        ),
        ({"users": [{"name": "collector", "user": {"tokenFile": "/etc/passwd"}}]}, "it names files"),
        ({"clusters": [{"name": "east", "cluster": {"server": "http://127.0.0.1:1"}}]}, "is no https address"),
        (
            {
                "clusters": [
                    {"name": "east", "cluster": {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}}
                ]
            },
            "certificates of clusters are always verified",
        ),
        ({"clusters": 3}, "kubeconfig"),
    ],
)
def test_a_kubeconfig_in_a_secret_starts_nothing_and_reads_nothing(
    hub: Driver, clusters: FakeClusters, change: dict[str, object], text: str
) -> None:
    clusters.add("east")
    imported(hub, clusters, "east")
    keep(hub, "east", json.dumps({**clusters.kubeconfig("east"), **change}).encode())
    with syncing(hub):
        eventually(lambda: synced(hub, "east"), ("False", "NoAccess"))
    conditions = hub.get(f"{CLUSTERS}/east")["status"]["conditions"]
    assert text in next(each["message"] for each in conditions if each["type"] == "Synced")
    assert available(hub, "east") is None


def test_a_cluster_of_a_profile_is_reached_with_a_program_that_the_operator_allows(
    hub: Driver, clusters: FakeClusters, tmp_path: Path
) -> None:
    clusters.add("east")
    imported(hub, clusters, "east", access="clusterprofile/apps/east")
    program = tmp_path / "plugin"
    answer = {"kind": "ExecCredential", "status": {"token": TOKEN, "expirationTimestamp": "2099-01-01T00:00:00Z"}}
    lines = ["#!/bin/sh", 'echo "$# $1 $KUBERNETES_EXEC_INFO" > "$0.told"', f"echo '{json.dumps(answer)}'"]
    program.write_text("\n".join(lines) + "\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    file = tmp_path / "providers.json"
    config = {"command": str(program), "args": ["own"], "provideClusterInfo": True}
    file.write_text(json.dumps({"providers": [{"name": "allowed", "execConfig": config}]}))
    server = clusters.kubeconfig("east")["clusters"][0]["cluster"]
    extension = {"name": "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", "extension": ["--evil"]}
    provider = {"name": "allowed", "cluster": {**server, "extensions": [extension]}}
    other = {"name": "other", "cluster": server}
    profile = {"status": {"accessProviders": [other, provider]}}
    first, second = providers_of(profile)
    assert (first.name, second.more_args) == ("other", ("--evil",))
    plugins = read_plugins(file)
    found = asyncio.run(credentials_from(plugins["allowed"], second))
    assert found.headers == {"Authorization": f"Bearer {TOKEN}"}
    told = (tmp_path / "plugin.told").read_text()
    assert told.startswith("1 own {"), "what a profile adds counts only where the file says so"
    assert server["server"] in told
    with syncing(hub, plugins={}):
        eventually(lambda: synced(hub, "east"), ("False", "NoAccess"))


def test_a_program_is_named_by_its_whole_path(tmp_path: Path) -> None:
    file = tmp_path / "providers.json"
    file.write_text(json.dumps({"providers": [{"name": "a", "execConfig": {"command": "sh -c 'id'"}}]}))
    with pytest.raises(InvalidObjectError, match="must be an absolute path"):
        read_plugins(file)


def test_rules_of_the_hub_are_followed_and_only_the_leader_looks(hub: Driver, clusters: FakeClusters) -> None:
    clusters.add("east", nodes=[a_node("n1"), a_node("n2")])
    imported(hub, clusters, "east")

    def claim(name: str) -> str | None:
        claims = status(hub, "east").get("clusterClaims", [])
        assert isinstance(claims, list)
        return next((each["value"] for each in claims if each["name"] == name), None)

    patience = ("kube-system", "", 3.0, 2.0, 0.2)
    with syncing(hub, candidate=Candidate("muster-sync", "first", *patience)):
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))
        rules = "claims: [{name: nodes.example.com, jq: .nodes | length}, {name: bad.example.com, jq: '(('}]"
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "muster-sync"},
            "data": {"rules.yaml": rules},
        }
        hub.send("POST", "/api/v1/namespaces/kube-system/configmaps", body)
        eventually(lambda: claim("nodes.example.com"), "2")
        eventually(lambda: synced(hub, "east"), ("True", "PartlySynced"))
        holder = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/muster-sync"
        assert hub.get(holder)["spec"]["holderIdentity"] == "first"
        hub.send("DELETE", "/api/v1/namespaces/kube-system/configmaps/muster-sync")
        eventually(lambda: claim("nodes.example.com"), None)
