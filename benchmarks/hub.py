"""The API server over HTTPS: durable writes, reads, lists, watchers, start-up. The client is a process of its own.

For comparison, kube-apiserver 1.36 with etcd 3.6 on 2 cores and a Python client: 247, 512 and 608 creates/s with 1, 16
and 64 clients, 1,250 gets/s, a list of 9,000 objects in 454 ms, 583 MB of memory. Those figures were measured elsewhere
on such a machine, not in this run.
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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import uvloop

from benchmarks._load import Connection, Server, rate
from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
_SECONDS = 4.0
_LISTED = 10_000
_STORED = 100_000


@contextmanager
def _hub(directory: Path) -> Iterator[tuple[Server, subprocess.Popen[str], float]]:
    """A running hub, its process, and the seconds it took to be ready."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "muster", "hub", "serve", "--data", str(directory)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        while "export KUBECONFIG" not in (line := process.stdout.readline()):
            if not line:
                raise RuntimeError("the hub did not start")
        yield Server.from_kubeconfig(directory / "kubeconfig"), process, time.perf_counter() - started
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _body(index: int, name: str) -> bytes:
    obj = a_cluster(1, index).object
    obj["metadata"]["name"] = name
    return msgspec.json.encode(obj)


def _megabytes(process: subprocess.Popen[str]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


async def _writes(server: Server) -> None:
    bodies = [_body(index, f"c{index}").split(f'"name":"c{index}"'.encode(), 1) for index in range(256)]

    async def create(connection: Connection, client: int, count: int) -> None:
        head, tail = bodies[count % len(bodies)]
        code, answer = await connection.request(
            "POST", CLUSTERS, head + f'"name":"w{run}-{client}-{count}"'.encode() + tail
        )
        assert code == 201, answer

    async def update(connection: Connection, client: int, count: int) -> None:
        patch = f'{{"metadata":{{"labels":{{"count":"{count}"}}}}}}'.encode()
        path = f"{CLUSTERS}/w{run}-{client}-0"
        code, answer = await connection.request("PATCH", path, patch, "application/merge-patch+json")
        assert code == 200, answer

    async def get(connection: Connection, client: int, count: int) -> None:  # noqa: ARG001 - the signature of work
        code, _ = await connection.request("GET", f"{CLUSTERS}/w{run}-{client}-0")
        assert code == 200

    print(f"{'clients':>8} {'creates/s':>10} {'updates/s':>10} {'gets/s':>10}")
    for run in (1, 16, 64):
        rates = [await rate(server, run, _SECONDS, work) for work in (create, update, get)]
        print(f"{run:>8} " + " ".join(f"{each:>10.0f}" for each in rates), flush=True)


async def _lists(server: Server) -> None:
    connection = await Connection.open(server)
    _, body = await connection.request("GET", CLUSTERS + "?limit=1")
    page = msgspec.json.decode(body)
    there = 1 + page["metadata"].get("remainingItemCount", 0)
    for index in range(there, _LISTED):
        await connection.request("POST", CLUSTERS, _body(index, f"more-{index}"))
    timings = []
    for _ in range(7):
        started = time.perf_counter()
        _, body = await connection.request("GET", CLUSTERS)
        timings.append(time.perf_counter() - started)
    count = len(msgspec.json.decode(body)["items"])
    print(
        f"list of {count} objects, {len(body) / 1e6:.1f} MB: {min(timings) * 1000:.0f} ms best, "
        f"{statistics.median(timings) * 1000:.0f} ms median"
    )
    started = time.perf_counter()
    token, pages = "", 0
    while True:
        _, body = await connection.request("GET", f"{CLUSTERS}?limit=500" + (f"&continue={token}" if token else ""))
        pages += 1
        token = msgspec.json.decode(body)["metadata"].get("continue", "")
        if not token:
            break
    print(f"the same in {pages} pages of 500: {(time.perf_counter() - started) * 1000:.0f} ms")
    connection.close()


async def _watchers(server: Server, watchers: int, writes: int = 300, per_second: int = 100) -> None:
    """Writes at a steady pace; every watcher notes when it sees each of them."""
    delays: list[float] = []
    sent: dict[bytes, float] = {}

    async def watch(connection: Connection) -> None:
        await connection.send("GET", f"{CLUSTERS}?watch=true&resourceVersion={revision}")
        reader = await connection.lines()
        seen = 0
        while seen < writes:
            chunk = await reader.readline()
            at = chunk.find(b'"tick":"')
            if at >= 0:
                number = chunk[at + 8 : chunk.index(b'"', at + 8)]
                delays.append(time.perf_counter() - sent[number])
                seen += 1

    writer = await Connection.open(server)
    _, body = await writer.request("GET", CLUSTERS + "?limit=1")
    page = msgspec.json.decode(body)
    revision, name = page["metadata"]["resourceVersion"], page["items"][0]["metadata"]["name"]
    connections = [await Connection.open(server) for _ in range(watchers)]
    tasks = [asyncio.create_task(watch(connection)) for connection in connections]
    await asyncio.sleep(2)
    for number in range(writes):
        tick = f"t{number}"
        due = time.perf_counter() + 1 / per_second
        sent[tick.encode()] = time.perf_counter()
        patch = f'{{"metadata":{{"labels":{{"tick":"{tick}"}}}}}}'.encode()
        await writer.request("PATCH", f"{CLUSTERS}/{name}", patch, "application/merge-patch+json")
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
    await asyncio.wait_for(asyncio.gather(*tasks), 60)
    for connection in [*connections, writer]:
        connection.close()
    delays.sort()
    p50, p99 = (delays[int(len(delays) * share)] * 1000 for share in (0.50, 0.99))
    print(
        f"{watchers:>6} watchers, {per_second} writes/s: {len(delays)} deliveries, p50 {p50:.1f} ms, p99 {p99:.1f} ms",
        flush=True,
    )


async def _fill(server: Server, count: int) -> None:
    async def create(connection: Connection, numbers: range) -> None:
        for number in numbers:
            await connection.request("POST", CLUSTERS, _body(number, f"f{number}"))

    connections = [await Connection.open(server) for _ in range(16)]
    await asyncio.gather(*(create(connection, range(at, count, 16)) for at, connection in enumerate(connections)))
    for connection in connections:
        connection.close()


def main() -> None:
    print(__doc__)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="muster-bench-") as folder:
        small = Path(folder) / "small"
        with _hub(small) as (server, process, seconds):
            print(f"an empty hub is ready after {seconds:.2f} s with {_megabytes(process):.0f} MB")
            uvloop.run(_writes(server))
            uvloop.run(_lists(server))
            for watchers in (100, 1000):
                uvloop.run(_watchers(server, watchers))
            print(f"memory afterwards: {_megabytes(process):.0f} MB")
        large = Path(folder) / "large"
        with _hub(large) as (server, process, _):
            uvloop.run(_fill(server, _STORED))
        with _hub(large) as (server, process, seconds):
            print(f"{_STORED} clusters: ready after {seconds:.2f} s with {_megabytes(process):.0f} MB", flush=True)


if __name__ == "__main__":
    main()
