"""How fast the store is: durable commits, scans, delivery to watchers, start-up, pauses by compaction.

Run with `python -m benchmarks.storage [--objects N] [--directory DIR]`. Everything goes through `Store` on one
event loop, as in the hub. The directory decides which disk is measured; the default is the current one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from muster.hub.storage import Delete, Key, Put, Store, StoreSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

CLUSTERS = "managedclusters.cluster.open-cluster-management.io"
_Result = TypeVar("_Result")


def cluster_value(name: str, size: int = 3072) -> tuple[bytes, bytes]:
    """The JSON of an object of about `size` bytes, split where the revision goes."""
    claims = [{"name": f"claim-{number}.example.com", "value": f"{name}-{number:08d}"} for number in range(size // 66)]
    cluster = {"metadata": {"name": name, "resourceVersion": "@"}, "status": {"clusterClaims": claims}}
    head, tail = json.dumps(cluster, separators=(",", ":")).encode().split(b"@", 1)
    return head, tail


def create(name: str, namespace: str = "", resource: str = CLUSTERS) -> Put:
    """The creation of an object."""
    return Put(Key(resource, namespace, name), *cluster_value(name), expected=0)


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print(f"\n### {title}\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in row) + " |")


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def memory_mb() -> float:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def with_store(path: Path, work: Callable[[Store], Awaitable[_Result]]) -> _Result:
    """Open a store, work with it, close it."""
    async with Store.open(path) as store:
        return await work(store)


async def commits(store: Store, committers: int, seconds: float) -> tuple[float, float, float]:
    """Creates per second, and the median and 99th percentile of a create in milliseconds."""
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def committer(number: int) -> None:
        index = 0
        while time.perf_counter() < end:
            change = create(f"c{committers}-{number}-{index}")
            started = time.perf_counter()
            await store.commit([change])
            latencies.append((time.perf_counter() - started) * 1e3)
            index += 1

    await asyncio.gather(*(committer(number) for number in range(committers)))
    return len(latencies) / seconds, percentile(latencies, 0.5), percentile(latencies, 0.99)


def measure_commits(directory: Path) -> None:
    """Durable creates with 1, 16 and 64 committers."""
    rows: list[Sequence[object]] = []
    for committers in (1, 16, 64):
        work = lambda store, count=committers: commits(store, count, 3.0)  # noqa: E731 - binds the number
        rows.append((committers, *asyncio.run(with_store(directory / f"commits-{committers}.db", work))))
    table("Durable creates of 3 KB objects", ("committers", "creates/s", "p50 ms", "p99 ms"), rows)


async def scans(store: Store) -> Sequence[Sequence[object]]:
    """Reading 10,000 objects now and at an earlier revision."""
    for start in range(0, 10_000, 500):
        await store.commit([create(f"c{number:05d}") for number in range(start, start + 500)])
    then = store.revision
    for start in range(0, 2_000, 500):
        puts = [create(f"c{number:05d}") for number in range(start, start + 500)]
        await store.commit([Put(put.key, put.head, put.tail, None) for put in puts])

    started = time.perf_counter()
    size = sum(len(record.value) for record in store.scan(CLUSTERS))
    now = (time.perf_counter() - started) * 1e3
    started = time.perf_counter()
    past = await store.scan_at(CLUSTERS, None, then)
    in_memory = (time.perf_counter() - started) * 1e3
    assert (len(past), size > 0) == (10_000, True)
    return (("now", now), ("2,000 changes ago, from memory", in_memory))


async def scans_from_log(store: Store) -> Sequence[Sequence[object]]:
    """The same, when the history is only on disk."""
    started = time.perf_counter()
    past = await store.scan_at(CLUSTERS, None, store.revision - 2_000)
    assert len(past) == 10_000
    return (("2,000 changes ago, from the log", (time.perf_counter() - started) * 1e3),)


def measure_scans(directory: Path) -> None:
    """Scan of 10,000 objects of 3 KB."""
    path = directory / "scans.db"
    rows = [*asyncio.run(with_store(path, scans)), *asyncio.run(with_store(path, scans_from_log))]
    table("Scan of 10,000 objects", ("state", "ms"), rows)


async def delivery(store: Store, watchers: int, rate: int, seconds: float) -> tuple[int, float, float]:
    """Events delivered, and the time from the call of commit until each watcher has its event."""
    started: dict[str, float] = {}
    latencies: list[float] = []

    async def watcher() -> None:
        async for event in store.watch(CLUSTERS, None, store.revision):
            latency = time.perf_counter() - started[event.record.key.name]
            latencies.append(latency * 1e3)

    tasks = [asyncio.create_task(watcher()) for _ in range(watchers)]
    await asyncio.sleep(0.1)
    begin = time.perf_counter()
    writes = []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begin + number / rate - time.perf_counter()))
        change = create(f"w{watchers}-{number}")
        started[change.key.name] = time.perf_counter()
        writes.append(asyncio.create_task(store.commit([change])))
    await asyncio.gather(*writes)
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return len(latencies), percentile(latencies, 0.5), percentile(latencies, 0.99)


def measure_delivery(directory: Path) -> None:
    """From commit to 100 and 1,000 watchers at 100 writes a second."""
    rows: list[Sequence[object]] = []
    for watchers in (100, 1000):
        work = lambda store, count=watchers: delivery(store, count, 100, 5.0)  # noqa: E731 - binds the number
        rows.append((watchers, *asyncio.run(with_store(directory / f"delivery-{watchers}.db", work))))
    table("Delivery at 100 writes/s, commit included", ("watchers", "events", "p50 ms", "p99 ms"), rows)


async def fill(store: Store, objects: int) -> None:
    """Create many objects."""
    for start in range(0, objects, 500):
        await store.commit([create(f"cluster-{number:06d}") for number in range(start, min(start + 500, objects))])


def load(path: Path, queue: multiprocessing.SimpleQueue[tuple[float, float, float]]) -> None:
    """In a process of its own: open the database and tell seconds, memory before and memory after."""
    before = memory_mb()
    started = time.perf_counter()
    store = Store.open(path)
    gc.freeze()
    seconds = time.perf_counter() - started
    queue.put((seconds, before, memory_mb()))
    asyncio.run(store.close())


def measure_load(directory: Path, objects: int) -> None:
    """Start-up with many objects."""
    path = directory / "load.db"
    asyncio.run(with_store(path, lambda store: fill(store, objects)))
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.SimpleQueue[tuple[float, float, float]] = context.SimpleQueue()
    process = context.Process(target=load, args=(path, queue))
    process.start()
    seconds, before, after = queue.get()
    process.join()
    size = path.stat().st_size / 1e6
    table(
        "Opening a database",
        ("objects", "file MB", "seconds", "RSS before MB", "RSS after MB"),
        [(f"{objects:,}", size, f"{seconds:.2f}", before, after)],
    )


async def compaction(store: Store, objects: int, rounds: int) -> Sequence[Sequence[object]]:
    """Write without pause while the history of `rounds` updates of every object is compacted."""
    await fill(store, objects)
    for _ in range(rounds):
        for start in range(0, objects, 500):
            puts = [create(f"cluster-{number:06d}") for number in range(start, start + 500)]
            await store.commit([Put(put.key, put.head, put.tail, None) for put in puts])
    for start in range(0, objects // 2, 500):
        names = [f"cluster-{number:06d}" for number in range(start, start + 500)]
        await store.commit([Delete(Key(CLUSTERS, "", name), *cluster_value(name), None) for name in names])

    async def write(stop: asyncio.Event, prefix: str) -> list[float]:
        latencies: list[float] = []
        while not stop.is_set():
            started = time.perf_counter()
            await store.commit([create(f"{prefix}-{len(latencies)}")])
            latencies.append((time.perf_counter() - started) * 1e3)
        return latencies

    quiet_end, busy_end = asyncio.Event(), asyncio.Event()
    quiet = asyncio.create_task(write(quiet_end, "quiet"))
    await asyncio.sleep(2)
    quiet_end.set()
    without = await quiet
    busy = asyncio.create_task(write(busy_end, "busy"))
    history = store.revision - store.compacted
    started = time.perf_counter()
    await store.compact(store.revision)
    seconds = time.perf_counter() - started
    busy_end.set()
    during = await busy
    return (
        ("without compaction", "", "", percentile(without, 0.5), percentile(without, 0.99), max(without)),
        (
            "during compaction",
            f"{history:,}",
            f"{seconds:.1f}",
            percentile(during, 0.5),
            percentile(during, 0.99),
            max(during),
        ),
    )


def measure_compaction(directory: Path) -> None:
    """The longest that a writer waits while history is dropped."""

    async def run() -> Sequence[Sequence[object]]:
        settings = StoreSettings(compaction_interval=timedelta(0))
        async with Store.open(directory / "compaction.db", settings) as store:
            return await compaction(store, 5_000, 5)

    header = ("one writer", "revisions dropped", "seconds", "p50 ms", "p99 ms", "longest ms")
    table("Writer latency and compaction", header, asyncio.run(run()))


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000, help="objects in the database that is opened")
    parser.add_argument("--directory", type=Path, default=Path(), help="where to put the databases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory, prefix=".bench-storage-") as name:
        directory = Path(name)
        measure_commits(directory)
        measure_scans(directory)
        measure_delivery(directory)
        measure_compaction(directory)
        measure_load(directory, arguments.objects)


if __name__ == "__main__":
    main()
