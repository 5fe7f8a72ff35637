"""The controllers beside a hub: from a changed label to the decision, a storm of heartbeats, a cold start, memory.

`MUSTER_CLUSTERS` and `MUSTER_PLACEMENTS` set the size (10,000 and 100; 0 clusters leave that part out);
`MUSTER_COLD_CLUSTERS` and `MUSTER_COLD_PLACEMENTS` are those of the second hub (100,000 and 1,000; 0 as well). It has
stored them, and no decisions, before it starts: measured are the time until every placement has been decided, and the
memory of the controllers' process.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import uvloop

from benchmarks._load import Connection, Server, prepared, pumped
from benchmarks._report import RUNS, header, heading, judged, row
from benchmarks.fleet import mixed
from muster.app import DATABASE, load_fleet
from muster.demo.clusters import a_cluster
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.storage import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTERS = int(os.environ.get("MUSTER_CLUSTERS", "10000"))
PLACEMENTS = int(os.environ.get("MUSTER_PLACEMENTS", "100"))
COLD_CLUSTERS = int(os.environ.get("MUSTER_COLD_CLUSTERS", "100000"))
COLD_PLACEMENTS = int(os.environ.get("MUSTER_COLD_PLACEMENTS", "1000"))
_GROUP = "/apis/cluster.open-cluster-management.io"
_FLEET = f"{_GROUP}/v1/managedclusters"
_APPS = f"{_GROUP}/v1beta1/namespaces/apps"
_MERGE = "application/merge-patch+json"
_CHANGES = 200
_STORM_SECONDS = 10.0
_STORM_RATE = 1000
_STORM_CONNECTIONS = 16
_LABEL = "bench"
_COLD_SECONDS = 300.0


@contextmanager
def hub_of(directory: Path) -> Iterator[tuple[Server, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "muster", "hub", "run", "--data", str(directory), "--audit", "off"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        while "export KUBECONFIG" not in (line := process.stdout.readline()):
            if not line:
                raise RuntimeError("the hub did not start")
        yield Server.from_kubeconfig(directory / "kubeconfig"), process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def _sent(
    connection: Connection, method: str, path: str, body: Any = None, content_type: str = "application/json"
) -> Any:
    data = b"" if body is None else msgspec.json.encode(body)
    code, answer = await connection.request(method, path, data, content_type)
    if code >= 300:
        raise RuntimeError(f"{method} {path}: {code} {answer[:300]!r}")
    return msgspec.json.decode(answer)


async def _fill(server: Server, count: int) -> None:
    """Clusters with their status, many at a time."""
    connections = [await Connection.open(server) for _ in range(32)]
    numbers = iter(range(count))

    async def fill(connection: Connection) -> None:
        for number in numbers:
            obj = _cluster(number)
            await _sent(connection, "POST", _FLEET, obj)
            path = f"{_FLEET}/{obj['metadata']['name']}/status"
            await _sent(connection, "PATCH", path, {"status": obj["status"]}, _MERGE)

    started = time.perf_counter()
    await asyncio.gather(*(fill(connection) for connection in connections))
    print(f"{count} clusters written in {time.perf_counter() - started:.0f} s", flush=True)
    for connection in connections:
        connection.close()


def _cluster(number: int) -> dict[str, Any]:
    obj = a_cluster(1, number).object
    obj["metadata"]["name"] = f"c{number:06d}"
    obj["spec"].pop("taints", None)
    obj["status"] |= {
        "version": {"kubernetes": f"v1.{30 + number % 5}.{number % 7}"},
        "conditions": [_condition()],
    }
    return obj


async def _prefill(directory: Path, count: int, placements: int) -> None:
    """The same in this process, before a hub runs: by far the quickest way to a large fleet."""
    started = time.perf_counter()
    async with Store.open(directory / DATABASE) as store:
        api = Api(store, AdministratorsOnlyAuthorizer())
        await api.start()
        await load_fleet(api, (_cluster(number) for number in range(count)))
        await load_fleet(api, (_namespace(), _binding()))
        await load_fleet(api, (_cold_placement(number) for number in range(placements)))
        await api.close()
    took = time.perf_counter() - started
    print(f"{count:,} clusters and {placements:,} placements loaded in {took:.0f} s", flush=True)


def _namespace() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}


def _binding() -> dict[str, Any]:
    return {
        "kind": "ManagedClusterSetBinding",
        "apiVersion": "cluster.open-cluster-management.io/v1beta2",
        "metadata": {"name": "global", "namespace": "apps"},
        "spec": {"clusterSet": "global"},
    }


def _cold_placement(number: int) -> dict[str, Any]:
    """Ten clusters each, by labels, claims and CEL in turn, as benchmarks/fleet.py has them."""
    made = next(mixed(1, number))
    return {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement", **made}


def _condition(message: str = "") -> dict[str, str]:
    return {
        "type": "ManagedClusterConditionAvailable",
        "status": "True",
        "reason": "ManagedClusterAvailable",
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


async def _place(server: Server) -> None:
    """Placements of all sizes: by a label that changes, by CEL, by a number of clusters."""
    connection = await Connection.open(server)
    await _sent(connection, "POST", "/api/v1/namespaces", _namespace())
    await _sent(connection, "POST", f"{_GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", _binding())
    for number in range(PLACEMENTS):
        chosen = [f"managedCluster.metadata.labels[?'{_LABEL}'].orValue('') == 'g{number}'"]
        if number % 2:
            chosen.append(
                "semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver('v1.20.0', true))"
            )
        placement = {
            "apiVersion": "cluster.open-cluster-management.io/v1beta1",
            "kind": "Placement",
            "metadata": {"name": f"p{number}", "namespace": "apps"},
            "spec": {"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": chosen}}}]},
        }
        await _sent(connection, "POST", f"{_APPS}/placements", placement)
    connection.close()


async def idle(server: Server) -> None:
    connection = await Connection.open(server)
    quiet = 0
    while quiet < 3:
        depths = await _metric(connection, "workqueue_depth")
        quiet = quiet + 1 if depths and not sum(depths) else 0
        await asyncio.sleep(0.3)
    connection.close()


async def _metric(connection: Connection, name: str) -> list[float]:
    _, text = await connection.request("GET", "/metrics")
    return [float(line.rpartition(b" ")[2]) for line in text.splitlines() if line.startswith(name.encode())]


async def _changes(server: Server) -> None:
    """One label at a time; the clock stops when a watcher sees the cluster in the right decision."""
    writer, watcher = await Connection.open(server), await Connection.open(server)
    page = await _sent(writer, "GET", f"{_APPS}/placementdecisions?limit=1")
    path = f"{_APPS}/placementdecisions?watch=true&resourceVersion={page['metadata']['resourceVersion']}"
    await watcher.send("GET", path)
    reader = await watcher.lines()
    order = random.Random(1)
    names = order.sample(range(CLUSTERS), _CHANGES)
    delays = []
    for number in names:
        name, group = f"c{number:06d}", order.randrange(PLACEMENTS)
        started = time.perf_counter()
        await _sent(writer, "PATCH", f"{_FLEET}/{name}", {"metadata": {"labels": {_LABEL: f"g{group}"}}}, _MERGE)
        async with asyncio.timeout(30):
            while f'"clusterName":"{name}"'.encode() not in await reader.readline():
                pass
        delays.append((time.perf_counter() - started) * 1000)
    delays.sort()
    p99 = delays[int(len(delays) * 0.99)]
    print(
        f"label to decision, {CLUSTERS} clusters x {PLACEMENTS} placements, {len(delays)} changes: "
        f"p50 {statistics.median(delays):.1f} ms, p99 {p99:.1f} ms, most {delays[-1]:.1f} ms",
        flush=True,
    )
    writer.close()
    watcher.close()


def _beats(server: Server, first: int) -> Iterator[bytes]:
    """What the agents of every sixteenth cluster send, one after the other, for ever."""
    for count in itertools.count():
        number = (first + count * _STORM_CONNECTIONS) % CLUSTERS
        body = msgspec.json.encode({"status": {"conditions": [_condition(f"beat {count}")]}})
        yield prepared(server, "PATCH", f"{_FLEET}/c{number:06d}/status", body, _MERGE)


async def _storm(server: Server) -> None:
    """Heartbeats at a fixed rate; the controllers must keep up and schedule nothing."""
    asking = await Connection.open(server)
    before = sum(await _metric(asking, "scheduling_scheduling_duration_seconds_count"))
    deepest = 0.0
    start = time.perf_counter()

    async def look() -> None:
        nonlocal deepest
        while time.perf_counter() - start < _STORM_SECONDS:
            deepest = max(deepest, sum(await _metric(asking, "workqueue_depth")))
            await asyncio.sleep(0.5)

    beats = [_beats(server, first) for first in range(_STORM_CONNECTIONS)]
    pumps, _ = await asyncio.gather(pumped(server, beats, _STORM_RATE, _STORM_SECONDS), look())
    elapsed = time.perf_counter() - start
    await asyncio.sleep(0.5)
    depth = sum(await _metric(asking, "workqueue_depth"))
    after = sum(await _metric(asking, "scheduling_scheduling_duration_seconds_count"))
    sent, failed = sum(pump.answered for pump in pumps), sum(pump.failed for pump in pumps)
    print(
        f"heartbeats: {sent / elapsed:.0f}/s of {_STORM_RATE} for {elapsed:.0f} s, {failed} refused; "
        f"deepest queue {deepest:.0f}, at the end {depth:.0f}; {after - before:.0f} schedules",
        flush=True,
    )


async def _all_decided(server: Server) -> float:
    """Waits until every placement has been decided; the bytes that the controllers' process then holds."""
    connection = await Connection.open(server)
    async with asyncio.timeout(_COLD_SECONDS):
        while True:
            page = await _sent(connection, "GET", f"{_APPS}/placements")
            told = [
                {each["type"] for each in placement.get("status", {}).get("conditions", ())}
                for placement in page["items"]
            ]
            if len(told) == COLD_PLACEMENTS and all("PlacementSatisfied" in kinds for kinds in told):
                break
            await asyncio.sleep(0.25)
    memory: list[float] = []
    while not memory:
        memory = await _metric(connection, "muster_controllers_process_resident_memory_bytes")
    connection.close()
    return memory[0]


