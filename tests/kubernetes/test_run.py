"""`muster kubernetes run` against a real kube-apiserver: one leads, the other follows, and nothing is lost between."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.replicas import (
    CLUSTERS,
    HOME,
    LEASE,
    OCM,
    SETS,
    Pair,
    User,
    eventually,
    holder,
    install,
    install_kinds,
    replica,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.replicas import Replica, Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
_QUIET = ("--no-webhooks",)
_PLACEMENTS = f"/apis/{OCM}/v1beta1/namespaces/default/placements"
_DECISIONS = f"/apis/{OCM}/v1beta1/namespaces/default/placementdecisions"


@pytest.fixture(scope="module")
def admin(server: Server) -> User:
    admin = User(server.kubeconfig)
    settings = HomeSettings(webhooks=False, policies=False)
    install(admin, settings, 0, 0)
    install_kinds(admin, settings)
    everything = {"selectorType": "LabelSelector", "labelSelector": {}}
    for name, selector in (("default", {"selectorType": "ExclusiveClusterSetLabel"}), ("global", everything)):
        made = {"kind": "ManagedClusterSet", "metadata": {"name": name}, "spec": {"clusterSelector": selector}}
        admin.ok("POST", SETS, {"apiVersion": f"{OCM}/v1beta2", **made})
    binding = {
        "apiVersion": f"{OCM}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": "global"},
        "spec": {"clusterSet": "global"},
    }
    admin.ok("POST", f"/apis/{OCM}/v1beta2/namespaces/default/managedclustersetbindings", binding)
    return admin


@pytest.fixture(scope="module")
def replicas(server: Server, admin: User) -> Iterator[Pair]:
    assert admin.server == server.url
    with contextlib.ExitStack() as stack:
        yield Pair(stack, server.kubeconfig, *_QUIET)


@pytest.fixture
def pair(replicas: Pair) -> tuple[Replica, Replica]:
    """Who leads, and who follows."""
    return replicas.both()


def a_cluster(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{OCM}/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"hubAcceptsClient": True},
    }


def a_placement(name: str, annotations: dict[str, str] | None = None, **labels: str) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": labels}}
    return {
        "apiVersion": f"{OCM}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {
            "predicates": [{"requiredClusterSelector": selector}],
            "tolerations": [{"key": f"{OCM}/unreachable", "operator": "Exists"}],
        },
    }


def decided(admin: User, placement: str) -> list[str]:
    pages = admin.ok("GET", f"{_DECISIONS}?labelSelector={OCM}/placement={placement}")["items"]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", ()))


def test_beside_takes_only_what_names_us(server: Server, admin: User) -> None:
    """Before anybody else runs here: whoever is alone would take the others."""
    disabled = f"{OCM}/experimental-scheduling-disable"
    admin.ok("POST", CLUSTERS, a_cluster("b1", beside="yes"))
    ours = {"muster.dev/scheduler": "muster", disabled: "true"}
    admin.ok("POST", _PLACEMENTS, a_placement("ours", ours, beside="yes"))
    admin.ok("POST", _PLACEMENTS, a_placement("theirs", beside="yes"))
    admin.ok("POST", _PLACEMENTS, a_placement("anothers", {"muster.dev/scheduler": "other"}, beside="yes"))
    with replica(server.kubeconfig, *_QUIET, "--mode=beside") as running:
        eventually(lambda: running.says("leading"))
        eventually(lambda: decided(admin, "ours"), ["b1"])
        for name in ("theirs", "anothers"):
            assert decided(admin, name) == []
            assert "status" not in admin.ok("GET", f"{_PLACEMENTS}/{name}")


def test_a_replica_that_is_killed_is_followed_within_eight_seconds(admin: User, pair: tuple[Replica, Replica]) -> None:
    one, other = pair
    admin.ok("POST", _PLACEMENTS, a_placement("killed", kill="yes"))
    admin.ok("POST", CLUSTERS, a_cluster("k1", kill="yes"))
    eventually(lambda: decided(admin, "killed"), ["k1"])
    before = holder(admin)
    one.signal_all(signal.SIGKILL)
    admin.ok("POST", CLUSTERS, a_cluster("k2", kill="yes"))
    took = eventually(lambda: holder(admin) not in ("", before))
    assert took < 8.0
    eventually(lambda: decided(admin, "killed"), ["k1", "k2"])
    assert not other.says("internal error")


def test_a_replica_that_is_told_to_end_frees_the_lease_and_says_so(admin: User, pair: tuple[Replica, Replica]) -> None:
    one, other = pair
    before = holder(admin)
    one.process.send_signal(signal.SIGTERM)
    took = eventually(lambda: holder(admin) not in ("", before))
    assert one.process.wait(20) == 0
    assert took < 5.0
    eventually(lambda: one.says("stopped; the lease is free"))
    eventually(other.is_leading)


def test_the_controllers_that_die_are_started_again_by_their_supervisor(
    admin: User, pair: tuple[Replica, Replica]
) -> None:
    one, _ = pair
    eventually(lambda: holder(admin) != "")
    leading = holder(admin)
    children = one.family()[1:]
    assert len(children) == 2
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in children}
    (controllers,) = [pid for pid, text in commands.items() if "\0--part\0controllers\0" in text]
    os.kill(controllers, signal.SIGKILL)
    eventually(lambda: len(one.family()) == 3 and controllers not in one.family())
    # The successor knows that its predecessor is dead, and takes its lease over without waiting for the end of it.
    eventually(lambda: holder(admin) not in ("", leading), patience=8.0)
    assert one.process.poll() is None


def test_a_leader_that_was_paused_writes_nothing_on_its_old_word(admin: User, pair: tuple[Replica, Replica]) -> None:
    one, other = pair
    admin.ok("POST", _PLACEMENTS, a_placement("paused", pause="yes"))
    admin.ok("POST", CLUSTERS, a_cluster("p1", pause="yes"))
    eventually(lambda: decided(admin, "paused"), ["p1"])
    before = holder(admin)
    one.signal_all(signal.SIGSTOP)
    eventually(lambda: holder(admin) not in ("", before))
    eventually(other.is_leading)
    admin.ok("PATCH", f"{CLUSTERS}/p1", {"metadata": {"labels": {"pause": "no"}}})
    eventually(lambda: decided(admin, "paused"), [])
    one.signal_all(signal.SIGCONT)
    eventually(lambda: one.says("the lease is lost") or one.process.poll() is not None)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        assert decided(admin, "paused") == []
        time.sleep(0.1)
    assert one.process.poll() is None
    assert not one.says("internal error")


def test_a_lease_that_somebody_takes_away_is_a_message_and_not_a_fault(
    admin: User, pair: tuple[Replica, Replica]
) -> None:
    one, other = pair
    eventually(lambda: _taken_away(admin))
    eventually(lambda: one.says("the lease is lost: somebody-else leads now. Standing by"))
    eventually(lambda: holder(admin) not in ("", "somebody-else"))
    assert one.process.poll() is None
    assert not one.says("internal error")
    assert not other.says("internal error")


def _taken_away(admin: User) -> bool:
    lease = admin.ok("GET", LEASE)
    terms = lease["spec"].get("leaseTransitions", 0) + 1
    lease["spec"] |= {"holderIdentity": "somebody-else", "leaseDurationSeconds": 1, "leaseTransitions": terms}
    return admin.send("PUT", LEASE, lease).code == 200


def test_a_taint_without_a_time_gets_one_where_no_webhook_does_it(admin: User, pair: tuple[Replica, Replica]) -> None:
    tainted = a_cluster("tainted")
    tainted["spec"]["taints"] = [{"key": "slow", "effect": "NoSelect"}]
    admin.ok("POST", CLUSTERS, tainted)

    def times() -> list[bool]:
        taints = admin.ok("GET", f"{CLUSTERS}/tainted")["spec"]["taints"]
        return [bool(each.get("timeAdded")) for each in taints if each["key"] == "slow"]

    eventually(times, [True])
    eventually(lambda: all(each.get("timeAdded") for each in admin.ok("GET", f"{CLUSTERS}/tainted")["spec"]["taints"]))


def test_health_is_told_on_a_port_of_its_own(pair: tuple[Replica, Replica]) -> None:
    one, _ = pair
    assert one.health("/livez") == (200, "ok")
    assert one.health("/readyz")[0] == 200
    eventually(lambda: one.health("/healthz/controllers")[0], 200)
    code, text = one.health("/metrics")
    assert code == 200
    assert "muster_serving_process_resident_memory_bytes" in text
    assert "muster_fleet_clusters" in text
    assert "muster_certificate_seconds_left" not in text  # nothing is served here that needs one
    assert one.health("/anything")[0] == 404


def test_the_home_is_where_the_lease_is(admin: User, pair: tuple[Replica, Replica]) -> None:
    lease = admin.ok("GET", LEASE)
    assert lease["metadata"]["namespace"] == HOME
    assert lease["spec"]["leaseDurationSeconds"] == 6
