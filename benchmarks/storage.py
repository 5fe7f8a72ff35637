"""How fast the store is: durable commits, scans, delivery to watchers, start-up, pauses by compaction.

Run with `python -m benchmarks.storage [--objects N] [--directory DIR]`. Everything goes through `Store` on one
event loop, as in the hub, and is timed by the clock, for somebody waits for it; each run has new databases. SQLite
alone, as durable as ours, is the peer for one committer. The directory decides which disk is measured; the default is
the current one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import shutil
import sqlite3
import tempfile
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks._processes import afresh, resident
from benchmarks._report import RUNS, figures, heading, matrix, percentile
from muster.hub.storage import Delete, Key, Put, Store, StoreSettings
from muster.supervision.cycles import freeze_loaded_objects

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLUSTERS = "managedclusters.cluster.open-cluster-management.io"
COMMITTERS = (1, 16, 64)
SECONDS = 2.0
SCANNED = 10_000
RATE, WRITES = 100, 500
LONGEST = "the longest of them, ms"
GOALS = {
    LONGEST: 50,
    "events that 100 watchers did not get in time": 0,
    "events that 1,000 watchers did not get in time": 0,
}
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


async def with_store(path: Path, work: Callable[[Store], Awaitable[_Result]]) -> _Result:
    """Open a store, work with it, close it."""
    async with Store.open(path) as store:
        return await work(store)


def shares(latencies: list[float]) -> dict[str, float]:
    return {"p50 ms": percentile(latencies, 0.5), "p99 ms": percentile(latencies, 0.99)}


async def commits(store: Store, committers: int) -> dict[str, float]:
    """Durable creates by so many at once."""
    latencies: list[float] = []
    end = time.perf_counter() + SECONDS

    async def committer(number: int) -> None:
        index = 0
        while time.perf_counter() < end:
            change = create(f"c{committers}-{number}-{index}")
            started = time.perf_counter()
            await store.commit([change])
            latencies.append((time.perf_counter() - started) * 1e3)
            index += 1

    await asyncio.gather(*(committer(number) for number in range(committers)))
    return {"creates/s": len(latencies) / SECONDS} | shares(latencies)


def sqlite_alone(path: Path) -> dict[str, float]:
    """The same objects in a table of SQLite, each in a transaction of its own."""
    latencies: list[float] = []
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE objects (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID")
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        name = f"c-{len(latencies)}"
        value = b"".join(cluster_value(name))
        started = time.perf_counter()
        database.execute("INSERT INTO objects VALUES (?, ?)", (name, value))
        latencies.append((time.perf_counter() - started) * 1e3)
    database.close()
    return {"creates/s": len(latencies) / SECONDS} | shares(latencies)


def creates(directory: Path) -> dict[str, dict[str, float]]:
    found = {"SQLite alone, 1 committer": sqlite_alone(directory / "sqlite.db")}
    for count in COMMITTERS:
        store = directory / f"commits-{count}.db"
        found[f"{count} committers" if count > 1 else "1 committer"] = asyncio.run(
            with_store(store, partial(commits, committers=count))
        )
    return found


async def scans(store: Store) -> dict[str, float]:
    """Reading 10,000 objects now and at an earlier revision."""
    await fill(store, SCANNED)
    then = store.revision
    await update(store, 2_000)
    started = time.perf_counter()
    size = sum(len(record.value) for record in store.scan(CLUSTERS))
    now = (time.perf_counter() - started) * 1e3
    assert size > 0
    return {f"scan of {SCANNED:,}, ms": now, "2,000 changes ago, from memory, ms": await _scan_at(store, then)}


async def scans_from_log(store: Store) -> dict[str, float]:
    """The same, when the history is only on disk."""
    return {"2,000 changes ago, from the log, ms": await _scan_at(store, store.revision - 2_000)}


async def _scan_at(store: Store, revision: int) -> float:
    started = time.perf_counter()
    past = await store.scan_at(CLUSTERS, None, revision)
    assert len(past) == SCANNED
    return (time.perf_counter() - started) * 1e3


async def delivery(store: Store, watchers: int) -> dict[str, float]:
    """From the call of commit until each watcher has its event."""
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
    for number in range(WRITES):
        await asyncio.sleep(max(0.0, begin + number / RATE - time.perf_counter()))
        change = create(f"w{watchers}-{number}")
        started[change.key.name] = time.perf_counter()
        writes.append(asyncio.create_task(store.commit([change])))
    await asyncio.gather(*writes)
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    told = f"commit at {RATE} writes/s to {watchers:,} watchers"
    return {f"{told}, {name}": value for name, value in shares(latencies).items()} | {
        f"events that {watchers:,} watchers did not get in time": watchers * WRITES - len(latencies)
    }


async def fill(store: Store, objects: int) -> None:
    """Create many objects."""
    for start in range(0, objects, 500):
        await store.commit([create(f"cluster-{number:06d}") for number in range(start, min(start + 500, objects))])


async def update(store: Store, objects: int) -> None:
    for start in range(0, objects, 500):
        puts = [create(f"cluster-{number:06d}") for number in range(start, start + 500)]
        await store.commit([Put(put.key, put.head, put.tail, None) for put in puts])


def opened(path: Path) -> tuple[float, float]:
    """In a process of its own: seconds to open the database, and the megabytes that the process then holds more."""
    before = resident()
    started = time.perf_counter()
    store = Store.open(path)
    gc.freeze()
    seconds = time.perf_counter() - started
    grown = resident() - before
    asyncio.run(store.close())
    return seconds, grown / 1e6


async def compaction(store: Store) -> dict[str, float]:
    """Write without pause while the history of updates of every object is compacted."""
    objects = 5_000
    await fill(store, objects)
    for _ in range(5):
        await update(store, objects)
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
    await asyncio.sleep(SECONDS)
    quiet_end.set()
    without = await quiet
    busy = asyncio.create_task(write(busy_end, "busy"))
    started = time.perf_counter()
    await store.compact(store.revision)
    seconds = time.perf_counter() - started
    busy_end.set()
    during = await busy
    return {
        "longest commit of one writer, ms": max(without),
        "a compaction that drops more than 30,000 revisions, s": seconds,
        "p99 of commits meanwhile, ms": percentile(during, 0.99),
        LONGEST: max(during),
    }


async def compacted(path: Path) -> dict[str, float]:
    async with Store.open(path, StoreSettings(compaction_interval=timedelta(0))) as store:
        return await compaction(store)


def others(directory: Path, stored: Path, objects: int) -> dict[str, float]:
    """All but creates, over databases in a directory and one that has been filled."""
    found = asyncio.run(with_store(directory / "scans.db", scans))
    found |= asyncio.run(with_store(directory / "scans.db", scans_from_log))
    for watchers in (100, 1000):
        path = directory / f"delivery-{watchers}.db"
        found |= asyncio.run(with_store(path, partial(delivery, watchers=watchers)))
    found |= asyncio.run(compacted(directory / "compaction.db"))
    seconds, grown = afresh(opened, stored)
    told = f"opening {objects:,} objects of 3 KB"
    return found | {f"{told}, s": seconds, f"{told}: memory, MB": grown}


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000, help="objects in the database that is opened")
    parser.add_argument("--directory", type=Path, default=Path(), help="where to put the databases")
    arguments = parser.parse_args()
    heading("make bench AREA=storage", "By the clock, with new databases in each run; durable creates of 3 KB objects:")
    with tempfile.TemporaryDirectory(dir=arguments.directory, prefix=".bench-storage-") as name:
        directory = Path(name)
        stored = directory / "stored.db"
        asyncio.run(with_store(stored, partial(fill, objects=arguments.objects)))
        freeze_loaded_objects()  # as a hub does, which then seldom looks for garbage
        written, found = [], []
        for run in range(RUNS):
            fresh = directory / f"run-{run}"
            fresh.mkdir()
            written.append(creates(fresh))
            found.append(others(fresh, stored, arguments.objects))
            shutil.rmtree(fresh)
    matrix(written, {})
    print()
    figures(found, GOALS)


if __name__ == "__main__":
    main()
