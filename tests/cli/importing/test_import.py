"""`muster import` and `muster sync` from fake clusters to a real hub: plan, writes, files, what stays, what is told."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import socket
import socketserver
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.cli.main import run
from muster.importing.found import ACCESS, SOURCE
from tests.collecting.fakes import FakeClusters, a_node
from tests.controllers.running import CLUSTERS, driven_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.controllers.running import Driver


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeClusters]:
    with FakeClusters(tmp_path_factory.mktemp("clusters")).running() as running:
        yield running


class Stage:
    """A hub, fake clusters and a kubeconfig of all of them."""

    def __init__(self, hub: Driver, clusters: FakeClusters, folder: Path) -> None:
        self.hub = hub
        self.clusters = clusters
        self.folder = folder
        self.kubeconfig = hub.hub.kubeconfig(folder / "hub.kubeconfig")

    def source(self, *names: str, **told: Any) -> str:
        file = self.folder / "clusters.kubeconfig"
        file.write_text(json.dumps(self.clusters.kubeconfig(*names, **told)))
        return str(file)

    def muster(self, *args: str) -> tuple[int, str]:
        out = io.StringIO()
        return run(list(args), io.StringIO(), out, out), out.getvalue()

    def imported(self, *args: str) -> tuple[int, str]:
        return self.muster("import", *args, "--hub-kubeconfig", str(self.kubeconfig))

    def synced(self, *args: str) -> tuple[int, str]:
        return self.muster("sync", *args, "--kubeconfig", str(self.kubeconfig))


@pytest.fixture
def stage(clusters: FakeClusters, tmp_path: Path) -> Iterator[Stage]:
    clusters.clusters.clear()
    with driven_hub() as hub:
        yield Stage(hub, clusters, tmp_path)


def test_a_plan_comes_first_and_a_second_import_changes_nothing(stage: Stage) -> None:
    stage.clusters.add("east", claims={"owner.example.com": "shop"})
    stage.clusters.add("west", version="v1.36.0", nodes=[a_node("w1", "arm64", cpu="8")])
    file = stage.source("east", "west")
    code, said = stage.imported("kubeconfig", file, "--all", "--dry-run", "--label", "env=prod")
    assert code == 0, said
    assert said.splitlines() == [
        "create east: v1.33.1; 4 cpu; 16Gi memory; cloud=Amazon, env=prod; 8 claims",
        "create west: v1.36.0; 8 cpu; 16Gi memory; cloud=Amazon, env=prod; 7 claims",
        "2 clusters: 2 to create",
    ]
    assert stage.hub.get(f"{CLUSTERS}/east") is None
    code, said = stage.imported("kubeconfig", file, "--all", "--yes", "--label", "env=prod")
    assert (code, said.splitlines()[-1]) == (0, "imported 2 clusters")
    east = stage.hub.get(f"{CLUSTERS}/east")
    assert labels_of(east) == {"cloud": "Amazon", "env": "prod", SOURCE: "kubeconfig"}
    assert east["metadata"]["annotations"][ACCESS] == "context/east"
    assert east["spec"]["hubAcceptsClient"] is True
    assert east["spec"]["managedClusterClientConfigs"][0]["url"] == f"{stage.clusters.url}/c/east"
    assert east["status"]["version"] == {"kubernetes": "v1.33.1"}
    assert east["status"]["capacity"] == {"cpu": "4", "memory": "16Gi", "pods": "110"}
    assert {"name": "owner.example.com", "value": "shop"} in east["status"]["clusterClaims"]
    assert stage.hub.condition(f"{CLUSTERS}/east", "ManagedClusterConditionAvailable") == (
        "True",
        "ManagedClusterAvailable",
    )
    assert stage.hub.get("/api/v1/namespaces/east/secrets/muster-kubeconfig") is None
    before = stage.hub.hub.revision
    code, said = stage.imported("kubeconfig", file, "--all", "--yes", "--label", "env=prod")
    assert (code, said.splitlines()[-1]) == (0, "2 clusters: 2 the same")
    assert stage.hub.hub.revision == before


def test_what_people_have_set_stays_theirs(stage: Stage) -> None:
    east = stage.clusters.add("east")
    file = stage.source("east")
    assert stage.imported("kubeconfig", file, "--yes", "--label", "env=prod")[0] == 0
    stage.hub.patch(f"{CLUSTERS}/east", {"metadata": {"labels": {"cloud": "Ours", "team": "shop"}}})
    east.version, east.nodes = "v1.34.0", [a_node("n1"), a_node("n2")]
    code, said = stage.imported("kubeconfig", file, "--yes")
    assert code == 0, said
    assert "  label env goes" in said.splitlines()
    assert "  version v1.33.1 -> v1.34.0" in said.splitlines()
    assert "  capacity cpu 4 -> 8" in said.splitlines()
    assert "  label cloud stays Ours: somebody else has set it, the source has another" in said.splitlines()
    assert labels_of(stage.hub.get(f"{CLUSTERS}/east")) == {"cloud": "Ours", "team": "shop", SOURCE: "kubeconfig"}


def test_credentials_that_are_kept_already_are_no_change_and_go_with_the_cluster(stage: Stage) -> None:
    stage.clusters.add("east")
    file = stage.source("east")
    secret = "/api/v1/namespaces/east/secrets/muster-kubeconfig"
    assert stage.imported("kubeconfig", file, "--yes", "--with-credentials")[1].endswith("imported 1 cluster\n")
    before = stage.hub.hub.revision
    assert stage.imported("kubeconfig", file, "--yes", "--with-credentials") == (
        0,
        "same east\n1 cluster: 1 the same\n",
    )
    assert stage.hub.hub.revision == before
    stage.hub.patch(secret, {"data": {"kubeconfig": ""}})
    code, said = stage.imported("kubeconfig", file, "--yes", "--with-credentials")
    assert (code, said.splitlines()[0]) == (0, "change east: the Secret with its credentials")
    removed = stage.muster("clusters", "remove", "east", "--yes", "--kubeconfig", str(stage.kubeconfig))
    assert removed == (0, "east: removed, and the Secret with its credentials\n")
    assert stage.hub.get(secret) is None


def test_what_another_has_brought_is_not_taken_over(stage: Stage) -> None:
    stage.clusters.add("east")
    assert stage.imported("kubeconfig", stage.source("east"), "--yes")[0] == 0
    stage.hub.create(a_managed("joined", {}))
    said_by_agent = [{"type": "ManagedClusterJoined", "status": "True", "reason": "ManagedClusterJoined"}]
    since = {"lastTransitionTime": "2026-11-18T00:00:00Z", "message": ""}
    stage.hub.patch(f"{CLUSTERS}/joined/status", {"status": {"conditions": [{**said_by_agent[0], **since}]}})
    before = stage.hub.hub.revision
    with driven_hub() as other:
        other.create(a_managed("east", {}), a_managed("joined", {}))
        source = str(other.hub.kubeconfig(stage.folder / "other.kubeconfig"))
        code, said = stage.imported("ocm", source, "--yes")
        assert (code, said.splitlines()) == (
            1,
            [
                "refused east: `muster import kubeconfig` has brought it: give this one another name with --name, or "
                f"take over with `kubectl label managedcluster east {SOURCE}-` first",
                "refused joined: it has joined by an agent of its own, which reports on it: give this one another name "
                "with --name",
                "2 clusters: 2 refused",
            ],
        )
        assert stage.hub.hub.revision == before
        stage.hub.patch(f"{CLUSTERS}/east", {"metadata": {"labels": {SOURCE: None}}})
        code, said = stage.imported("ocm", source, "--yes", "--name", "joined=second")
        assert (code, said.splitlines()[-1]) == (0, "imported 2 clusters")


def test_the_hub_is_no_source_of_itself_and_its_own_profiles_are_none(stage: Stage) -> None:
    hub = str(stage.kubeconfig)
    stage.hub.create(a_managed("east", {}))
    code, said = stage.imported("ocm", hub, "--yes")
    assert (code, "the source is the hub itself" in said) == (2, True)
    assert stage.imported("ocm", hub, "--write", str(stage.folder / "files"))[0] == 0
    path = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/apps/clusterprofiles"
    for name, manager in (("east", "open-cluster-management"), ("west", "gke")):
        labels = {"x-k8s.io/cluster-manager": manager, "multicluster.x-k8s.io/clusterset": "default", "tier": "gold"}
        kind = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile"}
        metadata = {"name": name, "labels": labels}
        stage.hub.send("POST", path, {**kind, "metadata": metadata, "spec": {"clusterManager": {"name": manager}}})
    assert stage.imported("clusterprofiles", hub, "--yes")[1].splitlines()[-2:] == [
        "1 cluster: 1 to create",
        "imported 1 cluster",
    ]
    assert labels_of(stage.hub.get(f"{CLUSTERS}/west")) == {"tier": "gold", SOURCE: "clusterprofiles"}


def test_servers_that_are_no_such_source_say_so(stage: Stage) -> None:
    hub = str(stage.kubeconfig)
    code, said = stage.imported("argocd", hub, "--dry-run")
    assert (code, said.splitlines()) == (
        1,
        [
            "the namespace argocd has no secret with the label argocd.argoproj.io/secret-type=cluster: "
            "-n names another",
            "there is no cluster to import",
        ],
    )
    hosts = Path(__file__).parents[3] / "examples" / "08-your-fleet" / "hosts.yaml"
    code, said = stage.imported("hosts", "-f", str(hosts), "--into", "nowhere", "--yes")
    assert (code, "`kubectl create namespace nowhere`" in said) == (2, True)


def test_contexts_of_one_cluster_are_told_and_what_may_not_be_read_is_one_line(stage: Stage) -> None:
    stage.clusters.add("a", uid="one", forbidden=("nodes", "clusterclaims"))
    stage.clusters.add("b", uid="one")
    code, said = stage.imported("kubeconfig", stage.source("a", "b"), "--all", "--dry-run")
    assert code == 0
    assert "  not read: nodes, ClusterClaims: not permitted" in said.splitlines()
    assert "  it is the same cluster as a: both have the id one" in said.splitlines()


def test_a_server_may_be_called_otherwise_by_its_certificate(stage: Stage) -> None:
    stage.clusters.add("east")
    config = stage.clusters.kubeconfig("east")
    file = stage.folder / "named.kubeconfig"
    for name, good in (("localhost", True), ("elsewhere.example.com", False)):
        config["clusters"][0]["cluster"]["tls-server-name"] = name
        file.write_text(json.dumps(config))
        code, said = stage.imported("kubeconfig", str(file), "--yes", "--with-credentials")
        assert (code == 0) is good, said
        assert ("is not trusted" in said) is not good
        assert stage.synced() == (0, "east: Synced v1.33.1\n")


def test_a_context_is_reached_through_its_proxy_and_nothing_of_it_is_stored(stage: Stage) -> None:
    stage.clusters.add("east")
    config = stage.clusters.kubeconfig("east")
    file = stage.folder / "proxied.kubeconfig"
    with a_proxy() as (url, asked):
        config["clusters"][0]["cluster"]["proxy-url"] = url
        file.write_text(json.dumps(config))
        code, said = stage.imported("kubeconfig", str(file), "--yes", "--with-credentials")
        assert code == 0, said
        assert "  it is reached through a proxy: the credentials are not stored" in said
        assert asked[0].startswith(f"CONNECT {stage.clusters.url.removeprefix('https://')} ")
        assert stage.synced("--contexts-from", str(file)) == (0, "east: Synced v1.33.1\n")
    assert stage.hub.get("/api/v1/namespaces/east/secrets/muster-kubeconfig") is None
    code, said = stage.synced("--contexts-from", str(file))
    assert (code, said.startswith("east: Unreachable no connection to ")) == (1, True)
    config["clusters"][0]["cluster"]["proxy-url"] = "socks5://127.0.0.1:1"
    file.write_text(json.dumps(config))
    assert "is no http or https address" in stage.imported("kubeconfig", str(file), "--dry-run")[1]


def test_what_cannot_be_read_is_told_and_the_others_are_imported(stage: Stage) -> None:
    stage.clusters.add("east", forbidden=("nodes",))
    stage.clusters.add("sick", does="unhealthy")
    file = stage.source("east", "sick", "east")
    code, said = stage.imported("kubeconfig", file, "--all", "--yes")
    assert code == 1
    assert "  not read: nodes: not permitted" in said.splitlines()
    assert "cannot sick (context sick): the API server says that it is not well: /livez answers 500" in said
    assert stage.hub.get(f"{CLUSTERS}/east") is not None
    assert stage.hub.get(f"{CLUSTERS}/sick") is None
    assert "capacity" not in stage.hub.get(f"{CLUSTERS}/east")["status"]


def test_names_are_made_or_given_and_never_shared(stage: Stage) -> None:
    stage.clusters.add("a")
    config = stage.clusters.kubeconfig("a")
    config["contexts"] = [
        {"name": name, "context": {"cluster": "a", "user": "collector"}}
        for name in ("arn:aws:eks:eu-west-1:1:cluster/Shop", "SHOP", "…")
    ]
    file = stage.folder / "named.kubeconfig"
    file.write_text(json.dumps(config))
    code, said = stage.imported("kubeconfig", str(file), "--all", "--dry-run", "--name", "…=third")
    assert code == 1
    assert "cannot shop (context SHOP): context arn:aws:eks:eu-west-1:1:cluster/Shop has the name shop too" in said
    assert "create third: " in said


def test_files_instead_of_writes_can_be_selected_from(stage: Stage) -> None:
    stage.clusters.add("east")
    stage.clusters.add("west", version="v1.36.0")
    folder = stage.folder / "fleet"
    code, said = stage.imported("kubeconfig", stage.source("east", "west"), "--all", "--write", str(folder))
    assert (code, said) == (0, f"2 clusters in {folder}, 2 files written\n")
    assert stage.hub.get(f"{CLUSTERS}/east") is None
    expression = "semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver('1.34.0'))"
    code, said = stage.muster("select", expression, "--fleet", str(folder), "-o", "name")
    assert code == 0, said
    assert "west" in said
    assert "east" not in said
    code, said = stage.imported("kubeconfig", stage.source("east", "west"), "--all", "--write", str(folder))
    assert said == f"2 clusters in {folder}, 0 files written\n"


def test_credentials_are_kept_only_when_told_and_sync_uses_them(stage: Stage) -> None:
    east = stage.clusters.add("east")
    code, said = stage.imported("kubeconfig", stage.source("east"), "--yes", "--with-credentials")
    assert code == 0, said
    assert "  the Secret with its credentials" in said.splitlines()
    assert stage.hub.get(f"{CLUSTERS}/east")["metadata"]["annotations"][ACCESS] == "secret"
    east.version, east.nodes = "v1.34.0", [a_node("n1"), a_node("n2")]
    east.claims = {"tier.example.com": "gold"}
    assert stage.synced() == (0, "east: Synced v1.34.0\n")
    status = stage.hub.get(f"{CLUSTERS}/east")["status"]
    assert (status["version"]["kubernetes"], status["capacity"]["cpu"]) == ("v1.34.0", "8")
    assert {"name": "tier.example.com", "value": "gold"} in status["clusterClaims"]
    before = stage.hub.hub.revision
    assert stage.synced() == (0, "east: Synced v1.34.0\n")
    assert stage.hub.hub.revision == before
    stage.clusters.clusters.clear()  # its server knows nothing of it any more
    assert stage.synced() == (1, "east: Malformed /version answers with no version (code 404)\n")
    assert stage.hub.get(f"{CLUSTERS}/east")["status"]["capacity"]["cpu"] == "8", "what was known stays"


def test_sync_by_context_and_with_rules_of_ones_own(stage: Stage) -> None:
    stage.clusters.add("east", nodes=[a_node("n1"), a_node("n2")])
    file = stage.source("east")
    assert stage.imported("kubeconfig", file, "--yes")[0] == 0
    rules = stage.folder / "rules.yaml"
    rules.write_text(
        yaml.safe_dump(
            {
                "claims": [
                    {"name": "nodes.example.com", "jq": ".nodes | length"},
                    {"name": "zones.muster.dev", "jq": "empty"},
                    {"name": "wrong.example.com", "jq": ".nodes |"},
                    {"name": "loops.example.com", "jq": "[range(infinite)]"},
                ]
            }
        )
    )
    code, said = stage.synced("--contexts-from", file, "--rules", str(rules))
    assert code == 0, said
    assert "claims[2] (wrong.example.com)" in said
    assert "rule loops.example.com" in said
    claims = {each["name"]: each["value"] for each in stage.hub.get(f"{CLUSTERS}/east")["status"]["clusterClaims"]}
    assert claims["nodes.example.com"] == "2"
    assert "zones.muster.dev" not in claims


def test_another_hub_an_inventory_and_argo_cd_are_sources(stage: Stage) -> None:
    stage.clusters.add("far")
    labels = {"cloud": "Azure", "cluster.open-cluster-management.io/clusterset": "x"}
    told = {
        "version": {"kubernetes": "v1.31.0"},
        "capacity": {"cpu": "12"},
        "clusterClaims": [{"name": "id.k8s.io", "value": "one"}],
    }
    profile = {
        "apiVersion": "multicluster.x-k8s.io/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {"name": "from-inventory", "labels": {"x-k8s.io/cluster-manager": "gke", "tier": "gold"}},
        "spec": {"clusterManager": {"name": "gke"}},
    }
    config = {
        "bearerToken": "the-token-of-a-collector",
        "tlsClientConfig": {"caData": base64.b64encode(stage.clusters.authority.file.read_bytes()).decode()},
    }

    def secret(name: str, server: str, config: dict[str, Any]) -> dict[str, Any]:
        data = {"name": name, "server": server, "config": json.dumps(config)}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": f"cluster-{len(name)}",
                "labels": {"argocd.argoproj.io/secret-type": "cluster", "a": "b"},
            },
            "stringData": data,
        }

    with driven_hub() as other:
        other.create({**a_managed("remote", labels), "status": told})
        path = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/apps/clusterprofiles"
        other.send("POST", path, profile)
        facts = {"version": {"kubernetes": "v1.30.1"}, "properties": [{"name": "region.example.com", "value": "eu"}]}
        other.patch(f"{path}/from-inventory/status", {"status": facts})
        secrets = "/api/v1/namespaces/apps/secrets"
        other.send("POST", secrets, secret("Far Away", f"{stage.clusters.url}/c/far", config))
        other.send("POST", secrets, secret("aws", "https://eks.invalid", {"awsAuthConfig": {"clusterName": "x"}}))
        source = str(other.hub.kubeconfig(stage.folder / "other.kubeconfig"))
        assert stage.imported("ocm", source, "--name", "remote=acm-remote", "--yes")[0] == 0
        assert stage.imported("clusterprofiles", source, "--yes")[0] == 0
        code, said = stage.imported("argocd", source, "-n", "apps", "--yes", "--with-credentials")
    assert code == 0, said
    assert "  a program makes its credentials: it is not looked at" in said.splitlines()
    remote = stage.hub.get(f"{CLUSTERS}/acm-remote")
    assert labels_of(remote) == {"cloud": "Azure", SOURCE: "ocm"}
    assert remote["status"]["capacity"] == {"cpu": "12"}
    assert remote["status"]["version"] == {"kubernetes": "v1.31.0"}
    inventory = stage.hub.get(f"{CLUSTERS}/from-inventory")
    assert labels_of(inventory) == {"tier": "gold", SOURCE: "clusterprofiles"}
    assert inventory["status"]["clusterClaims"] == [{"name": "region.example.com", "value": "eu"}]
    far = stage.hub.get(f"{CLUSTERS}/far-away")
    assert labels_of(far) == {"a": "b", "cloud": "Amazon", SOURCE: "argocd"}
    assert far["status"]["capacity"]["cpu"] == "4"
    assert stage.synced("far-away") == (0, "far-away: Synced v1.33.1\n")


@contextlib.contextmanager
def a_proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that lets everything through, and the first lines of what it was asked."""
    asked: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode())
            while self.rfile.readline().strip():
                pass
            host, port = asked[-1].split()[1].split(":")
            with socket.create_connection((host, int(port))) as there:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=_copied, args=(there, self.connection))
                back.start()
                _copied(self.connection, there)
                back.join(10)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


def _copied(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def labels_of(cluster: dict[str, Any]) -> dict[str, str]:
    """Without the one by which the hub puts every cluster into a set."""
    return {key: value for key, value in cluster["metadata"]["labels"].items() if not key.endswith("/clusterset")}


def a_managed(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"hubAcceptsClient": True},
    }
