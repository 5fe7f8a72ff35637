"""`make soak`: clusters that change, report and come and go while processes are killed and the disk fills up.

    python -m tests.soak [--minutes 20] [--clusters 5000] [--placements 50] [--seed N]

The first quarter warms up. In the second, every process and the supervisor are killed and paused and the disk is full
for a while. The rest is quiet, and judged for growth. It fails when memory or log grow there, an event outlives its
time, an acknowledged write is lost, a watch misses one, or decisions differ from what the pure functions make of the
same objects.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import aiohttp

import muster
from tests.builders import GROUP, a_binding, a_cluster, a_placement
from tests.hostile.stage import JSON, MERGE, Hub, resident
from tests.soak.home import EVENTS_LIVE, TROUBLE, Home, disturb
from tests.soak.ledger import Labels, Ledger
from tests.soak.watcher import CLUSTERS, Watcher

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

COLOURS: Final = ("red", "green", "blue", "grey")
APPS: Final = f"/apis/{GROUP}/v1beta1/namespaces/apps"
HEARTBEAT: Final = 60.0  # seconds between two of one cluster
LOG_LIMIT: Final = 64  # MB of the write-ahead log
EVENTS_LEEWAY: Final = 30  # seconds: the hub looks for old events now and then, and restarts take a while
NOTICE: Final = 120.0  # seconds until everything must have settled


@dataclass
class Sample:
    """How it is at one moment."""

    at: float
    server: int
    controllers: int
    database: float
    log: float
    events: int
    p50: float
    p99: float
    writes: int
    errors: int


@dataclass
class Soak:
    """One run."""

    directory: Path
    minutes: float
    clusters: int
    placements: int
    chance: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    samples: list[Sample] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    home: Home = field(init=False)
    watcher: Watcher = field(init=False)
    started: float = 0.0
    locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home = Home(self.directory)
        self.watcher = Watcher(self.home, self.ledger)

    async def write(self, hub: Hub, name: str, labels: Labels | None) -> None:
        """Give a cluster these labels, or remove it; the ledger knows what was answered."""
        lock = self.locks.setdefault(name, asyncio.Lock())
        async with lock:
            started = time.monotonic()
            try:
                code, answer = await self._sent(hub, name, labels)
            except TROUBLE as error:
                self.errors[type(error).__name__] += 1
                self.ledger.cut_off(name, labels)
                await asyncio.sleep(0.2)
                return
            except asyncio.CancelledError:  # the run is over: the server may have it, and nobody heard the answer
                self.ledger.cut_off(name, labels)
                raise
            self.waits.append(time.monotonic() - started)
            if code >= 500 or code == 429:
                self.errors[str(code)] += 1
                self.ledger.cut_off(name, labels)
                await asyncio.sleep(0.2)
            elif code < 300:
                revision = int((answer.get("metadata") or {}).get("resourceVersion") or 0)
                self.ledger.answered(name, labels, revision)
            elif code == 404 and labels is None:
                self.ledger.answered(name, None, 0)  # an earlier removal, which was cut off, had happened
            else:
                self.faults.append(f"{name}: {code} {str(answer)[:200]}")

    async def _sent(self, hub: Hub, name: str, labels: Labels | None) -> tuple[int, Any]:
        if labels is None:
            return await hub.send("DELETE", f"{CLUSTERS}/{name}")
        patch = {"metadata": {"labels": labels}}
        code, answer = await hub.send("PATCH", f"{CLUSTERS}/{name}", patch, MERGE)
        if code != 404:
            return code, answer
        return await hub.send("POST", CLUSTERS, a_cluster(name, labels))

    async def build(self, hub: Hub) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
        await hub.send("POST", "/api/v1/namespaces", namespace)
        await hub.send("POST", f"/apis/{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
        for number in range(self.placements):
            colour = COLOURS[number % 3]
            labels = "managedCluster.metadata.labels"
            wanted = [f"{labels}.colour == '{colour}' && {labels}.round != '{number}'"]
            predicates = [{"requiredClusterSelector": {"celSelector": {"celExpressions": wanted}}}]
            await hub.send("POST", f"{APPS}/placements", a_placement(f"p{number}", predicates=predicates))
        names = iter([f"c{number:05d}" for number in range(self.clusters)])
        await asyncio.gather(*(self._fill(hub, names) for _ in range(16)))

    async def _fill(self, hub: Hub, names: Iterator[str]) -> None:
        for name in names:
            await self.write(hub, name, self._labels())

    def _labels(self) -> Labels:
        return {"colour": self.chance.choice(COLOURS), "round": str(self.chance.randrange(100))}

    def _name(self) -> str:
        return f"c{self.chance.randrange(self.clusters):05d}"

    async def edit(self, hub: Hub) -> None:
        await self.write(hub, self._name(), self._labels())
        await asyncio.sleep(0.1)

    async def come_and_go(self, hub: Hub) -> None:
        name = f"guest-{self.chance.randrange(50)}"
        await self.write(hub, name, self._labels() if self.chance.random() < 0.6 else None)
        await asyncio.sleep(1.0)

    async def heartbeat(self, hub: Hub) -> None:
        """One cluster reports: its status and its lease."""
        name = self._name()
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        condition = {"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "Reports", "message": now}
        status = {"status": {"conditions": [condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
        lease = {"metadata": {"name": f"lease-{name}", "namespace": "apps"}, "spec": {"renewTime": now}}
        leases = "/apis/coordination.k8s.io/v1/namespaces/apps/leases"
        try:
            await hub.send("PATCH", f"{CLUSTERS}/{name}/status", status, MERGE)
            code, _ = await hub.send("PATCH", f"{leases}/lease-{name}", lease, MERGE)
            if code == 404:
                await hub.send("POST", leases, lease)
        except TROUBLE as error:
            self.errors[type(error).__name__] += 1
        await asyncio.sleep(HEARTBEAT / self.clusters * 2)

    async def forever(self, deed: Callable[[Hub], Awaitable[None]]) -> None:
        async with await self.home.client() as hub:
            while True:
                await deed(hub)

    async def measure(self) -> None:
        async with await self.home.client() as hub:
            while True:
                await asyncio.sleep(10)
                await self._sample(hub)

    async def watch_slowly(self, _: Hub) -> None:
        """Opens a watch of everything, reads a little and stays away."""
        async with await self.home.client() as hub:
            with contextlib.suppress(*TROUBLE):
                await hub.dawdle(f"{CLUSTERS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", 15)
        await asyncio.sleep(self.chance.uniform(0, 5))

    async def _sample(self, hub: Hub) -> None:
        events = -1
        with contextlib.suppress(*TROUBLE):
            _, answer = await hub.send("GET", "/api/v1/events?limit=1")
            events = len(answer.get("items", ())) + answer.get("metadata", {}).get("remainingItemCount", 0)
        waits = sorted(self.waits) or [0.0]
        self.waits.clear()
        sample = Sample(
            time.monotonic() - self.started,
            resident(self.home.hub.child("serve") or 0),
            resident(self.home.hub.child("controllers") or 0),
            _megabytes(self.directory / "muster.db"),
            _megabytes(self.directory / "muster.db-wal"),
            events,
            waits[len(waits) // 2] * 1000,
            waits[len(waits) * 99 // 100] * 1000,
            self.ledger.writes,
            self.errors.total(),
        )
        self.samples.append(sample)
        if len(self.samples) % 3 == 1:
            print(_row(sample), flush=True)
        if sample.log > LOG_LIMIT:
            self.faults.append(f"the write-ahead log has {sample.log:.0f} MB at {sample.at:.0f} s, {LOG_LIMIT} allowed")

    async def settled(self) -> None:
        """Wait until decisions are what the pure functions make of the objects; a fault if that never happens."""
        deadline = time.monotonic() + NOTICE
        async with await self.home.client() as hub:
            while True:
                try:
                    different = await self._differences(hub)
                except TROUBLE as error:
                    different = [repr(error)]
                if not different:
                    return
                if time.monotonic() > deadline:
                    self.faults += different[:10]
                    return
                await asyncio.sleep(1)

    async def _differences(self, hub: Hub) -> list[str]:
        clusters = await self._all(hub, CLUSTERS)
        known = {each["metadata"]["name"]: each for each in clusters}
        lost = self.ledger.lost(known)
        pages = await self._all(hub, f"{APPS}/placementdecisions")
        decided: dict[str, list[str]] = {}
        for page in pages:
            placement = page["metadata"]["labels"]["cluster.open-cluster-management.io/placement"]
            names = [each["clusterName"] for each in page.get("status", {}).get("decisions", ())]
            decided.setdefault(placement, []).extend(names)
        fleet = [{"kind": "ManagedCluster", **each} for each in clusters]
        different = [f"LOST {each}" for each in lost]
        for placement in await self._all(hub, f"{APPS}/placements"):
            name = placement["metadata"]["name"]
            wanted = await asyncio.to_thread(muster.select, fleet, placement=placement)
            if sorted(wanted.names) != sorted(decided.get(name, ())):
                different.append(f"DIVERGED {name}: {len(decided.get(name, ()))} decided, {len(wanted.names)} fit")
        return different

    async def aged(self) -> None:
        """How many events there are follows what happens; that none outlives its time is what is promised."""
        oldest = (datetime.now(UTC) - timedelta(seconds=EVENTS_LIVE + EVENTS_LEEWAY)).strftime("%Y-%m-%dT%H:%M:%SZ")
        async with await self.home.client() as hub:
            for event in await self._all(hub, "/api/v1/events"):
                metadata = event["metadata"]
                times = [each.get("time", "") for each in metadata.get("managedFields", ())]
                if max((metadata["creationTimestamp"], *times)) < oldest:
                    self.faults.append(f"the event {metadata['name']} is there since {metadata['creationTimestamp']}")
                    return

    async def _all(self, hub: Hub, path: str) -> list[Any]:
        code, answer = await hub.send("GET", path)
        if code != 200:
            raise aiohttp.ClientError(f"{code} to {path}")
        return list(answer["items"])

    def judge(self) -> None:
        """Growth after everything that was done to it: the last part against the one before."""
        quiet = [each for each in self.samples if each.at > self.minutes * 60 * 0.55]
        if len(quiet) < 6:
            return
        half = len(quiet) // 2
        for what in ("server", "controllers"):
            before, after = (
                statistics.median(getattr(each, what) for each in part) for part in (quiet[:half], quiet[half:])
            )
            if after > before * 1.1 + 15:
                self.faults.append(f"{what} grew from {before:.0f} to {after:.0f} in the quiet half")

    async def run(self) -> None:
        self.started = time.monotonic()
        self.home.start()
        async with await self.home.client() as hub:
            await _answering(hub)
            await self.build(hub)
        print(f"built {self.clusters} clusters in {time.monotonic() - self.started:.0f} s", flush=True)
        self.started = time.monotonic()
        print("   s  server  controllers    db   log  events   p50   p99   writes  errors")
        deeds = (self.edit, self.come_and_go, self.heartbeat, self.heartbeat, self.heartbeat, self.heartbeat)
        tasks = [asyncio.create_task(self.forever(deed)) for deed in deeds]
        tasks += [asyncio.create_task(self.forever(self.watch_slowly)) for _ in range(5)]
        observers = [asyncio.create_task(self.watcher.run()), asyncio.create_task(self.measure())]
        total = self.minutes * 60
        await asyncio.sleep(total * 0.25)
        await disturb(self.home, self.chance, self.started + total * 0.5)
        await asyncio.sleep(max(0.0, self.started + total - time.monotonic()))
        for task in (*tasks, *observers):
            if task.done() and not task.cancelled() and task.exception() is not None:
                self.faults.append(f"the soak itself failed: {task.exception()!r}")
        await _ended(tasks)
        await self.settled()
        await self.aged()
        await asyncio.sleep(2)
        newest = max(self.ledger.acknowledged, default=0)
        if not self.watcher.relisted:  # what happened while the watch was refused for its age is not shown again
            self.faults += [f"GAP {each}" for each in self.ledger.gaps(newest)[:10]]
        await _ended(observers)
        self.judge()


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _answering(hub: Hub) -> None:
    while True:
        with contextlib.suppress(*TROUBLE):
            code, _ = await hub.send("GET", "/readyz", accept=JSON)
            if code == 200:
                return
        await asyncio.sleep(0.2)


def _megabytes(path: Path) -> float:
    try:
        return path.stat().st_size / 1e6
    except OSError:
        return 0.0


def _row(sample: Sample) -> str:
    return (
        f"{sample.at:5.0f} {sample.server:6d} {sample.controllers:10d} {sample.database:8.1f} {sample.log:5.1f} "
        f"{sample.events:7d} {sample.p50:5.0f} {sample.p99:5.0f} {sample.writes:8d} {sample.errors:6d}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MUSTER_SOAK_MINUTES", "20")))
    parser.add_argument("--clusters", type=int, default=5_000)
    parser.add_argument("--placements", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    directory = folder / "data"
    directory.mkdir()
    soak = Soak(directory, asked.minutes, asked.clusters, asked.placements, random.Random(asked.seed))
    print(f"soaking for {asked.minutes:.0f} minutes with seed {asked.seed}", flush=True)
    try:
        asyncio.run(soak.run())
    finally:
        soak.home.stop()
    print(f"done to it: {dict(soak.home.deeds)}; errors that clients saw: {dict(soak.errors)}")
    print(f"the watch had to begin anew {soak.watcher.relisted} times")
    print(f"{soak.ledger.writes} acknowledged writes of labels, {len(soak.ledger.acknowledged)} revisions watched")
    for fault in soak.faults:
        print(f"FAULT: {fault}")
    if soak.faults:
        print((folder / "log").read_text()[-4000:])
    shutil.rmtree(folder, ignore_errors=True)
    print("held" if not soak.faults else "BROKEN")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
