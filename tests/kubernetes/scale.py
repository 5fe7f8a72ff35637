"""A large fleet on a real kube-apiserver: `python -m tests.kubernetes.scale`. Prints a table.

Our placement controller and Open Cluster Management's, one after the other on the same server with the same objects,
each in the same part (`instead`: placements and nothing else). For each: the time until the last placement is decided,
the time from a label's change to the decision that follows from it, processor time, memory, and requests per change,
which are counted in the API server's audit log.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.kubernetes.audit import about, audited, entries, written_so_far
from tests.kubernetes.binaries import built, version_of
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, Caller, a_binding, a_cluster, a_set, bindings
from tests.kubernetes.guests import HUB, placement_program
from tests.kubernetes.installing import apply_all, crds, eventually
from tests.kubernetes.replicas import free_ports
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.values.json import JsonObject
    from tests.kubernetes.server import Server

PLACEMENTS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
DECISIONS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placementdecisions"
_REGIONS: Final = ("eu-west", "eu-north", "us-east", "us-west", "ap-south")
_TIERS: Final = ("gold", "silver", "bronze")
_VERSIONS: Final = tuple(f"1.{minor}.{patch}" for minor in range(28, 37) for patch in range(5))
_WANTED: Final = 50  # clusters of each placement, which is one page
_PATIENCE: Final = 1800.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def labels_of(number: int) -> dict[str, str]:
    region, tier = _REGIONS[number % len(_REGIONS)], _TIERS[number % len(_TIERS)]
    return {"region": region, "tier": tier, "version": _VERSIONS[number % len(_VERSIONS)], "probe": "off"}


def placements(count: int) -> Iterator[tuple[str, JsonObject]]:
    """The one that the changes are about, and others: by labels, by expressions, by both."""
    yield "probe", {"predicates": [_by_labels({"matchLabels": {"probe": "on"}})]}
    for number in range(1, count):
        region, tier = _REGIONS[number % len(_REGIONS)], _TIERS[number % len(_TIERS)]
        minor = 28 + number % 9
        expressions = [
            f"managedCluster.metadata.labels['tier'] == '{tier}'",
            f"managedCluster.metadata.labels['version'].startsWith('1.{minor}.')",
        ]
        by_labels = _by_labels({"matchExpressions": [{"key": "region", "operator": "In", "values": [region]}]})
        by_expression = {"requiredClusterSelector": {"celSelector": {"celExpressions": expressions[number % 2 :]}}}
        predicates = ([by_labels], [by_expression], [by_labels, by_expression])[number % 3]
        yield f"p{number:03d}", {"numberOfClusters": _WANTED, "predicates": predicates}


def wanted_of(number: int, clusters: int) -> int:
    """How many clusters the placement of this number gets: those that its predicates let in, up to its limit."""
    region, tier, minor = _REGIONS[number % len(_REGIONS)], _TIERS[number % len(_TIERS)], 28 + number % 9

    def fits(labels: dict[str, str]) -> bool:
        by_labels = labels["region"] == region
        by_version = labels["version"].startswith(f"1.{minor}.")
        by_expression = by_version and (number % 2 == 1 or labels["tier"] == tier)
        return (by_labels, by_expression, by_labels and by_expression)[number % 3]

    return min(_WANTED, sum(fits(labels_of(each)) for each in range(clusters)))


def _by_labels(selector: JsonObject) -> JsonObject:
    return {"requiredClusterSelector": {"labelSelector": selector}}


def requests_of(folder: Path, user: str, since: int) -> dict[str, int]:
    """What somebody has asked since then, without watches and leases."""
    asked = [about(each) for each in entries(folder, user, since) if each["verb"] != "watch"]
    return dict(Counter(each for each in asked if "leases" not in each))


# ------------------------------------------------------------------------------------------------------- the fleet


def build_fleet(server: Server, clusters: int, count: int) -> float:
    """Create everything with several connections; how many seconds that took."""
    admin = Caller(server.kubeconfig)
    definitions = crds()
    apply_all(admin, definitions)
    eventually(lambda: admin.send("GET", f"{PLACEMENTS}?limit=1").is_allowed, "placements are served")
    eventually(lambda: admin.send("GET", f"{CLUSTERS}?limit=1").is_allowed, "clusters are served")
    eventually(lambda: admin.send("GET", f"{SETS}?limit=1").is_allowed, "sets are served")
    admin.ok("POST", "/api/v1/namespaces", {"metadata": {"name": HUB}})
    everything = {"selectorType": "LabelSelector", "labelSelector": {}}
    admin.ok("POST", SETS, a_set("global", clusterSelector=everything))
    admin.ok("POST", bindings("default"), a_binding("global"))
    started = time.monotonic()
    local = threading.local()

    def create(number: int) -> None:
        if not hasattr(local, "caller"):
            local.caller = Caller(server.kubeconfig)
        local.caller.ok("POST", CLUSTERS, a_cluster(f"c{number:05d}", labels_of(number), hubAcceptsClient=True))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(clusters)))
    for name, spec in placements(count):
        head = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": {"name": name}}
        admin.ok("POST", PLACEMENTS, {**head, "spec": spec})
    admin.close()
    return time.monotonic() - started


# ---------------------------------------------------------------------------------------------------- the controllers


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who decides: its name, the user it is, and the command that runs it with a kubeconfig."""

    name: str
    user: str
    command: Callable[[Path, int], list[str]]


