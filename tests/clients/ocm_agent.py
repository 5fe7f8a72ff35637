"""`python -m tests.clients.ocm_agent [DIR]`: OCM's own registration agent joins a hub, from a real Kubernetes server.

The agent is that of module open-cluster-management.io/ocm, unchanged (`ocm` names the version); the cluster that it
registers is a kube-apiserver of `tests.kubernetes`. The hub runs with our controllers, as users run it. The cluster is
invited by `muster clusters join-command` and let in by the requests that `clusteradm accept` sends. It is placed,
renews its certificate, falls silent, comes back, is denied and removed; then the agent's log is read for complaints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.clients.ocm_controllers import HERE, MODULE, OCM, Report, _answer, _free_port
from tests.clients.raw import Raw
from tests.clients.stage import a_running_hub
from tests.differential.building import NoGoError, build
from tests.kubernetes import binaries
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.fleets import ManagedServer
    from tests.kubernetes.server import Server

NAME = "spoke-1"
AGENTS = "open-cluster-management-agent"
LABEL = "open-cluster-management.io/cluster-name"
CLUSTER = f"{OCM}/v1/managedclusters/{NAME}"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAME}/leases/managed-cluster-lease"
AVAILABLE = "ManagedClusterConditionAvailable"
# What the agent says while its cluster is not let in yet, is denied, or gone: that is how it finds out.
EXPECTED = ("forbidden", "Unauthorized", "not found", "connection refused", "the object has been modified")


def claim_definition() -> dict[str, Any]:
    """The kind of claims, which agents read from their own cluster, as OCM's API module defines it."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api"]
    environment = os.environ | {"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    done = subprocess.run(command, cwd=HERE / "ocm", env=environment, capture_output=True, text=True, check=True)
    (file,) = (Path(done.stdout.strip()) / "cluster" / "v1alpha1").glob("*clusterclaims.crd.yaml")
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return found


def set_up(spoke: Raw) -> None:
    """A cluster with one node and a claim of its own."""
    spoke.send("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", method="POST", body=claim_definition())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": AGENTS}}
    spoke.send("/api/v1/namespaces", method="POST", body=namespace)
    spoke.send("/api/v1/nodes", method="POST", body={"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    amounts = {"cpu": "8", "memory": "32Gi"}
    ready = {"type": "Ready", "status": "True", "reason": "R", "message": "m"}
    status = {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}}
    spoke.send("/api/v1/nodes/n1/status", method="PATCH", body=status)
    claim = {"apiVersion": "cluster.open-cluster-management.io/v1alpha1", "kind": "ClusterClaim"}
    body = {**claim, "metadata": {"name": "region.example.com"}, "spec": {"value": "eu"}}
    path = f"{OCM}/v1alpha1/clusterclaims"
    until = time.monotonic() + 60
    while not _answer(lambda: spoke.send(path)) and time.monotonic() < until:
        time.sleep(0.2)
    spoke.send(path, method="POST", body=body)


def muster(kubeconfig: Path, *args: str) -> str:
    command = [sys.executable, "-m", "muster", "clusters", *args, "--kubeconfig", str(kubeconfig)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


@contextmanager
def agent(
    program: Path, spoke: Server | ManagedServer, bootstrap: Path, folder: Path, name: str = NAME
) -> Iterator[None]:
    command = [
        str(program),
        "agent",
        f"--kubeconfig={spoke.kubeconfig}",
        f"--namespace={AGENTS}",
        f"--cluster-name={name}",
        f"--bootstrap-kubeconfig={bootstrap}",
        f"--hub-kubeconfig-dir={folder / 'hub-kubeconfig'}",
        f"--spoke-external-server-urls={spoke.url}",
        "--cluster-healthcheck-period=2s",
        "--disable-leader-election",
        f"--listen=127.0.0.1:{_free_port()}",
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "POD_NAMESPACE": AGENTS, "POD_NAME": "agent"}
    with (folder / "agent.log").open("a") as written:
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT, env=environment, cwd=folder)
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


def accept(hub: Raw) -> None:
    """What `clusteradm accept --clusters NAME` sends, in its order."""
    hub.send(CLUSTER)
    selector = urllib.parse.quote(f"{LABEL} = {NAME}")
    for found in hub.send(f"{CSRS}?labelSelector={selector}")["items"]:
        assert found["spec"]["username"].startswith("system:bootstrap:")
        assert "system:bootstrappers:managedcluster" in found["spec"]["groups"]
        verdict = {
            "type": "Approved",
            "status": "True",
            "reason": "clusteradm Approve",
            "message": "This CSR was approved by clusteradm certificate approve.",
            "lastUpdateTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        found["status"] = {**found.get("status", {}), "conditions": [verdict]}
        hub.send(f"{CSRS}/{found['metadata']['name']}/approval", method="PUT", body=found)
    assert hub.send(CLUSTER)["spec"].get("hubAcceptsClient") is not True
    hub.send(CLUSTER, method="PATCH", body={"spec": {"hubAcceptsClient": True}})


def place(hub: Raw) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    hub.send("/api/v1/namespaces", method="POST", body=namespace)
    api = "cluster.open-cluster-management.io"
    bound = {"apiVersion": f"{api}/v1beta2", "kind": "ManagedClusterSetBinding", "metadata": {"name": "global"}}
    path = f"{OCM}/v1beta2/namespaces/apps/managedclustersetbindings"
    hub.send(path, method="POST", body={**bound, "spec": {"clusterSet": "global"}})
    claim = "managedCluster.status.clusterClaims.exists(c, c.name == 'region.example.com' && c.value == 'eu')"
    predicate = {"requiredClusterSelector": {"celSelector": {"celExpressions": [claim]}}}
    placement = {"apiVersion": f"{api}/v1beta1", "kind": "Placement", "metadata": {"name": "in-europe"}}
    path = f"{OCM}/v1beta1/namespaces/apps/placements"
    hub.send(path, method="POST", body={**placement, "spec": {"predicates": [predicate]}})


class Judge:
    """Asks the hub, and the cluster, what became of it."""

    def __init__(self, hub: Raw, spoke: Raw) -> None:
        self.hub, self.spoke = hub, spoke

    def condition(self, kind: str) -> str:
        found = self.hub.send(CLUSTER)["status"]["conditions"]
        return next((each["status"] for each in found if each["type"] == kind), "")

    def taints(self) -> list[str]:
        return [each["key"].rpartition("/")[2] for each in self.hub.send(CLUSTER)["spec"].get("taints", ())]

    def decided(self) -> list[str]:
        found = self.hub.send(f"{OCM}/v1beta1/namespaces/apps/placementdecisions")["items"]
        return [each["clusterName"] for item in found for each in item.get("status", {}).get("decisions", ())]

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.hub.send(f"{CSRS}?labelSelector={LABEL}%3D{NAME}")["items"]
        return found

    def renewed(self) -> str:
        found: str = self.hub.send(LEASE)["spec"]["renewTime"]
        return found

    def is_renewed_after(self, before: str) -> bool:
        return self.renewed() > before

    def has_renewed_certificate(self) -> bool:
        own = [
            each
            for each in self.requests()
            if each["spec"]["username"].startswith(f"system:open-cluster-management:{NAME}:")
        ]
        return any(each["status"].get("certificate") for each in own)

    def claims(self) -> dict[str, str]:
        return {each["name"]: each["value"] for each in self.hub.send(CLUSTER)["status"]["clusterClaims"]}

    def is_gone(self, path: str) -> bool:
        try:
            self.hub.send(path)
        except urllib.error.HTTPError as error:
            return error.code == 404
        return False


def _join(judge: Judge, kubeconfig: Path, report: Report) -> None:
    hub = judge.hub
    report.wait("the agent asks", judge.requests)
    pending = json.loads(muster(kubeconfig, "list", "--pending", "-o", "json"))
    report.wait("people see who asks", lambda: pending[0]["asking"] != "-")
    report.wait("it has created its cluster", partial(hub.send, CLUSTER))
    accept(hub)
    report.wait("clusteradm's requests let it in", lambda: judge.condition("HubAcceptedManagedCluster") == "True")
    report.wait("it joins", lambda: judge.condition("ManagedClusterJoined") == "True")
    report.wait("it is available", lambda: judge.condition(AVAILABLE) == "True")
    report.wait("its taint goes", lambda: judge.taints() == [])
    version = judge.spoke.send("/version")["gitVersion"]
    report.wait("its version is known", lambda: hub.send(CLUSTER)["status"]["version"]["kubernetes"] == version)
    report.wait("its capacity is known", lambda: hub.send(CLUSTER)["status"]["capacity"]["cpu"] == "8")
    report.wait("its claims are known", lambda: judge.claims()["region.example.com"] == "eu")
    report.wait("its address is known", lambda: hub.send(CLUSTER)["spec"]["managedClusterClientConfigs"][0]["url"])
    report.wait("placements choose it", lambda: judge.decided() == [NAME])
    before = judge.renewed()
    hub.send(CLUSTER, method="PATCH", body={"spec": {"leaseDurationSeconds": 2}})
    report.wait("it renews its lease", partial(judge.is_renewed_after, before))
    report.wait(
        "accepting it again is nothing new", lambda: muster(kubeconfig, "accept", NAME) == f"{NAME}: accepted\n"
    )
    # Its certificate is lost: the next one it asks for as itself, and nobody has to approve it.
    judge.spoke.send(f"/api/v1/namespaces/{AGENTS}/secrets/hub-kubeconfig-secret", method="DELETE")
    report.wait("it renews its certificate", judge.has_renewed_certificate)


def _leave(judge: Judge, kubeconfig: Path, report: Report) -> None:
    hub = judge.hub
    hub.send(CLUSTER, method="PATCH", body={"spec": {"hubAcceptsClient": False}})
    report.wait("it can be denied", lambda: judge.condition("HubAcceptedManagedCluster") == "False")
    report.wait("a denied one falls silent", lambda: judge.condition(AVAILABLE) == "Unknown")
    hub.send(CLUSTER, method="PATCH", body={"spec": {"hubAcceptsClient": True}})
    report.wait("and comes back", lambda: judge.condition(AVAILABLE) == "True")
    report.wait("it can be removed", lambda: muster(kubeconfig, "remove", NAME, "--yes") == f"{NAME}: removed\n")
    role = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/open-cluster-management:managedcluster:{NAME}"
    report.wait("its rights are gone", lambda: judge.is_gone(role) and judge.is_gone(LEASE))
    report.wait("nothing chooses it", lambda: judge.decided() == [])


def main() -> int:
    report = Report(patience=180.0)  # three servers, the agent and commands share the machine
    with ExitStack() as stack:
        folder = Path(sys.argv[1] if sys.argv[1:] else stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            program = build(HERE / "ocm", package=f"{MODULE}/registration")
            server = binaries.built()
        except NoGoError as error:
            print(error)
            return 1
        (folder / "spoke").mkdir()
        spoke = stack.enter_context(running(server, folder / "spoke"))
        kubeconfig = stack.enter_context(a_running_hub(folder))
        judge = Judge(Raw(kubeconfig), Raw(spoke.kubeconfig))
        set_up(judge.spoke)
        place(judge.hub)
        bootstrap = folder / "bootstrap.kubeconfig"
        bootstrap.write_text(muster(kubeconfig, "join-command", NAME, "-o", "kubeconfig"))
        with agent(program, spoke, bootstrap, folder):
            _join(judge, kubeconfig, report)
        report.wait("one that stops is unreachable", lambda: judge.taints() == ["unreachable"])
        report.wait("and chosen no more", lambda: judge.decided() == [])
        with agent(program, spoke, bootstrap, folder):
            report.wait("one that starts again is back", lambda: judge.decided() == [NAME])
            _leave(judge, kubeconfig, report)
        lines = (folder / "agent.log").read_text().splitlines()
        bad = [line for line in lines if line[:1] in "EF" or "panic:" in line]
        unexpected = [line for line in bad if not any(word in line for word in EXPECTED)]
        report.lines.append(f"agent: {len(lines)} lines of log, {len(bad)} complaints, {len(unexpected)} unexpected")
        report.lines.extend(f"  {line[:400]}" for line in unexpected)
    print("\n".join(report.lines))
    return 1 if report.failed or unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
