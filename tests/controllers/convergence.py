"""Random fleets, placements and edits, with controllers and servers that are killed and paused meanwhile: whatever
happened, the state at the end is that of the pure functions.

    python -m tests.controllers.convergence --runs 1000            # about 20 minutes
    python -m tests.controllers.convergence --runs 1 --seed 4711   # one again

A run is a burst of random edits with one disturbance in the middle, and a comparison after everything has settled. Two
kinds of runs, told apart in what is printed:

- in one process (nine in ten): the API server in a thread, two sets of controllers in threads that lead by a lease, one
  of which is ended at any await, or frozen for longer than its lease together with the thread that renews it;
- with real processes (one in ten): `muster hub run` and controllers beside it; SIGKILL of the controllers or of the
  server, SIGSTOP for longer than the lease and SIGCONT.

A world is used for several runs, so that edits meet what earlier ones have left.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import json
import logging
import os
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from muster.classification import Roster, read_applied, read_classification, report
from muster.classification.classification import CLASSIFICATIONS
from muster.client import Candidate, leases
from muster.controllers.cluster_sets import set_condition
from muster.controllers.clusters import CLUSTERS as A_CLUSTER
from muster.controllers.clusters import wanted_taints
from muster.controllers.manager import Options, run_controllers
from muster.controllers.permissions import COLLECTOR, CONTROLLERS, LEASE
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.keys import Key
from muster.controllers.placements.preview import world_of
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.processes import hub_process
from tests.controllers.running import available, connection_of, driven_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hub.rest.running import RunningHub

GROUP = "/apis/cluster.open-cluster-management.io"
CLUSTERS = f"{GROUP}/v1/managedclusters"
SETS = f"{GROUP}/v1beta2/managedclustersets"
BINDINGS = f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings"
PLACEMENTS = f"{GROUP}/v1beta1/namespaces/apps/placements"
HOSTS = "/apis/agent-install.openshift.io/v1beta1/namespaces/apps"
MERGE = "application/merge-patch+json"
PATIENCE = 60.0
RUNS_PER_WORLD = 25
PREFIX = "inventoryclassification.agent-install.openshift.io/"
Object = dict[str, Any]


class Remote:
    """Speaks to a hub, again and again until it answers. What is sent may be done twice."""

    def __init__(self, url: str, token: str) -> None:
        self._where = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection: http.client.HTTPConnection | None = None

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Object:
        deadline = time.monotonic() + PATIENCE
        data = None if body is None else json.dumps(body)
        while True:
            try:
                connection = self._connected()
                connection.request(method, path, data, {**self._headers, "Content-Type": content_type})
                answer = connection.getresponse()
                content = answer.read()
                if answer.status < 500 and answer.status != 429:
                    found: Object = json.loads(content)
                    return found
            except (OSError, http.client.HTTPException, ValueError):
                self.close()
            assert time.monotonic() < deadline, f"no answer to {method} {path}"
            time.sleep(0.05)

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host, port = self._where.hostname or "", self._where.port
            if self._where.scheme == "https":
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                self._connection = http.client.HTTPSConnection(host, port, timeout=20, context=context)
            else:
                self._connection = http.client.HTTPConnection(host, port, timeout=20)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def items(self, path: str, kind: str, version: str) -> list[Object]:
        return [{"apiVersion": version, "kind": kind, **each} for each in self.send("GET", path)["items"]]


# ------------------------------------------------------------------------------------------------------------ edits


class Editor:
    """Random edits of one world, by a seed."""

    def __init__(self, remote: Remote, order: random.Random) -> None:
        self._remote = remote
        self._order = order

    def build(self) -> None:
        send = self._remote.send
        send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}})
        send("POST", BINDINGS, a_binding("global"))
        for _ in range(6):
            self.add_cluster()
        for _ in range(3):
            self.write_placement()

    def edit(self) -> None:
        deeds: list[tuple[Callable[[], None], int]] = [
            (self.label_cluster, 10),
            (self.add_cluster, 3),
            (self.remove_cluster, 2),
            (self.make_unavailable, 2),
            (self.write_placement, 4),
            (self.remove_placement, 1),
            (self.write_set, 2),
            (self.bind, 1),
            (self.write_agent, 3),
            (self.write_classification, 2),
            (self.remove_classification, 1),
        ]
        self._order.choices([deed for deed, _ in deeds], [weight for _, weight in deeds])[0]()

    def _one(self, prefix: str, most: int) -> str:
        return f"{prefix}{self._order.randrange(most)}"

    def _put(self, collection: str, obj: Object) -> None:
        """Create, or replace the spec of, an object."""
        answer = self._remote.send("POST", collection, obj)
        if answer.get("reason") == "AlreadyExists":
            change = {"spec": obj["spec"]}
            self._remote.send("PATCH", f"{collection}/{obj['metadata']['name']}", change, MERGE)

    def add_cluster(self) -> None:
        cluster = a_cluster(self._one("c", 14), {"colour": self._order.choice(("red", "blue", "green"))})
        self._remote.send("POST", CLUSTERS, cluster)
        path = f"{CLUSTERS}/{cluster['metadata']['name']}/status"
        self._remote.send("PATCH", path, {"status": available(cluster)}, MERGE)

    def remove_cluster(self) -> None:
        self._remote.send("DELETE", f"{CLUSTERS}/{self._one('c', 14)}")

    def label_cluster(self) -> None:
        labels = {"colour": self._order.choice(("red", "blue", "green")), "n": str(self._order.randrange(4))}
        self._remote.send("PATCH", f"{CLUSTERS}/{self._one('c', 14)}", {"metadata": {"labels": labels}}, MERGE)

    def make_unavailable(self) -> None:
        status = available({})
        status["conditions"][0]["status"] = self._order.choice(("True", "False", "Unknown"))
        self._remote.send("PATCH", f"{CLUSTERS}/{self._one('c', 14)}/status", {"status": status}, MERGE)

    def write_placement(self) -> None:
        order = self._order
        colour = order.choice(("red", "blue", "green"))
        selector: Object = order.choice(
            (
                {"labelSelector": {"matchLabels": {"colour": colour}}},
                {"celSelector": {"celExpressions": [f"managedCluster.metadata.labels.colour != '{colour}'"]}},
                {"labelSelector": {"matchExpressions": [{"key": "n", "operator": "In", "values": ["0", "1", "2"]}]}},
            )
        )
        # Balance counts decisions of other placements, which wake nobody: the end would depend on the way there.
        steady = {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 1}
        spec: Object = {
            "predicates": [{"requiredClusterSelector": selector}],
            "numberOfClusters": None,
            "prioritizerPolicy": {"mode": "Exact", "configurations": [steady]},
        }
        if order.random() < 0.3:
            spec["numberOfClusters"] = order.randrange(1, 5)
        spec["clusterSets"] = [self._one("s", 2)] if order.random() < 0.2 else None
        placement = a_placement(self._one("p", 5), **{key: value for key, value in spec.items() if value is not None})
        answer = self._remote.send("POST", PLACEMENTS, placement)
        if answer.get("reason") == "AlreadyExists":
            self._remote.send("PATCH", f"{PLACEMENTS}/{placement['metadata']['name']}", {"spec": spec}, MERGE)

    def remove_placement(self) -> None:
        self._remote.send("DELETE", f"{PLACEMENTS}/{self._one('p', 5)}")

    def write_set(self) -> None:
        self._put(SETS, a_set(self._one("s", 2), {"colour": self._order.choice(("red", "blue"))}))

    def bind(self) -> None:
        name = self._one("s", 2)
        if self._order.random() < 0.7:
            self._remote.send("POST", BINDINGS, a_binding(name))
        else:
            self._remote.send("DELETE", f"{BINDINGS}/{name}")

    def write_agent(self) -> None:
        name = self._one("h", 5)
        agent = {
            "apiVersion": "agent-install.openshift.io/v1beta1",
            "kind": "Agent",
            "metadata": {"name": name, "namespace": "apps"},
            "spec": {"approved": True, "role": "worker", "clusterDeploymentName": {"name": "x", "namespace": "apps"}},
        }
        self._remote.send("POST", f"{HOSTS}/agents", agent)
        inventory = {"cpu": {"count": self._order.randrange(1, 64)}}
        self._remote.send("PATCH", f"{HOSTS}/agents/{name}/status", {"status": {"inventory": inventory}}, MERGE)

    def write_classification(self) -> None:
        name = self._one("k", 3)
        spec = {"labelKey": name, "labelValue": "yes", "query": f".cpu.count > {self._order.randrange(64)}"}
        obj = {
            "apiVersion": "agent-install.openshift.io/v1beta1",
            "kind": "AgentClassification",
            "metadata": {"name": name, "namespace": "apps"},
            "spec": spec,
        }
        answer = self._remote.send("POST", f"{HOSTS}/agentclassifications", obj)
        if answer.get("reason") == "AlreadyExists":
            change = {"spec": {"query": spec["query"]}}
            self._remote.send("PATCH", f"{HOSTS}/agentclassifications/{name}", change, MERGE)

    def remove_classification(self) -> None:
        self._remote.send("DELETE", f"{HOSTS}/agentclassifications/{self._one('k', 3)}")


# ------------------------------------------------------------------------------------------------------- comparison


def divergence(remote: Remote) -> str:
    """What is not as the pure functions would have it, given everything that is stored; empty when all is."""
    ocm = "cluster.open-cluster-management.io"
    clusters = remote.items(CLUSTERS, "ManagedCluster", f"{ocm}/v1")
    sets = remote.items(SETS, "ManagedClusterSet", f"{ocm}/v1beta2")
    placements = remote.items(PLACEMENTS, "Placement", f"{ocm}/v1beta1")
    pages = remote.items(PLACEMENTS.replace("placements", "placementdecisions"), "PlacementDecision", f"{ocm}/v1beta1")
    bindings = remote.items(BINDINGS, "ManagedClusterSetBinding", f"{ocm}/v1beta2")
    now = datetime.now(UTC)
    world = world_of([*clusters, *sets, *bindings, *pages, *placements], now)
    for cluster in clusters:
        seen = A_CLUSTER.demanded(cluster)
        if wanted_taints(seen) != seen.spec.taints:
            return f"taints of {cluster['metadata']['name']}"
    for each in sets:
        name = each["metadata"]["name"]
        status, reason, message = set_condition(world, name)["ClusterSetEmpty"]
        stored = {one["type"]: one for one in (each.get("status") or {}).get("conditions") or ()}
        found = stored.get("ClusterSetEmpty", {})
        if (found.get("status"), found.get("reason"), found.get("message")) != (status, reason, message):
            return f"status of set {name}: {found} instead of {message}"
    names = {each["metadata"]["name"] for each in placements}
    for page in pages:
        if page["metadata"]["labels"].get(PLACEMENT_LABEL) not in names:
            return f"{page['metadata']['name']} belongs to no placement"
    for placement in placements:
        if wrong := _placement_divergence(world, placement, now):
            return wrong
    return _host_divergence(remote)


def _placement_divergence(world: Any, placement: Object, now: datetime) -> str:
    key = Key("apps", placement["metadata"]["name"])
    result = world.decide(key, now)
    if result is None:
        return f"{key.name} is not decided"
    conditions = {each["type"]: each for each in (placement.get("status") or {}).get("conditions") or ()}
    for kind, wanted in result.conditions.items():
        found = conditions.get(kind) or {}
        if (found.get("status"), found.get("reason")) != (wanted.status, wanted.reason):
            return f"{key.name}: {kind} is {found}, should be {wanted}"
    if result.fault is not None:
        return ""
    stored = sorted(name for page in world.decisions.of(key) for name in page.clusters)
    if stored != sorted(result.selected):
        return f"{key.name}: decided {stored}, should be {sorted(result.selected)}"
    number = (placement.get("status") or {}).get("numberOfSelectedClusters")
    return "" if number == len(result.ranked) else f"{key.name}: {number} selected, should be {len(result.ranked)}"


def _host_divergence(remote: Remote) -> str:
    roster = Roster()
    agents = remote.send("GET", f"{HOSTS}/agents")["items"]
    classifications = remote.send("GET", f"{HOSTS}/agentclassifications")["items"]
    for each in agents:
        metadata = each["metadata"]
        inventory = (each.get("status") or {}).get("inventory")
        encoded = None if inventory is None else json.dumps(inventory).encode()
        roster.put_agent(
            metadata["name"], metadata.get("labels") or {}, read_applied(metadata.get("annotations")), encoded
        )
    for each in classifications:
        roster.put_classification(read_classification(CLASSIFICATIONS.demanded(each)))
    for each in agents:
        plan = roster.plan(each["metadata"]["name"])
        if plan is None or not plan.is_empty:
            return f"labels of agent {each['metadata']['name']}: {plan}"
    for each in classifications:
        if each["metadata"].get("deletionTimestamp"):
            return f"classification {each['metadata']['name']} is still there"
        wanted = report(roster, read_classification(CLASSIFICATIONS.demanded(each)))
        status = each.get("status") or {}
        if (status.get("matchedCount"), status.get("errorCount")) != (wanted.matched, wanted.errors):
            return f"counts of {each['metadata']['name']}: {status}, should be {wanted}"
    return ""


def settle(remote: Remote) -> None:
    """Wait until nothing diverges."""
    deadline = time.monotonic() + PATIENCE
    while wrong := divergence(remote):
        assert time.monotonic() < deadline, wrong
        time.sleep(0.05)


# ------------------------------------------------------------------------------------------------- in one process


class _Threads:
    """Two sets of controllers in threads."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub
        self._number = 0
        self.running: list[_Thread] = []
        self.start()
        self.start()

    def start(self) -> None:
        self._number += 1
        self.running.append(_Thread(self._hub, f"t{self._number}"))

    def disturb(self, order: random.Random) -> str:
        deed = order.choice(("nothing", "kill", "kill", "pause", "pause", "kill both"))
        if deed == "pause":
            order.choice(self.running).freeze(order.uniform(1.2, 2.0))
        elif deed != "nothing":
            for _ in range(2 if deed == "kill both" else 1):
                self.running.pop(order.randrange(len(self.running))).kill()
            while len(self.running) < 2:
                self.start()
        return deed

    def close(self) -> None:
        for each in self.running:
            each.kill()