def contestants(*, alone: bool) -> list[Contestant]:
    def ours(kubeconfig: Path, port: int) -> list[str]:
        start = [sys.executable, "-m", "muster", "kubernetes", "placement", "controller"]
        return [*start, f"--kubeconfig={kubeconfig}", f"--namespace={HUB}", f"--listen=127.0.0.1:{port}"]

    muster = Contestant("Muster", "muster", ours)
    if alone:
        return [muster]
    program = placement_program()

    def theirs(kubeconfig: Path, port: int) -> list[str]:
        options = [f"--kubeconfig={kubeconfig}", f"--namespace={HUB}", f"--listen=127.0.0.1:{port}"]
        return [str(program), "controller", *options]

    return [muster, Contestant("Open Cluster Management", "ocm", theirs)]


@contextlib.contextmanager
def started(contestant: Contestant, server: Server) -> Iterator[int]:
    kubeconfig = server.user(contestant.user, groups=("system:masters",))
    (port,) = free_ports(1)
    environment = {**os.environ, "POD_NAMESPACE": HUB, "HOME": str(server.folder)}
    with (server.folder / f"{contestant.user}.log").open("w") as log:
        process = subprocess.Popen(
            contestant.command(kubeconfig, port), stdout=log, stderr=log, env=environment, cwd=server.folder
        )
        try:
            yield process.pid
        finally:
            process.terminate()
            process.wait(60)


def family(pid: int) -> list[int]:
    found = [pid]
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with contextlib.suppress(OSError):
                if int((each / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(each.name))
    return found


def cpu_of(pid: int) -> float:
    """Seconds of processor time of a process and of those that it has started."""
    total = 0
    for each in family(pid):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def memory_of(pid: int) -> float:
    """MiB."""
    total = 0
    for each in family(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{each}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1])
    return total / 1024


# --------------------------------------------------------------------------------------------------------- measuring


def decided(admin: Caller) -> dict[str, int]:
    found: dict[str, int] = {}
    for page in admin.ok("GET", DECISIONS)["items"]:
        name = page["metadata"]["labels"][f"{GROUP}/placement"]
        found[name] = found.get(name, 0) + len(page.get("status", {}).get("decisions", ()))
    return found


