"""A yardstick of the field: 1,000 clusters x 1,000 placements, each of which takes 100 clusters by a label.

KubeFleet publishes such figures (spring of 2026, on AKS): p50 17 to 18 s and p90 20 to 21 s for a new placement, 10 to
14 minutes to be steady after a restart, 3.5 to 5 cores and 8 to 11 GB for its agent, 13 cores and 47 GB for the API
server.
Its placements also make Binding and Work objects and roll out; ours are decisions and their reasons. So size and
questions are the same, what is done is not: the figures say what deciding costs, not that one replaces the other.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import uvloop

from benchmarks._load import Connection, Server
from benchmarks.serving import peers
from benchmarks.serving.tables import header, load, row
from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUP: Final = "/apis/cluster.open-cluster-management.io"
_APPS: Final = f"{_GROUP}/v1beta1/namespaces/apps"
_CLUSTERS, _PLACEMENTS, _GROUPS, _NEW = 1000, 1000, 10, 20
_PATIENCE: Final = 120.0
_MERGE: Final = "application/merge-patch+json"
_CONDITION: Final = {
    "type": "ManagedClusterConditionAvailable",
    "status": "True",
    "reason": "ManagedClusterAvailable",
    "message": "",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
_AVAILABLE: Final = msgspec.json.encode({"status": {"conditions": [_CONDITION]}})


def _cluster(number: int) -> dict[str, Any]:
    obj = a_cluster(1, number).object
    obj["metadata"] = {"name": f"c{number:04d}", "labels": {"group": f"g{number % _GROUPS}"}}
    obj["spec"].pop("taints", None)
    return obj


def _placement(name: str, number: int) -> dict[str, Any]:
    chosen = {"labelSelector": {"matchLabels": {"group": f"g{number % _GROUPS}"}}}
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": name, "namespace": "apps"},
        "spec": {"predicates": [{"requiredClusterSelector": chosen}]},
    }


async def _made(connection: Connection, path: str, obj: object) -> None:
    code, answer = await connection.request("POST", path, msgspec.json.encode(obj))
    if code != 201:
        raise RuntimeError(f"POST {path}: {code} {answer[:300]!r}")


async def _filled(server: Server) -> None:
    connections = [await Connection.open(server) for _ in range(16)]
    first = connections[0]
    await _made(first, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}})
    binding = {
        "kind": "ManagedClusterSetBinding",
        "apiVersion": "cluster.open-cluster-management.io/v1beta2",
        "metadata": {"name": "global", "namespace": "apps"},
        "spec": {"clusterSet": "global"},
    }
    await _made(first, f"{_GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", binding)
    work: Iterator[tuple[str, dict[str, Any]]] = iter(
        [
            *((peers.CLUSTERS, _cluster(number)) for number in range(_CLUSTERS)),
            *((f"{_APPS}/placements", _placement(f"p{number}", number)) for number in range(_PLACEMENTS)),
        ]
    )

    async def fill(connection: Connection) -> None:
        for path, obj in work:
            await _made(connection, path, obj)
            if path == peers.CLUSTERS:  # it is there; else it would get a taint
                await connection.request("PATCH", f"{path}/{obj['metadata']['name']}/status", _AVAILABLE, _MERGE)

    await asyncio.gather(*map(fill, connections))
    for connection in connections:
        connection.close()


async def _decided(server: Server, count: int) -> None:
    """Wait until so many placements have their decisions."""
    connection = await Connection.open(server)
    async with asyncio.timeout(_PATIENCE):
        while True:
            _, answer = await connection.request("GET", f"{_APPS}/placementdecisions")
            pages = msgspec.json.decode(answer)["items"]
            if sum(len(page.get("status", {}).get("decisions", ())) == _CLUSTERS // _GROUPS for page in pages) >= count:
                break
            await asyncio.sleep(0.25)
    connection.close()


async def _new(server: Server, prefix: str, count: int) -> list[float]:
    """Seconds from a new placement to the event of its decision, one after the other."""
    writer, watcher = await Connection.open(server), await Connection.open(server)
    await watcher.send("GET", f"{_APPS}/placementdecisions?watch=true")
    reader = await watcher.lines()
    took = []
    for number in range(count):
        name = f"{prefix}{number}"
        started = time.perf_counter()
        await _made(writer, f"{_APPS}/placements", _placement(name, number))
        async with asyncio.timeout(_PATIENCE):
            while True:
                line = await reader.readline()
                if f'/placement":"{name}"'.encode() in line and b'"clusterName"' in line:
                    break
        took.append(time.perf_counter() - started)
    writer.close()
    watcher.close()
    return sorted(took)


def _server(directory: Path) -> Server:
    return Server.from_kubeconfig(directory / "kubeconfig")


def main() -> None:
    print(f"\n{__doc__}")
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        directory = Path(folder)
        with peers.hub(directory, controllers=True) as hub:
            started, before = time.perf_counter(), hub.cpu()
            uvloop.run(_filled(_server(directory)))
            uvloop.run(_decided(_server(directory), _PLACEMENTS))
            seconds, cpu = time.perf_counter() - started, hub.cpu()
            took = uvloop.run(_new(_server(directory), "new", _NEW))
            each, memory = (hub.cpu() - cpu) / _NEW, hub.megabytes()
        started = time.perf_counter()
        with peers.hub(directory, controllers=True) as hub:
            ready = time.perf_counter() - started
            # The first decision after a restart comes when everything has been listed and nothing else waits.
            uvloop.run(_new(_server(directory), "again", 1))
            steady, again = time.perf_counter() - started, hub.cpu()
    print(f"{_CLUSTERS} clusters x {_PLACEMENTS} placements of {_CLUSTERS // _GROUPS}; one run, load {load()}\n")
    print(header("", "measured"))
    print(row("all objects written over HTTPS, and decided", f"{seconds:.1f} s, {(cpu - before) / seconds:.2f} cores"))
    p90 = took[int(len(took) * 0.9)]
    print(row("a new placement to its decision", f"p50 {statistics.median(took) * 1e3:.0f} ms, p90 {p90 * 1e3:.0f} ms"))
    print(row("CPU of all processes for each of them", f"{each * 1e3:.0f} ms"))
    print(row("restart: the API answers", f"{ready:.1f} s"))
    print(row("restart to steady: a new placement is decided", f"{steady:.1f} s, {again:.1f} s of CPU"))
    print(row("memory of all processes", f"{memory:.0f} MB"), flush=True)


if __name__ == "__main__":
    main()