class _Thread:
    """Controllers on a loop of their own, and the thread that renews their lease."""

    def __init__(self, hub: RunningHub, identity: str) -> None:
        self._loop = asyncio.new_event_loop()
        candidate = Candidate(LEASE, identity, "kube-system", "", 1.0, 0.7, 0.2)
        options = Options(candidate, connection_of(hub, COLLECTOR))
        self._task = self._loop.create_task(run_controllers(connection_of(hub, CONTROLLERS), options=options))
        self._identity = identity
        self._thread = threading.Thread(target=self._main, name=identity)
        self._thread.start()

    def _main(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    def freeze(self, seconds: float) -> None:
        """Stop both loops wherever they are; they go on later, at the same time."""
        over = threading.Event()
        threading.Timer(seconds, over.set).start()
        for loop in (self._loop, *_LEASE_LOOPS.get(self._identity, ())):
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(over.wait)

    def kill(self) -> None:
        """End every task at whatever it awaits, again and again."""
        deadline = time.monotonic() + PATIENCE
        while self._thread.is_alive():
            assert time.monotonic() < deadline
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(lambda: [each.cancel() for each in asyncio.all_tasks(self._loop)])
            self._thread.join(0.05)


_LEASE_LOOPS: dict[str, list[asyncio.AbstractEventLoop]] = {}


@contextlib.contextmanager
def _known_lease_loops() -> Iterator[None]:
    """Lets `freeze` find the loops that renew leases."""
    run = leases.Leadership.run

    async def noted(self: leases.Leadership, won: Callable[[], None]) -> str:
        _LEASE_LOOPS.setdefault(self._candidate.identity, []).append(asyncio.get_running_loop())
        return await run(self, won)

    leases.Leadership.run = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        leases.Leadership.run = run  # type: ignore[method-assign]
        _LEASE_LOOPS.clear()


@contextlib.contextmanager
def threads() -> Iterator[tuple[Remote, _Threads]]:
    with _known_lease_loops(), driven_hub() as driver:
        running = _Threads(driver.hub)
        remote = Remote(driver.hub.url, driver.hub.token)
        try:
            yield remote, running
        finally:
            remote.close()
            running.close()


# ------------------------------------------------------------------------------------------------- real processes


class _Processes:
    """A hub, and controllers beside its own."""

    def __init__(self, hub: Any) -> None:
        self._hub = hub
        self._beside = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "muster", "hub", "controllers", "--data", str(self._hub.directory)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def disturb(self, order: random.Random) -> str:
        deed = order.choice(("SIGKILL serve", "SIGKILL controllers", "SIGKILL standby", "SIGSTOP", "SIGSTOP standby"))
        if deed == "SIGKILL standby":
            self._beside.kill()
            self._beside.wait()
            self._beside = self._started()
        elif deed.startswith("SIGKILL"):
            self._hub.kill(deed.split()[1])
        else:
            pid = self._beside.pid if deed.endswith("standby") else self._hub.child("controllers")
            if pid is not None:
                self._freeze(pid, order.uniform(3.5, 6.0))
        return deed

    def _freeze(self, pid: int, seconds: float) -> None:
        def resume() -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            timer = threading.Timer(seconds, resume)
            timer.daemon = True
            timer.start()

    def close(self) -> None:
        self._beside.kill()
        self._beside.wait()


@contextlib.contextmanager
def processes() -> Iterator[tuple[Remote, _Processes]]:
    with tempfile.TemporaryDirectory() as directory, hub_process(Path(directory)) as hub:
        config = yaml.safe_load(hub.kubeconfig.read_text())
        remote = Remote(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])
        running = _Processes(hub)
        try:
            yield remote, running
        finally:
            remote.close()
            running.close()