class Latencies:
    """From a label's change to the event of the decision that follows from it, one change after the other."""

    def __init__(self, server: Server, clusters: int) -> None:
        self._writer = Caller(server.kubeconfig)
        self._reader = Caller(server.kubeconfig)
        self._clusters = clusters
        self._now: set[str] = set()
        self._pages: dict[str, set[str]] = {}
        self._changed = threading.Condition()
        self._stop = False
        listed = self._reader.ok("GET", DECISIONS)
        self._version = listed["metadata"]["resourceVersion"]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        about = f"labelSelector={GROUP}/placement=probe"
        while not self._stop:
            path = f"{DECISIONS}?watch=1&{about}&resourceVersion={self._version}&timeoutSeconds=20"
            for event in self._reader.events(path):
                page = event["object"]
                self._version = page["metadata"]["resourceVersion"]
                decisions = page.get("status", {}).get("decisions", ()) if event["type"] != "DELETED" else ()
                with self._changed:
                    self._pages[page["metadata"]["name"]] = {each["clusterName"] for each in decisions}
                    self._now = set().union(*self._pages.values())
                    self._changed.notify_all()

    def measure(self, count: int) -> list[float]:
        dice, taken = random.Random(22), []
        for _ in range(count):
            name = f"c{dice.randrange(self._clusters):05d}"
            wanted = "off" if name in self._now else "on"
            began = time.perf_counter()
            self._writer.ok("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"labels": {"probe": wanted}}})
            with self._changed:
                done = self._changed.wait_for(partial(self._is_decided, name, wanted == "on"), 120)
            assert done, f"{name} was not decided on within two minutes"
            taken.append(time.perf_counter() - began)
        return taken

    def _is_decided(self, name: str, on: bool) -> bool:
        return (name in self._now) == on

    def close(self) -> None:
        self._stop = True
        self._writer.close()


def measured(contestant: Contestant, server: Server, clusters: int, count: int, changes: int) -> JsonObject:
    admin = Caller(server.kubeconfig)
    admin.ok("DELETE", DECISIONS)
    expected = {name: wanted_of(number, clusters) for number, (name, _) in enumerate(placements(count)) if number}
    wanted = {name: number for name, number in expected.items() if number}
    offset = written_so_far(server.folder)
    began = time.monotonic()
    with started(contestant, server) as pid:
        while {name: number for name, number in decided(admin).items() if name != "probe" and number} != wanted:
            assert time.monotonic() - began < _PATIENCE, "not everything was decided"
            time.sleep(0.1)
        first = time.monotonic() - began
        first_cpu, first_requests = cpu_of(pid), requests_of(server.folder, contestant.user, offset)
        time.sleep(5)  # what the first decisions left to do is done
        latencies = Latencies(server, clusters)
        offset, before = written_so_far(server.folder), cpu_of(pid)
        server_before = cpu_of(server.process)
        taken = sorted(latencies.measure(changes))
        time.sleep(3)  # what is written after the decision counts too
        cpu, server_cpu = cpu_of(pid) - before, cpu_of(server.process) - server_before
        requests = requests_of(server.folder, contestant.user, offset)
        memory = memory_of(pid)
        latencies.close()
    admin.close()
    return {
        "name": contestant.name,
        "last decision": f"{first:.1f} s",
        "CPU until then": f"{first_cpu:.1f} s",
        "requests until then": str(sum(first_requests.values())),
        "change to decision, p50": f"{statistics.median(taken) * 1000:.0f} ms",
        "p99": f"{taken[int(len(taken) * 0.99)] * 1000:.0f} ms",
        "CPU per change": f"{cpu / changes * 1000:.1f} ms",
        "CPU of the API server per change": f"{server_cpu / changes * 1000:.1f} ms",
        "requests per change": f"{sum(requests.values()) / changes:.2f}",
        "memory": f"{memory:.0f} MiB",
        "_requests": requests,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kubernetes.scale", description=__doc__)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--placements", type=int, default=100)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--alone", action="store_true", help="only ours: nothing of others is built")
    options = parser.parse_args()
    rows: list[JsonObject] = []
    everybody, programs = contestants(alone=options.alone), built()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running(programs, folder, options=audited(folder)))
        took = build_fleet(server, options.clusters, options.placements)
        print(
            f"Kubernetes {version_of()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
            f"{options.clusters} clusters and {options.placements} placements written in {took:.0f} s\n",
            flush=True,
        )
        for each in everybody:
            rows.append(measured(each, server, options.clusters, options.placements, options.changes))
            print(f"{each.name}: load {os.getloadavg()[0]:.1f}; {rows[-1].pop('_requests')}", flush=True)
    print("\n| | " + " | ".join(row["name"] for row in rows) + " |\n|---|" + "---|" * len(rows))
    for name in rows[0]:
        if name != "name":
            print(f"| {name} | " + " | ".join(row[name] for row in rows) + " |")


if __name__ == "__main__":
    main()
