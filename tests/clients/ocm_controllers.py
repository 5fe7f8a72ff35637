"""`python -m tests.clients.ocm_controllers [DIR]`: OCM's own registration and placement controllers on a hub.

The two programs are those of module open-cluster-management.io/ocm, unchanged (`ocm` names the version); the kinds that
the hub does not bring are defined from module open-cluster-management.io/api of the same version. The hub runs without
our controllers: whatever is decided here, OCM's programs have decided. A small fleet is registered, placed, changed and
partly taken away; then it is asked what the programs have done, and their logs are read for complaints.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.clients.raw import Raw
from tests.clients.stage import a_running_hub
from tests.differential.building import NoGoError, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
PROGRAMS = ("registration", "placement")
MODULE = "open-cluster-management.io/ocm/cmd"
OCM = "/apis/cluster.open-cluster-management.io"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
HUB = "open-cluster-management-hub"
PATIENCE = 60.0
_AVAILABLE = "ManagedClusterConditionAvailable"
_SAID = {"reason": "Said", "message": "said", "lastTransitionTime": "2026-11-01T10:00:00Z"}
_COMPLAINT = re.compile(r"[EF][0-9]{4} |panic:")
# Two of its controllers write the same object: one of them has to look again. That is how they are made.
_RACE = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass
class Report:
    """What was asked of the programs, and what they complained about."""

    lines: list[str] = field(default_factory=list)
    failed: int = 0
    patience: float = PATIENCE

    def wait(self, what: str, check: Callable[[], Any]) -> None:
        until = time.monotonic() + self.patience
        while not _answer(check):
            if time.monotonic() > until:
                self.failed += 1
                self.lines.append(f"NOT  {what}")
                return
            time.sleep(0.25)
        self.lines.append(f"ok   {what}")


def _answer(check: Callable[[], Any]) -> bool:
    try:
        return bool(check())
    except (urllib.error.HTTPError, LookupError):
        return False  # not there yet


def definitions() -> list[dict[str, Any]]:
    """The kinds of works and add-ons, as OCM's API module defines them."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api"]
    environment = os.environ | {"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    done = subprocess.run(command, cwd=HERE / "ocm", env=environment, capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    files = [
        path for place in ("addon/v1alpha1", "work/v1", "work/v1alpha1") for path in (folder / place).glob("*.crd.yaml")
    ]
    return [yaml.safe_load(path.read_text()) for path in sorted(files)]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


@contextmanager
def _running(name: str, program: Path, kubeconfig: Path, folder: Path) -> Iterator[Path]:
    log = folder / f"{name}.log"
    command = [
        str(program),
        "controller",
        f"--kubeconfig={kubeconfig}",
        f"--namespace={HUB}",
        f"--listen=127.0.0.1:{_free_port()}",
    ]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "POD_NAMESPACE": HUB}
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT, env=environment, cwd=folder)
        try:
            yield log
        finally:
            process.terminate()
            process.wait(60)


def _cluster(name: str, region: str) -> dict[str, Any]:
    labels = {"region": region, "cluster.open-cluster-management.io/clusterset": "fleet"}
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 60},
    }


def _set_up(hub: Raw) -> None:
    for each in definitions():
        hub.send(DEFINITIONS, method="POST", body=each)
    for name in (HUB, "apps"):
        metadata = {"metadata": {"name": name}}
        hub.send("/api/v1/namespaces", method="POST", body={"apiVersion": "v1", "kind": "Namespace", **metadata})
    api = "cluster.open-cluster-management.io/v1beta2"
    a_set = {"apiVersion": api, "kind": "ManagedClusterSet", "metadata": {"name": "fleet"}}
    hub.send(f"{OCM}/v1beta2/managedclustersets", method="POST", body=a_set)
    bound = {"apiVersion": api, "kind": "ManagedClusterSetBinding", "metadata": {"name": "fleet"}}
    path = f"{OCM}/v1beta2/namespaces/apps/managedclustersetbindings"
    hub.send(path, method="POST", body={**bound, "spec": {"clusterSet": "fleet"}})
    for name, region in (("c1", "eu"), ("c2", "eu"), ("c3", "us")):
        hub.send(f"{OCM}/v1/managedclusters", method="POST", body=_cluster(name, region))
        # What a cluster's agent says; registration taints those that it hears nothing of.
        said = [{"type": kind, "status": "True", **_SAID} for kind in ("ManagedClusterJoined", _AVAILABLE)]
        path = f"{OCM}/v1/managedclusters/{name}/status"
        hub.send(path, method="PATCH", body={"status": {"conditions": said}})
    predicate = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "eu"}}}}
    placement = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}
    spec = {"clusterSets": ["fleet"], "predicates": [predicate]}
    path = f"{OCM}/v1beta1/namespaces/apps/placements"
    hub.send(path, method="POST", body={**placement, "metadata": {"name": "in-europe"}, "spec": spec})


