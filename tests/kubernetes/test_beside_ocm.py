"""On a hub of Open Cluster Management, with its own kinds and its own placement controller: observe, beside, instead.

Needs the controller, which `make interop` builds from its module. Nothing of it is changed.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from muster.cli.main import run
from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, Caller, a_binding, a_cluster, a_set, bindings
from tests.kubernetes.guests import HUB, OCM_PLACEMENT, named_program, ocm_definitions, running_placement
from tests.kubernetes.installing import apply_all, eventually
from tests.kubernetes.pods import installed, muster
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import replica

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]
PLACEMENTS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
DECISIONS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placementdecisions"
LEASE: Final = f"/apis/coordination.k8s.io/v1/namespaces/{HUB}/leases/placement-lock"
DISABLE, SCHEDULER = f"{GROUP}/experimental-scheduling-disable", "muster.dev/scheduler"
OURS: Final = {DISABLE: "true", SCHEDULER: "muster"}


@pytest.fixture(scope="module")
def program() -> str:
    return named_program(OCM_PLACEMENT)


@pytest.fixture(scope="module")
def admin(server: Server, program: str) -> Iterator[Caller]:  # without the program there is nobody to be beside
    admin = Caller(server.kubeconfig)
    apply_all(admin, ocm_definitions())
    for path in (f"{PLACEMENTS}?limit=1", f"{CLUSTERS}?limit=1", f"{SETS}?limit=1", f"{DECISIONS}?limit=1"):
        eventually(lambda path=path: admin.send("GET", path).is_allowed, "its kinds are served")  # type: ignore[misc]
    admin.ok("POST", "/api/v1/namespaces", {"metadata": {"name": HUB}})
    everything = {"selectorType": "LabelSelector", "labelSelector": {}}
    admin.ok("POST", SETS, a_set("global", clusterSelector=everything))
    admin.ok("POST", bindings("default"), a_binding("global"))
    for number in range(6):
        admin.ok("POST", CLUSTERS, a_cluster(f"c{number}", {"half": str(number % 2)}, hubAcceptsClient=True))
    yield admin
    admin.close()


def a_placement(name: str, half: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    selector = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"half": half}}}}
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"predicates": [selector]},
    }


def decided(admin: Caller, placement: str) -> list[str]:
    pages = admin.ok("GET", f"{DECISIONS}?labelSelector={GROUP}/placement={placement}")["items"]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", ()))


def writers(admin: Caller, placement: str) -> set[str]:
    """Who has written the decisions of a placement, by the managers of their fields."""
    pages = admin.ok("GET", f"{DECISIONS}?labelSelector={GROUP}/placement={placement}")["items"]
    return {each["manager"] for page in pages for each in page["metadata"]["managedFields"]}


def versions(admin: Caller) -> dict[str, str]:
    found = admin.ok("GET", DECISIONS)["items"]
    return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found}


def test_observe_beside_instead_and_back(server: Server, admin: Caller, program: str) -> None:
    kubeconfig = server.user("ocm-placement", groups=("system:masters",))
    (port,) = free_ports(1)
    with running_placement(program, kubeconfig, server.folder, port):
        # Observe: a shadow sees what the controller of others decided, with nothing installed.
        admin.ok("POST", PLACEMENTS, a_placement("theirs", "0"))
        eventually(lambda: decided(admin, "theirs") == ["c0", "c2", "c4"], "their controller decides")
        observer = server.user("observer")
        _may_read(admin, "observer")
        code, found = _shadow(observer)
        assert (code, found["same"]) == (0, 1)

        # Beside: ours takes what names it, and nothing else; theirs stays away from that.
        with installed(server, HomeSettings(crds="upstream", mode="beside", policies=False), pods=2) as home:
            admin.ok("POST", PLACEMENTS, a_placement("ours", "1", OURS))
            eventually(lambda: decided(admin, "ours") == ["c1", "c3", "c5"], "ours decides")
            admin.ok("POST", PLACEMENTS, a_placement("theirs-too", "1"))
            eventually(lambda: decided(admin, "theirs-too") == ["c1", "c3", "c5"], "theirs goes on")
            assert not any("muster" in each for each in writers(admin, "theirs") | writers(admin, "theirs-too"))
            assert all("muster" in each for each in writers(admin, "ours"))
            told = json.loads(_check(server))
            lacks = {each["name"]: each["lacks"]["fields"] for each in told["kinds"] if any(each["lacks"].values())}
            assert lacks[f"managedclustersets.{GROUP}"] == ["spec.exclusiveKey"]
            assert any("exclusive by the default label only" in each for each in told["noticed"])
            # Given back: theirs finds the decisions of ours and goes on from them.
            patch = {"metadata": {"annotations": {SCHEDULER: None}}}
            admin.ok("PATCH", f"{PLACEMENTS}/ours", patch)
            admin.ok("PATCH", f"{PLACEMENTS}/ours", {"metadata": {"annotations": {DISABLE: None}}})
            admin.ok("PATCH", f"{CLUSTERS}/c0", {"metadata": {"labels": {"half": "1"}}})
            eventually(lambda: decided(admin, "ours") == ["c0", "c1", "c3", "c5"], "theirs has it again")
            for pod in home.pods:
                assert not pod.says("orbidden"), [line for line in pod.log if "orbidden" in line]
                assert not pod.says("internal error")
        muster(server, "kubernetes", "uninstall", "--yes")
        assert decided(admin, "ours") == ["c0", "c1", "c3", "c5"]

    # Instead: theirs has ended; ours takes its lease, finds everything right, and writes nothing.
    before = versions(admin)
    command = ("kubernetes", "placement", "controller")
    with replica(kubeconfig, f"--namespace={HUB}", command=command) as running:
        eventually(lambda: running.says("leading"), "ours leads by the lease of theirs")
        assert admin.ok("GET", LEASE)["spec"]["holderIdentity"]
        admin.ok("PATCH", f"{CLUSTERS}/c2", {"metadata": {"labels": {"half": "1"}}})
        eventually(lambda: decided(admin, "ours") == ["c0", "c1", "c2", "c3", "c5"], "ours decides")
        after = versions(admin)
        assert set(after) == set(before), "pages stay the same objects"
        assert not running.says("orbidden")
    # And the way back.
    with running_placement(program, kubeconfig, server.folder, port):
        admin.ok("PATCH", f"{CLUSTERS}/c4", {"metadata": {"labels": {"half": "1"}}})
        eventually(lambda: decided(admin, "ours") == [f"c{number}" for number in range(6)], "theirs decides again")


def _may_read(admin: Caller, user: str) -> None:
    rbac = "rbac.authorization.k8s.io"
    rule = {"apiGroups": [GROUP], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": user}, "rules": [rule]}
    subject = {"apiGroup": rbac, "kind": "User", "name": user}
    ref = {"apiGroup": rbac, "kind": "ClusterRole", "name": user}
    bound = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": user}}
    admin.ok("POST", f"/apis/{rbac}/v1/clusterroles", role)
    admin.ok("POST", f"/apis/{rbac}/v1/clusterrolebindings", {**bound, "roleRef": ref, "subjects": [subject]})


def _shadow(kubeconfig: Any) -> tuple[int, dict[str, Any]]:
    out, err = io.StringIO(), io.StringIO()
    code = run(["shadow", "--kubeconfig", str(kubeconfig), "-o", "json"], io.StringIO(), out, err)
    assert out.getvalue(), err.getvalue()
    return code, json.loads(out.getvalue())


def _check(server: Server) -> str:
    out, err = io.StringIO(), io.StringIO()
    run(["kubernetes", "check", "--kubeconfig", str(server.kubeconfig), "-o", "json"], io.StringIO(), out, err)
    return out.getvalue()