def _cold_start() -> None:
    clock, memory = [], []
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder, "stored")
        stored.mkdir()
        uvloop.run(_prefill(stored, COLD_CLUSTERS, COLD_PLACEMENTS))
        for run in range(RUNS):
            directory = shutil.copytree(stored, Path(folder, f"run{run}"))
            started = time.perf_counter()
            with hub_of(directory) as (server, _):
                used = uvloop.run(_all_decided(server))
                clock.append(time.perf_counter() - started)
            memory.append(used / 1e9)
            shutil.rmtree(directory)
    about = f"{COLD_CLUSTERS:,} clusters x {COLD_PLACEMENTS:,} placements in the store, no decisions; `muster hub run`."
    heading("make bench AREA=controllers", about)
    header("median of three runs (spread)", "measured", "goal")
    row("from the start of the hub to all decisions, s", judged(clock, most=20), "20")
    row("memory of the controllers' process, GB", judged(memory, most=1.5), "1.5")


def main() -> None:
    if CLUSTERS:
        _latency_and_storm()
    if COLD_CLUSTERS:
        _cold_start()


def _latency_and_storm() -> None:
    with tempfile.TemporaryDirectory() as directory, hub_of(Path(directory)) as (server, _):
        uvloop.run(_fill(server, CLUSTERS))
        uvloop.run(_place(server))
        uvloop.run(idle(server))
        uvloop.run(_changes(server))
        uvloop.run(_storm(server))