def _work(hub: Raw, cluster: str) -> None:
    """A work and an add-on in a cluster's namespace, as an agent of the cluster reports on them."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
    work = {
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": "w"},
        "spec": {"workload": {"manifests": [manifest]}},
    }
    addon = {
        "apiVersion": "addon.open-cluster-management.io/v1alpha1",
        "kind": "ManagedClusterAddOn",
        "metadata": {"name": "logs"},
        "spec": {"installNamespace": "agents"},
    }
    works = f"/apis/work.open-cluster-management.io/v1/namespaces/{cluster}/manifestworks"
    addons = f"/apis/addon.open-cluster-management.io/v1alpha1/namespaces/{cluster}/managedclusteraddons"
    hub.send(works, method="POST", body=work)
    hub.send(f"{works}/w/status", method="PATCH", body=_condition("Applied"))
    hub.send(addons, method="POST", body=addon)
    hub.send(f"{addons}/logs/status", method="PATCH", body=_condition("Available"))


def _condition(kind: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": kind, "status": "True", **_SAID}]}}


def _shadowed(kubeconfig: Path) -> dict[str, Any]:
    """What `muster shadow` says of the decisions that OCM's program wrote."""
    command = [sys.executable, "-m", "muster", "shadow", "--kubeconfig", str(kubeconfig), "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _meant(kubeconfig: Path, name: str) -> list[str]:
    return next(each["meant"] for each in _shadowed(kubeconfig)["placements"] if each["name"] == name)


def _dislike(hub: Raw) -> None:
    """A cluster that is better not chosen, which OCM accepts and does not heed, and a placement of one cluster."""
    taint = {"key": "old", "effect": "PreferNoSelect"}
    hub.send(f"{OCM}/v1/managedclusters/c1", method="PATCH", body={"spec": {"taints": [taint]}})
    placement = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}
    spec = {"clusterSets": ["fleet"], "numberOfClusters": 1}
    path = f"{OCM}/v1beta1/namespaces/apps/placements"
    hub.send(path, method="POST", body={**placement, "metadata": {"name": "one"}, "spec": spec})


