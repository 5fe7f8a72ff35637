"""A large fleet on a real kube-apiserver: `python -m tests.kubernetes.scale`. Prints a table.

Our placement controller and Open Cluster Management's, one after the other on the same server with the same objects,
each in the same part (`instead`: placements and nothing else). For each: the time from its start until the last
placement is decided, the time from a label's change to the decision that follows from it, processor time, memory, and
requests per change, which are counted in the API server's audit log. It says how far it is, and ends after `--minutes`
with what it has.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
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
from tests.kubernetes.ports import free_ports
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
_QUIET: Final = 10.0  # seconds without a word at most
_DECIDED: Final = 120.0  # seconds within which one change must be decided
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class NotInTimeError(Exception):
    """It takes longer than it may, or somebody who should decide has ended."""


class Deadline:
    """How long everything may take together, and what is said meanwhile."""

    def __init__(self, minutes: float) -> None:
        self._minutes = minutes
        self._end = time.monotonic() + minutes * 60
        self._told = time.monotonic()

    def step(self, done: int, of: int, what: str) -> None:
        """So much is done. Raises NotInTimeError."""
        now = time.monotonic()
        if now > self._end:
            raise NotInTimeError(f"not within {self._minutes:g} minutes: {done} of {of} {what}")
        if now - self._told > _QUIET:
            self._told = now
            print(f"  … {done} of {of} {what}, load {os.getloadavg()[0]:.1f}", flush=True)


def labels_of(number: int) -> dict[str, str]:
    region, tier = _REGIONS[number % len(_REGIONS)], _TIERS[number % len(_TIERS)]
    return {"region": region, "tier": tier, "version": _VERSIONS[number % len(_VERSIONS)], "probe": "off"}


def placements(count: int) -> Iterator[tuple[str, JsonObject]]:
    """The one that the changes are about, and others: by labels, by expressions, by either."""
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
        return (by_labels, by_expression, by_labels or by_expression)[number % 3]  # predicates are alternatives

    return min(_WANTED, sum(fits(labels_of(each)) for each in range(clusters)))


def _by_labels(selector: JsonObject) -> JsonObject:
    return {"requiredClusterSelector": {"labelSelector": selector}}


def requests_of(folder: Path, user: str, since: int) -> dict[str, int]:
    """What somebody has asked since then, without watches and leases."""
    asked = [about(each) for each in entries(folder, user, since) if each["verb"] != "watch"]
    return dict(Counter(each for each in asked if "leases" not in each))


# ------------------------------------------------------------------------------------------------------- the fleet


def build_fleet(server: Server, clusters: int, count: int, deadline: Deadline) -> float:
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
        try:
            for done, _ in enumerate(threads.map(create, range(clusters))):
                deadline.step(done, clusters, "clusters written")
        except NotInTimeError:
            threads.shutdown(cancel_futures=True)
            raise
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
def started(contestant: Contestant, server: Server) -> Iterator[subprocess.Popen[bytes]]:
    kubeconfig = server.user(contestant.user, groups=("system:masters",))
    (port,) = free_ports(1)
    environment = {**os.environ, "POD_NAMESPACE": HUB, "HOME": str(server.folder)}
    with (server.folder / f"{contestant.user}.log").open("w") as log:
        process = subprocess.Popen(
            contestant.command(kubeconfig, port), stdout=log, stderr=log, env=environment, cwd=server.folder
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def told_by(contestant: Contestant, server: Server) -> str:
    return (server.folder / f"{contestant.user}.log").read_text(errors="replace")[-3000:]


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


class Decisions:
    """What somebody sees who watches the decisions of all placements."""

    def __init__(self, server: Server) -> None:
        self._caller = Caller(server.kubeconfig)
        self._pages: dict[str, tuple[str, frozenset[str]]] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        listed = self._caller.ok("GET", DECISIONS)
        for page in listed["items"]:
            self._keep("ADDED", page)
        self._version = listed["metadata"]["resourceVersion"]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.is_set():
            path = f"{DECISIONS}?watch=1&resourceVersion={self._version}&timeoutSeconds=20"
            with contextlib.suppress(OSError, http.client.HTTPException):  # a connection that ended is made again
                for event in self._caller.events(path):
                    with self._changed:
                        self._keep(event["type"], event["object"])
                        self._version = event["object"]["metadata"]["resourceVersion"]
                        self._changed.notify_all()
                    if self._stop.is_set():
                        break
        self._caller.close()

    def _keep(self, kind: str, page: JsonObject) -> None:
        decisions = page.get("status", {}).get("decisions", ()) if kind != "DELETED" else ()
        placement = page["metadata"]["labels"][f"{GROUP}/placement"]
        self._pages[page["metadata"]["name"]] = (placement, frozenset(each["clusterName"] for each in decisions))

    def count(self) -> Counter[str]:
        """How many clusters each placement has."""
        found: Counter[str] = Counter()
        for placement, names in self._pages.values():
            found[placement] += len(names)
        return found

    def has(self, placement: str, cluster: str) -> bool:
        return any(placement == each and cluster in names for each, names in self._pages.values())

    def wait_for(self, question: Callable[[], bool], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(question, seconds)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(30)  # the server ends a watch after twenty seconds


def wait_for_all(decisions: Decisions, wanted: dict[str, int], process: subprocess.Popen[bytes], end: Deadline) -> None:
    """Until every placement has as many clusters as it should."""

    def reached() -> int:
        count = decisions.count()
        return sum(count[name] == number for name, number in wanted.items())

    while not decisions.wait_for(lambda: reached() == len(wanted), 1):
        if process.poll() is not None:
            raise NotInTimeError(f"it has ended with {process.returncode}")
        end.step(reached(), len(wanted), "placements decided")


def latencies(server: Server, decisions: Decisions, clusters: int, count: int, end: Deadline) -> list[float]:
    """From a label's change to the event of the decision that follows from it, one change after the other."""
    dice, taken, writer = random.Random(22), [], Caller(server.kubeconfig)
    for number in range(count):
        end.step(number, count, "changes decided")
        name = f"c{dice.randrange(clusters):05d}"
        is_on = not decisions.has("probe", name)
        began = time.perf_counter()
        writer.ok("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"labels": {"probe": "on" if is_on else "off"}}})
        if not decisions.wait_for(partial(_is_decided, decisions, name, is_on), _DECIDED):
            raise NotInTimeError(f"{name} was not decided on within {_DECIDED:.0f} s")
        taken.append(time.perf_counter() - began)
    writer.close()
    return sorted(taken)


def _is_decided(decisions: Decisions, name: str, is_on: bool) -> bool:
    return decisions.has("probe", name) == is_on


def measured(
    contestant: Contestant, server: Server, clusters: int, count: int, changes: int, end: Deadline
) -> JsonObject:
    admin = Caller(server.kubeconfig)
    admin.ok("DELETE", DECISIONS)
    _take_labels_back(admin)
    expected = {name: wanted_of(number, clusters) for number, (name, _) in enumerate(placements(count)) if number}
    wanted = {name: number for name, number in expected.items() if number}
    offset, began = written_so_far(server.folder), time.monotonic()
    with contextlib.closing(Decisions(server)) as decisions, started(contestant, server) as process:
        pid = process.pid
        wait_for_all(decisions, wanted, process, end)
        first = time.monotonic() - began
        first_cpu, first_requests = cpu_of(pid), requests_of(server.folder, contestant.user, offset)
        print(f"  {contestant.name}: everything decided after {first:.1f} s, {first_requests}", flush=True)
        time.sleep(5)  # what the first decisions left to do is done
        offset, before = written_so_far(server.folder), cpu_of(pid)
        server_before = cpu_of(server.process)
        taken = latencies(server, decisions, clusters, changes, end)
        time.sleep(3)  # what is written after the decision counts too
        cpu, server_cpu = cpu_of(pid) - before, cpu_of(server.process) - server_before
        requests = requests_of(server.folder, contestant.user, offset)
        memory = memory_of(pid)
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


def _take_labels_back(admin: Caller) -> None:
    """Whoever comes second begins with the fleet that the first one began with."""
    for each in admin.ok("GET", f"{CLUSTERS}?labelSelector=probe%3Don")["items"]:
        admin.ok("PATCH", f"{CLUSTERS}/{each['metadata']['name']}", {"metadata": {"labels": {"probe": "off"}}})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kubernetes.scale", description=__doc__)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--placements", type=int, default=100)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--peer-changes", type=int, default=10, help="changes for the other: each takes it long")
    parser.add_argument("--minutes", type=float, default=30, help="how long all of it may take, without builds")
    parser.add_argument("--alone", action="store_true", help="only ours: nothing of others is built")
    options = parser.parse_args()
    rows: list[JsonObject] = []
    everybody, programs = contestants(alone=options.alone), built()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running(programs, folder, options=audited(folder)))
        end = Deadline(options.minutes)
        print(f"Kubernetes {version_of()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        try:
            took = build_fleet(server, options.clusters, options.placements, end)
        except NotInTimeError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{options.clusters} clusters and {options.placements} placements written in {took:.0f} s", flush=True)
        failed = False
        for each in everybody:
            changes = options.changes if each is everybody[0] else options.peer_changes
            try:
                rows.append(measured(each, server, options.clusters, options.placements, changes, end))
            except NotInTimeError as error:
                print(f"{each.name}: {error}\n{told_by(each, server)}", file=sys.stderr, flush=True)
                failed = True
            else:
                print(f"{each.name}: load {os.getloadavg()[0]:.1f}; {rows[-1].pop('_requests')}", flush=True)
    _print_table(rows)
    return int(failed)


def _print_table(rows: list[JsonObject]) -> None:
    if not rows:
        return
    print("\n| | " + " | ".join(row["name"] for row in rows) + " |\n|---|" + "---|" * len(rows))
    for name in rows[0]:
        if name != "name":
            print(f"| {name} | " + " | ".join(row[name] for row in rows) + " |")


if __name__ == "__main__":
    sys.exit(main())
