"""kill -9 of either replica, at random moments while the fleet changes: decisions converge, nothing is ever missing.

`MUSTER_KILLS` sets the number of kills (50 by `make interop`) and `MUSTER_CALM` the seconds without any (3,600 by `make
interop LONG=1`); a few of both are part of every run. Muster is installed as its manifests say and runs with the rights
of its own account.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from tests.kubernetes.audit import about, audited, entries
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, Caller, a_binding, a_cluster, bindings
from tests.kubernetes.installing import eventually
from tests.kubernetes.pods import installed
from tests.kubernetes.replicas import LEASE
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from muster.values.json import JsonObject
    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.pods import Installed
    from tests.kubernetes.replicas import Replica
    from tests.kubernetes.server import Server

KILLS = int(os.environ.get("MUSTER_KILLS", "4"))
CALM = float(os.environ.get("MUSTER_CALM", "15"))
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600 + CALM + 60 * KILLS)]
SEED = int(os.environ.get("MUSTER_SEED", "22"))
MOST: Final = 8.0  # seconds from the death of who led to somebody else who leads
DECISIONS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placementdecisions"
PLACEMENTS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
NAMES: Final = [f"c{number:03d}" for number in range(130)]
PINNED: Final = NAMES[-20:]  # these are never changed, and selected all the time
COLOURS: Final = ("red", "blue")


@dataclass
class Pages:
    """What a consumer sees that watches the decisions: after every event, who is in none of a placement's pages."""

    kubeconfig: Path
    events: int = 0
    missing: list[tuple[str, set[str]]] = field(default_factory=list)
    _pages: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)

    def decided(self, colour: str) -> set[str]:
        return {name for placement, names in list(self._pages.values()) if placement == colour for name in names}

    def watch(self) -> None:
        caller = Caller(self.kubeconfig)
        listed = caller.ok("GET", DECISIONS)
        for page in listed["items"]:
            self._keep("ADDED", page)
        version = listed["metadata"]["resourceVersion"]
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                for event in caller.events(f"{DECISIONS}?watch=1&resourceVersion={version}&timeoutSeconds=5"):
                    version = event["object"]["metadata"]["resourceVersion"]
                    self._take(event["type"], event["object"])
        caller.close()

    def _take(self, kind: str, page: JsonObject) -> None:
        placement = self._keep(kind, page)
        self.events += 1
        if lost := set(PINNED) - self.decided(placement):
            self.missing.append((f"{kind} {page['metadata']['name']}", lost))

    def _keep(self, kind: str, page: JsonObject) -> str:
        placement: str = page["metadata"]["labels"][f"{GROUP}/placement"]
        name = page["metadata"]["name"]
        if kind == "DELETED":
            self._pages.pop(name, None)
        else:
            decisions = page.get("status", {}).get("decisions", ())
            self._pages[name] = (placement, frozenset(each["clusterName"] for each in decisions))
        return placement

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self.watch)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join(30)


def build(admin: Caller) -> None:
    admin.ok("POST", bindings("default"), a_binding("global"))
    for name in NAMES:
        colour = "pinned" if name in PINNED else "red"
        admin.ok("POST", CLUSTERS, a_cluster(name, {"colour": colour}, hubAcceptsClient=True))
    for colour in COLOURS:
        wanted = [f"managedCluster.metadata.labels.colour in ['{colour}', 'pinned']"]
        spec = {
            "predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": wanted}}}],
            "tolerations": [{"key": f"{GROUP}/unreachable", "operator": "Exists"}],
        }
        head = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": {"name": colour}}
        admin.ok("POST", PLACEMENTS, {**head, "spec": spec})