def _judge(hub: Raw, kubeconfig: Path, report: Report) -> None:
    def condition(path: str, kind: str) -> str:
        found = hub.send(path)["status"]["conditions"]
        return next((each["status"] for each in found if each["type"] == kind), "")

    def decided() -> set[str]:
        found = hub.send(f"{OCM}/v1beta1/namespaces/apps/placementdecisions")["items"]
        return {each["clusterName"] for item in found for each in item.get("status", {}).get("decisions", ())}

    def decided_for(name: str) -> set[str]:
        found = hub.send(f"{OCM}/v1beta1/namespaces/apps/placementdecisions/{name}-decision-1")
        return {each["clusterName"] for each in found.get("status", {}).get("decisions", ())}

    def names(path: str) -> set[str]:
        return {each["metadata"]["name"] for each in hub.send(path)["items"]}

    def led(lock: str) -> bool:
        return bool(hub.send(f"/apis/coordination.k8s.io/v1/namespaces/{HUB}/leases/{lock}")["spec"]["holderIdentity"])

    def accepted(name: str) -> bool:
        return condition(f"{OCM}/v1/managedclusters/{name}", "HubAcceptedManagedCluster") == "True"

    def bound(name: str) -> bool:
        return bool(names(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/rolebindings"))

    report.wait("registration leads", partial(led, "registration-controller-lock"))
    report.wait("placement leads", partial(led, "placement-lock"))
    for name in ("c1", "c2", "c3"):
        report.wait(f"{name} is accepted", partial(accepted, name))
        report.wait(f"{name} has its namespace", partial(hub.send, f"/api/v1/namespaces/{name}"))
        report.wait(f"{name} has its roles", partial(bound, name))
    sets = f"{OCM}/v1beta2/managedclustersets"
    for name in ("default", "global"):
        report.wait(f"there is the set {name}", partial(hub.send, f"{sets}/{name}"))
    report.wait("the set knows its clusters", lambda: condition(f"{sets}/fleet", "ClusterSetEmpty") == "False")
    binding = f"{OCM}/v1beta2/namespaces/apps/managedclustersetbindings/fleet"
    report.wait("the set is bound", lambda: condition(binding, "Bound") == "True")
    report.wait("europe is chosen", lambda: decided() == {"c1", "c2"})
    placement = f"{OCM}/v1beta1/namespaces/apps/placements/in-europe"
    report.wait("the placement is satisfied", lambda: condition(placement, "PlacementSatisfied") == "True")
    report.wait("our shadow says the same", lambda: _shadowed(kubeconfig)["same"] == 1)
    hub.send(f"{OCM}/v1/managedclusters/c3", method="PATCH", body={"metadata": {"labels": {"region": "eu"}}})
    report.wait("a cluster that moves is chosen", lambda: decided() == {"c1", "c2", "c3"})
    report.wait("our shadow still says the same", lambda: _shadowed(kubeconfig)["same"] == 1)
    report.wait("what happened is told", lambda: hub.send("/apis/events.k8s.io/v1/namespaces/apps/events")["items"])
    _work(hub, "c2")
    addons = "/apis/addon.open-cluster-management.io/v1alpha1/namespaces/c2/managedclusteraddons"
    feature = "feature.open-cluster-management.io/addon-logs"
    report.wait(
        "the add-on is a feature of its cluster",
        lambda: feature in hub.send(f"{OCM}/v1/managedclusters/c2")["metadata"]["labels"],
    )
    hub.send(f"{OCM}/v1/managedclusters/c2", method="DELETE")
    gone = {"c1", "c3"}
    report.wait("a cluster that is deleted goes", lambda: names(f"{OCM}/v1/managedclusters") == gone)
    report.wait("its add-ons go", lambda: not hub.send(addons)["items"])
    report.wait("it is chosen no more", lambda: decided() == gone)
    _dislike(hub)
    report.wait("a disliked cluster is chosen", lambda: "c1" in decided_for("one"))
    meant = ["PreferNoSelect ranks last"]
    report.wait("our shadow says why it would not", lambda: _meant(kubeconfig, "one") == meant)


def main() -> int:
    report = Report()
    with ExitStack() as stack:
        folder = Path(sys.argv[1] if sys.argv[1:] else stack.enter_context(tempfile.TemporaryDirectory()))
        try:
            programs = {name: build(HERE / "ocm", package=f"{MODULE}/{name}") for name in PROGRAMS}
        except NoGoError as error:
            print(error)
            return 1
        kubeconfig = stack.enter_context(a_running_hub(folder, controllers=False))
        hub = Raw(kubeconfig)
        _set_up(hub)
        with ExitStack() as guests:
            logs = [guests.enter_context(_running(name, built, kubeconfig, folder)) for name, built in programs.items()]
            _judge(hub, kubeconfig, report)
        complaints = 0
        for log in logs:
            lines = log.read_text().splitlines()
            races = sum(_RACE in line for line in lines)
            bad = [line for line in lines if _COMPLAINT.match(line) and _RACE not in line]
            complaints += len(bad)
            told = f"{len(bad)} complaints, {races} races among its own controllers"
            report.lines.append(f"{log.stem}: {len(lines)} lines of log, {told}")
            report.lines.extend(f"  {line[:400]}" for line in bad)
    print("\n".join(report.lines))
    return 1 if report.failed or complaints else 0


if __name__ == "__main__":
    sys.exit(main())
