"""What one request costs the API server: CPU time of its process (user and system, all threads) divided by the answers.

Rates depend on what else the machine does; this depends on it much less, so that two states of the code can be told
apart on a shared one. Over HTTPS, durable, admission and audit on, 16 connections, each with one request on its way.
`MUSTER_OTHER=DIR` measures another working tree beside this one, alternating, three rounds of each.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import uvloop

from benchmarks._load import Connection, Server, prepared, pumped
from benchmarks._processes import cpu_of
from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
MERGE = "application/merge-patch+json"
_CONNECTIONS = 16
_SECONDS = 3.0
_ROUNDS = 3
_WATCHERS, _WRITES_PER_SECOND, _WATCHED_SECONDS = 200, 50.0, 4.0


@dataclass
class Hub:
    """A running hub, and what has been measured of it."""

    name: str
    server: Server
    pid: int
    costs: dict[str, list[float]] = field(default_factory=dict)
    rates: dict[str, list[float]] = field(default_factory=dict)

    def cpu(self) -> float:
        """Seconds of CPU that its process has used."""
        return cpu_of(self.pid)


@contextmanager
def running(name: str, tree: Path, directory: Path) -> Iterator[Hub]:
    """A hub of the code in a working tree, with the packages of its own environment if it has one."""
    python = tree / ".venv" / "bin" / "python"
    process = subprocess.Popen(
        [str(python) if python.exists() else sys.executable, "-m", "muster", "hub", "serve", "--data", str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
    )
    try:
        assert process.stdout is not None
        while "export KUBECONFIG" not in (line := process.stdout.readline()):
            if not line:
                raise RuntimeError("the hub did not start")
        yield Hub(name, Server.from_kubeconfig(directory / "kubeconfig"), process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _creates(server: Server, connection: int, numbers: Iterator[int]) -> Iterator[bytes]:
    made = []
    for index in range(64):
        obj = a_cluster(1, index).object
        obj["metadata"]["name"] = "NAME"
        made.append(msgspec.json.encode(obj).split(b"NAME", 1))
    for number in numbers:
        head, tail = made[number % len(made)]
        name = f"n{connection}-{number}".encode()
        yield prepared(server, "POST", CLUSTERS, head + name + tail, "application/json")


def _beats(server: Server, connection: int, numbers: Iterator[int]) -> Iterator[bytes]:
    """Status patches as agents send them: the same conditions with another time."""
    for number in numbers:
        beat = {"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "ManagedClusterAvailable"}
        said = {"message": f"beat {number}", "lastTransitionTime": "2026-01-05T08:05:45Z"}
        body = msgspec.json.encode({"status": {"conditions": [{**beat, **said}]}})
        yield prepared(server, "PATCH", f"{CLUSTERS}/beaten-{connection}/status", body, MERGE)


def _lease(name: str, number: int, revision: str = "") -> dict[str, object]:
    seconds, micros = divmod(number, 1_000_000)
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "default", **({"resourceVersion": revision} if revision else {})},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 60,
            "renewTime": f"2026-11-01T00:00:{seconds % 60:02}.{micros:06}Z",
        },
    }


def _gets(server: Server, connection: int, numbers: Iterator[int]) -> Iterator[bytes]:
    for _ in numbers:
        yield prepared(server, "GET", f"{CLUSTERS}/beaten-{connection}", b"", "application/json")


async def _renewed(server: Server, seconds: float, numbers: Iterator[int]) -> int:
    """Leases as OCM's agents renew them, updates of the whole object at its revision; how many."""

    async def keep(each: int) -> int:
        connection, path = await Connection.open(server), f"{LEASES}/lease-{each}"
        _, lease = await connection.request("GET", path)
        renewed, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            at = lease.index(b'"resourceVersion":"') + 19
            revision = lease[at : lease.index(b'"', at)].decode()
            body = msgspec.json.encode(_lease(f"lease-{each}", next(numbers), revision))
            code, lease = await connection.request("PUT", path, body)
            assert code == 200, lease
            renewed += 1
        connection.close()
        return renewed

    return sum(await asyncio.gather(*map(keep, range(_CONNECTIONS))))