# -------------------------------------------------------------------------------------------------------------- runs


@dataclass
class Tally:
    runs: Counter[str] = field(default_factory=Counter)
    disturbances: Counter[str] = field(default_factory=Counter)
    edits: int = 0


def converge(kind: str, seeds: range, tally: Tally, told: Callable[[str], None] = lambda _: None) -> None:
    """Run bursts over one world. Raises AssertionError with the seed of the first run that does not converge."""
    with (threads if kind == "threads" else processes)() as (remote, running):
        Editor(remote, random.Random(seeds[0])).build()
        for seed in seeds:
            order = random.Random(seed)
            editor = Editor(remote, order)
            edits, moment = order.randrange(5, 25), order.random()
            disturbance = ""
            try:
                for number in range(edits):
                    if not disturbance and number >= moment * edits:
                        disturbance = running.disturb(order)
                    editor.edit()
                settle(remote)
            except AssertionError as error:
                raise AssertionError(f"seed {seed} ({kind}, {disturbance}, after seed {seeds[0]}): {error}") from error
            tally.runs[kind] += 1
            tally.disturbances[f"{kind}: {disturbance or 'nothing'}"] += 1
            tally.edits += edits
            told(f"{kind} {seed}: {disturbance or 'nothing'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--real", type=float, default=0.1, help="share of the runs that have real processes")
    given = parser.parse_args()
    logging.disable(logging.ERROR)
    tally, started = Tally(), time.monotonic()
    real = round(given.runs * given.real)
    for kind, runs in (("processes", real), ("threads", given.runs - real)):
        for first in range(given.seed, given.seed + runs, RUNS_PER_WORLD):
            last = min(first + RUNS_PER_WORLD, given.seed + runs)
            converge(kind, range(first, last), tally)
            done = sum(tally.runs.values())
            sys.stdout.write(f"{time.monotonic() - started:7.0f} s  {done} runs, all converged\n")
            sys.stdout.flush()
    for name, count in sorted(tally.disturbances.items()):
        sys.stdout.write(f"{count:6} {name}\n")
    sys.stdout.write(f"{sum(tally.runs.values())} runs ({dict(tally.runs)}), {tally.edits} edits: 0 diverged\n")


if __name__ == "__main__":
    main()
