"""A leader that slept writes nothing, and whoever stands by takes over soon."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.processes import MERGE, PATIENCE, HubClient, hub_process
from tests.controllers.running import APPS, CLUSTERS, GROUP, available

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/muster-controllers"
PLACEMENT = f"{APPS}/placements/p1"
NAMES = [f"c{number:02d}" for number in range(10)]
ROUNDS = 3


class Controllers:
    """A process of controllers that nobody supervises."""

    def __init__(self, directory: Path, name: str) -> None:
        self._log = directory / f"{name}.log"
        self.name = name
        with self._log.open("w") as log:
            command = [sys.executable, "-m", "muster", "hub", "controllers", "--data", str(directory)]
            self.process = subprocess.Popen([*command, "--identity", name], stdout=log, stderr=log)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)


@contextlib.contextmanager
def controllers(directory: Path, name: str) -> Iterator[Controllers]:
    running = Controllers(directory, name)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.signal(signal.SIGCONT)
        running.process.kill()
        running.process.wait()


async def until(question: Callable[[], Awaitable[Any]], wanted: Any, *logs: Controllers) -> float:
    """Seconds until the answer was as wanted."""
    started = time.monotonic()
    while (found := await question()) != wanted:
        texts = "\n".join(each.log[-2000:] for each in logs)
        assert time.monotonic() - started < PATIENCE, f"{found!r} instead of {wanted!r}\n{texts}"
        await asyncio.sleep(0.05)
    return time.monotonic() - started


async def build(client: HubClient) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await client.send("POST", "/api/v1/namespaces", namespace)
    await client.send("POST", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
    for name in NAMES:
        cluster = a_cluster(name, {"colour": "red"})
        await client.send("POST", CLUSTERS, cluster)
        await client.send("PATCH", f"{CLUSTERS}/{name}/status", {"status": available(cluster)}, MERGE)
    red = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"colour": "red"}}}}]
    await client.send("POST", f"{APPS}/placements", a_placement("p1", predicates=red))


async def paint(client: HubClient, reds: int) -> None:
    for place, name in enumerate(NAMES):
        patch = {"metadata": {"labels": {"colour": "red" if place < reds else "blue"}}}
        await client.send("PATCH", f"{CLUSTERS}/{name}", patch, MERGE)


async def holder(client: HubClient) -> str:
    return str((await client.send("GET", LEASE)).get("spec", {}).get("holderIdentity", ""))


async def selected(client: HubClient) -> int:
    return int(((await client.send("GET", PLACEMENT)).get("status") or {}).get("numberOfSelectedClusters", -1))


@contextlib.asynccontextmanager
async def noting(client: HubClient) -> AsyncIterator[list[int]]:
    """Every number that the placement's status shows meanwhile."""
    seen: list[int] = []

    async def note() -> None:
        while True:
            seen.append(await selected(client))
            await asyncio.sleep(0.01)

    task = asyncio.create_task(note())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def story(directory: Path, client: HubClient) -> list[float]:
    takeovers = []
    await build(client)
    with controllers(directory, "first") as first:
        await until(lambda: selected(client), 10, first)
        with controllers(directory, "second") as second:
            leader, standby = first, second
            await asyncio.sleep(3)  # the second has seen everything by then
            for turn in range(ROUNDS):
                wanted, before = (5, 10) if turn % 2 == 0 else (10, 5)
                # Stopped in the middle of what it is doing.
                painting = asyncio.create_task(paint(client, wanted))
                await asyncio.sleep(0.03)
                leader.signal(signal.SIGSTOP)
                await painting
                takeovers.append(await until(lambda: holder(client), standby.name, first, second))
                await until(lambda: selected(client), wanted, first, second)
                async with noting(client) as seen:
                    leader.signal(signal.SIGCONT)
                    await until(functools.partial(_stands_by, leader, turn), True, leader)
                    await asyncio.sleep(1)
                assert set(seen) == {wanted}, (before, sorted(set(seen)))
                leader, standby = standby, leader
            await asyncio.sleep(3)
            leader.signal(signal.SIGKILL)
            takeovers.append(await until(lambda: holder(client), standby.name, first, second))
            for each in (first, second):
                assert "Traceback" not in each.log, each.log
                assert "fault" not in each.log, each.log
    return takeovers


async def _stands_by(leader: Controllers, turn: int) -> bool:
    """It has said so in one line, once for each time that it slept."""
    return leader.log.count("the lease is lost") == turn // 2 + 1


def test_a_leader_that_slept_writes_nothing_and_is_replaced_within_five_seconds(tmp_path: Path) -> None:
    with hub_process(tmp_path, command="serve") as hub:

        async def run() -> list[float]:
            async with hub.client() as client:
                return await story(tmp_path, client)

        takeovers = asyncio.run(run())
    # Three seconds of lease and one look: the rest is for a machine that is busy with other tests.
    assert sorted(takeovers)[len(takeovers) // 2] < 5, takeovers