class _Listener(asyncio.Protocol):
    """Watches, and only counts the lines it gets."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self.events = 0

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]  # as connections are
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.events += data.count(b'"type":"MODIFIED"')


async def _watched(hub: Hub, numbers: Iterator[int]) -> tuple[int, float]:
    """Patches at a steady pace while many watch; how many events arrived, and the CPU that the server took."""
    server, loop = hub.server, asyncio.get_running_loop()
    # From now on: a watch without a revision begins with all that there is, which is another measurement.
    connection = await Connection.open(server)
    _, listed = await connection.request("GET", f"{CLUSTERS}?limit=1")
    connection.close()
    revision = msgspec.json.decode(listed)["metadata"]["resourceVersion"]
    path = f"{CLUSTERS}?watch=true&resourceVersion={revision}"
    request = prepared(server, "GET", path, b"", "application/json")
    listeners = [
        await loop.create_connection(lambda: _Listener(request), server.host, server.port, ssl=server.tls)
        for _ in range(_WATCHERS)
    ]
    await asyncio.sleep(1)
    cpu = hub.cpu()
    beats = _beats(server, 0, numbers)
    await pumped(server, [beats], _WRITES_PER_SECOND, _WATCHED_SECONDS)
    await asyncio.sleep(0.5)
    used = hub.cpu() - cpu
    for transport, _ in listeners:
        transport.close()
    return sum(each.events for _, each in listeners), used


PUMPED = {"create": _creates, "status patch": _beats, "get": _gets}
WATCHED = "event to a watcher"
WORK = (*PUMPED, "lease renewal", WATCHED)


async def _prepare(server: Server) -> None:
    connection = await Connection.open(server)
    for each in range(_CONNECTIONS):
        obj = a_cluster(1, each).object
        obj["metadata"]["name"] = f"beaten-{each}"
        code, answer = await connection.request("POST", CLUSTERS, msgspec.json.encode(obj))
        assert code == 201, answer
        lease = msgspec.json.encode(_lease(f"lease-{each}", 0))
        code, answer = await connection.request("POST", LEASES, lease)
        assert code == 201, answer
    connection.close()


async def measured(hub: Hub, what: str, numbers: Iterator[int]) -> None:
    cpu, started = hub.cpu(), time.perf_counter()
    if what in PUMPED:
        requests = [PUMPED[what](hub.server, each, numbers) for each in range(_CONNECTIONS)]
        pumps = await pumped(hub.server, requests, 1e9, _SECONDS)
        answered, failed = sum(each.answered for each in pumps), sum(each.failed for each in pumps)
        assert not failed, f"{failed} of {answered} requests failed"
    elif what == WATCHED:
        answered, used = await _watched(hub, numbers)
        cpu = hub.cpu() - used
    else:
        answered = await _renewed(hub.server, _SECONDS, numbers)
    hub.costs.setdefault(what, []).append((hub.cpu() - cpu) / answered * 1e6)
    hub.rates.setdefault(what, []).append(answered / (time.perf_counter() - started))


async def _all(hubs: list[Hub]) -> None:
    for hub in hubs:
        await _prepare(hub.server)
    numbers = count()
    for _ in range(_ROUNDS):
        for what in WORK:
            for hub in hubs:
                await measured(hub, what, numbers)


def main() -> None:
    print(__doc__)
    trees = {"this": Path(__file__).resolve().parents[1]}
    if other := os.environ.get("MUSTER_OTHER"):
        trees["other"] = Path(other)
    with ExitStack() as stack:
        hubs = []
        for name, tree in trees.items():
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            hubs.append(stack.enter_context(running(name, tree, directory)))
        uvloop.run(_all(hubs))
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"load {load}; median of {_ROUNDS} (least to most)\n")
    print(f"{'':18} {'':8} {'µs of CPU for each':>28} {'answers/s':>24}")
    for what in WORK:
        for hub in hubs:
            print(f"{what:18} {hub.name:8} {_spread(hub.costs[what]):>28} {_spread(hub.rates[what]):>24}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


if __name__ == "__main__":
    main()
