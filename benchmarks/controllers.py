"""The controllers beside a hub: from a changed label to the decision, a storm of heartbeats, memory.

`MUSTER_CLUSTERS` and `MUSTER_PLACEMENTS` set the size (10,000 and 100); `MUSTER_MEMORY_CLUSTERS` that of the second
hub, which is only filled and measured (100,000; 0 leaves it out).
"""

from __future__ import annotations

import asyncio
import os
import random
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

from benchmarks._load import Connection, Server
from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTERS = int(os.environ.get("MUSTER_CLUSTERS", "10000"))
PLACEMENTS = int(os.environ.get("MUSTER_PLACEMENTS", "100"))
MEMORY_CLUSTERS = int(os.environ.get("MUSTER_MEMORY_CLUSTERS", "100000"))
_GROUP = "/apis/cluster.open-cluster-management.io"
_FLEET = f"{_GROUP}/v1/managedclusters"
_APPS = f"{_GROUP}/v1beta1/namespaces/apps"
_MERGE = "application/merge-patch+json"
_CHANGES = 200
_STORM_SECONDS = 10.0
_STORM_RATE = 1000
_LABEL = "bench"


@contextmanager
def _hub(directory: Path) -> Iterator[tuple[Server, subprocess.Popen[str]]]:
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
            obj = a_cluster(1, number).object
            name = obj["metadata"]["name"] = f"c{number:06d}"
            obj["spec"].pop("taints", None)
            obj["status"] |= {
                "version": {"kubernetes": f"v1.{30 + number % 5}.{number % 7}"},
                "conditions": [_condition()],
            }
            await _sent(connection, "POST", _FLEET, obj)
            await _sent(connection, "PATCH", f"{_FLEET}/{name}/status", {"status": obj["status"]}, _MERGE)

    started = time.perf_counter()
    await asyncio.gather(*(fill(connection) for connection in connections))
    print(f"{count} clusters written in {time.perf_counter() - started:.0f} s", flush=True)
    for connection in connections:
        connection.close()


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
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await _sent(connection, "POST", "/api/v1/namespaces", namespace)
    binding: dict[str, Any] = {
        "kind": "ManagedClusterSetBinding",
        "apiVersion": "cluster.open-cluster-management.io/v1beta2",
    }
    binding |= {"metadata": {"name": "global", "namespace": "apps"}, "spec": {"clusterSet": "global"}}
    await _sent(connection, "POST", f"{_GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", binding)
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


async def _idle(server: Server) -> None:
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


async def _storm(server: Server) -> None:
    """Heartbeats at a fixed rate; the controllers must keep up and schedule nothing."""
    connections = [await Connection.open(server) for _ in range(16)]
    asking = await Connection.open(server)
    before = sum(await _metric(asking, "scheduling_scheduling_duration_seconds_count"))
    start = time.perf_counter()
    sent = 0
    deepest = 0.0

    async def beat(first: int) -> None:
        nonlocal sent
        count = 0
        while (now := time.perf_counter() - start) < _STORM_SECONDS:
            due = count * len(connections) / _STORM_RATE
            if due > now:
                await asyncio.sleep(due - now)
            number = (first + count * len(connections)) % CLUSTERS
            body = {"status": {"conditions": [_condition(f"beat {count}")]}}
            await _sent(connections[first], "PATCH", f"{_FLEET}/c{number:06d}/status", body, _MERGE)
            count += 1
            sent += 1

    async def look() -> None:
        nonlocal deepest
        while time.perf_counter() - start < _STORM_SECONDS:
            deepest = max(deepest, sum(await _metric(asking, "workqueue_depth")))
            await asyncio.sleep(0.25)

    await asyncio.gather(*(beat(number) for number in range(len(connections))), look())
    elapsed = time.perf_counter() - start
    await asyncio.sleep(0.5)
    depth = sum(await _metric(asking, "workqueue_depth"))
    after = sum(await _metric(asking, "scheduling_scheduling_duration_seconds_count"))
    print(
        f"heartbeats: {sent / elapsed:.0f}/s for {elapsed:.0f} s; deepest queue {deepest:.0f}, at the end {depth:.0f}; "
        f"{after - before:.0f} schedules",
        flush=True,
    )


async def _memory(server: Server) -> None:
    connection = await Connection.open(server)
    while (await _metric(connection, "muster_fleet_clusters ")) != [float(MEMORY_CLUSTERS)]:  # noqa: ASYNC110 - asked
        await asyncio.sleep(0.5)
    await asyncio.sleep(2)
    (used,) = await _metric(connection, "muster_controllers_process_resident_memory_bytes")
    print(f"controllers' memory with {MEMORY_CLUSTERS} clusters: {used / 1e6:.0f} MB", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory, _hub(Path(directory)) as (server, _):
        uvloop.run(_fill(server, CLUSTERS))
        uvloop.run(_place(server))
        uvloop.run(_idle(server))
        uvloop.run(_changes(server))
        uvloop.run(_storm(server))
    if MEMORY_CLUSTERS:
        with tempfile.TemporaryDirectory() as directory:
            with _hub(Path(directory)) as (server, _):
                uvloop.run(_fill(server, MEMORY_CLUSTERS))
            # As after a restart: what a long list leaves behind counts too.
            with _hub(Path(directory)) as (server, _):
                uvloop.run(_memory(server))