@dataclass
class Painter:
    """Changes the fleet until it is told to stop."""

    kubeconfig: Path
    order: random.Random
    colours: dict[str, str]
    changes: int = 0

    def paint(self, stop: threading.Event) -> None:
        caller = Caller(self.kubeconfig)
        free = [name for name in NAMES if name not in PINNED]
        while not stop.is_set():
            for name in self.order.sample(free, 5):
                colour = self.order.choice(COLOURS)
                caller.ok("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"labels": {"colour": colour}}})
                self.colours[name] = colour
                self.changes += 1
            time.sleep(0.05)
        caller.close()

    @contextlib.contextmanager
    def painting(self) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self.paint, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(30)


def roles(home: Installed) -> tuple[Replica, Replica]:
    """Who leads and who follows, once both do."""
    found: list[Replica] = []

    def settled() -> bool:
        alive = [each for each in home.pods if each.process.poll() is None]
        with contextlib.suppress(OSError):
            leading = [each for each in alive if each.is_leading()]
            found[:] = leading + [each for each in alive if each.is_following()]
            return (len(leading), len(found)) == (1, 2)
        return False

    eventually(settled, "one leads and one follows", patience=300)
    return found[0], found[1]


def lease(admin: Caller) -> JsonObject:
    spec: JsonObject = admin.ok("GET", LEASE)["spec"]
    return spec


def begun(home: Installed, order: random.Random) -> tuple[Pages, Painter]:
    """A fleet that is decided on, somebody who will watch, and somebody who will change it."""
    eventually(lambda: home.admin.send("GET", f"{SETS}/global").is_allowed, "there is the set global")
    build(home.admin)
    colours = dict.fromkeys(NAMES, "red") | dict.fromkeys(PINNED, "pinned")
    eventually(lambda: _all_decided(home.admin, colours), "the first decisions")
    roles(home)
    kubeconfig = home.server.kubeconfig
    return Pages(kubeconfig), Painter(kubeconfig, order, colours)


def test_decisions_converge_whichever_replica_is_killed(server: Server) -> None:
    order = random.Random(SEED)
    took: list[float] = []
    with installed(server, pods=2) as home:
        pages, painter = begun(home, order)
        before = lease(home.admin)["leaseTransitions"]
        with pages.watching(), painter.painting():
            calm = time.monotonic() + CALM
            while time.monotonic() < calm:
                time.sleep(0.5)
                assert lease(home.admin)["leaseTransitions"] == before, "nobody takes over from one who works"
            calm_changes = painter.changes
            for number in range(KILLS):
                leading, following = roles(home)
                time.sleep(order.uniform(0.1, 1.5))
                is_leader, holder = number % 2 == 0, lease(home.admin)["holderIdentity"]
                died = time.monotonic()
                (leading if is_leader else following).signal_all(signal.SIGKILL)
                if is_leader:
                    eventually(_another(home.admin, holder), "taken over")
                    took.append(time.monotonic() - died)
                home.start()  # as a kubelet would
        eventually(lambda: _all_decided(home.admin, painter.colours), "decisions are as labels say")
        after = lease(home.admin)
    print(f"\n{CALM:.0f} s and {calm_changes} changes in which one leads; load {os.getloadavg()[0]:.1f}")
    print(f"{KILLS} kills during {painter.changes - calm_changes} changes, {pages.events} events of pages")
    times = f"{statistics.median(took):.1f} s (p50), {max(took):.1f} s (most)"
    print(f"lease of {after['leaseDurationSeconds']} s: taken over after {times}")
    assert pages.events > len(COLOURS)
    assert pages.missing == []
    assert max(took) < MOST
    # Nobody has led but those who had to: the lease did not flap.
    assert after["leaseTransitions"] - before == len(took)


def _all_decided(admin: Caller, colours: dict[str, str]) -> bool:
    found: dict[str, set[str]] = {colour: set() for colour in COLOURS}
    for page in admin.ok("GET", DECISIONS)["items"]:
        decisions = page.get("status", {}).get("decisions", ())
        found[page["metadata"]["labels"][f"{GROUP}/placement"]] |= {each["clusterName"] for each in decisions}
    return found == {each: {name for name in NAMES if colours[name] in (each, "pinned")} for each in COLOURS}


def test_a_leader_that_wakes_up_writes_nothing_unguarded(binaries: Binaries, tmp_path: Path) -> None:
    """Paused for longer than its lease and woken up, again and again while the fleet changes. Whatever it sends then is
    decided from an old state; so every write of ours names the version that it was decided from, as the API server's
    audit log shows, and decisions end as labels say."""
    pauses = max(2, KILLS // 10)
    order = random.Random(SEED)
    with running(binaries, tmp_path, options=audited(tmp_path, "Request")) as server, installed(server, pods=2) as home:
        pages, painter = begun(home, order)
        with pages.watching(), painter.painting():
            for _ in range(pauses):
                leading, _ = roles(home)
                holder = lease(home.admin)["holderIdentity"]
                time.sleep(order.uniform(0.1, 1.0))
                leading.signal_all(signal.SIGSTOP)
                eventually(_another(home.admin, holder), "taken over")
                time.sleep(1)
                leading.signal_all(signal.SIGCONT)
        eventually(lambda: _all_decided(home.admin, painter.colours), "decisions are as labels say")
        assert pages.missing == []
        user = f"system:serviceaccount:{home.settings.namespace}:muster"
        writes = [each for each in entries(tmp_path, user) if each["verb"] in ("patch", "update", "delete")]
        assert len(writes) > 10
        assert Counter(about(each) for each in writes if not _is_guarded(each)) == {}


def _another(admin: Caller, holder: str) -> Callable[[], bool]:
    return lambda: lease(admin)["holderIdentity"] not in ("", holder)


def _is_guarded(entry: JsonObject) -> bool:
    """Whether a write names the version that it is decided from."""
    body = entry.get("requestObject", {})
    if entry["verb"] == "delete":
        return "resourceVersion" in body.get("preconditions", {})
    return bool(body.get("metadata", {}).get("resourceVersion"))
