"""Kills under load: an object acknowledged is an object kept, however often the process is killed.

`python -m tests.hub.storage.kills --kills 1000`. Most kills hit a process with a store and several tasks that write as
fast as they can; `--servers` of them hit a whole server with several clients. After each kill the files are opened and
everything is compared with what had been acknowledged, and a watch goes on from where the last one had got.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp

from muster.hub.storage import Store
from tests.hub.storage.killed_writers import (
    BUSY,
    LOG_ONLY,
    PODS,
    Expectation,
    contents,
    forked_writer,
    kill,
    whole_lines,
)
from tests.hub.storage.stories import BY_HAND

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS = 8


@dataclass
class Tally:
    """What came of it."""

    kills: int = 0
    acknowledged: int = 0
    events: int = 0
    least: int = 1 << 60
    faults: list[str] = field(default_factory=list)


def kill_stores(path: Path, kills: int, seed: int) -> Tally:
    """Kill a writing process again and again, on the same files."""
    tally, expectation, chance = Tally(), Expectation(), random.Random(seed)
    for number in range(kills):
        before = expectation.acknowledged
        child, pipe = forked_writer(path, seed * 100_000 + number, WRITERS, LOG_ONLY if number % 7 == 3 else BUSY)
        said = b""
        while said.count(b"\nput ") + said.count(b"\ndelete ") < 5:  # however slow the machine is
            part = os.read(pipe, 1 << 16)
            assert part, said
            said += part
        time.sleep(chance.uniform(0.0, 0.25))
        kill(child)
        while part := os.read(pipe, 1 << 20):
            said += part
        os.close(pipe)
        seen = 0
        for line in whole_lines(said):
            expectation.take(line)
            seen = int(line.split()[2]) if line.startswith("seen") else seen
        tally.kills += 1
        tally.least = min(tally.least, expectation.acknowledged - before)
        tally.faults += expectation.gaps
        expectation.gaps = []
        started = int(whole_lines(said)[0].split()[2])
        tally.events += max(0, seen - started)
        asyncio.run(_compare(path, expectation, seen, tally))
    tally.acknowledged = expectation.acknowledged
    return tally


async def _compare(path: Path, expectation: Expectation, seen: int, tally: Tally) -> None:
    async with Store.open(path, BY_HAND) as store:
        found = contents(store)
        tally.faults += expectation.faults(found, store.revision)
        expectation.settle(found, store.revision)
        # Who had watched until the kill goes on there, and misses nothing.
        if store.compacted <= seen < store.revision:
            watch = store.watch(PODS, None, seen)
            revisions: list[int] = []
            while len(revisions) < store.revision - seen:
                revisions += [event.record.revision for event in await watch.batch()]
            watch.close()
            tally.events += len(revisions)
            if revisions != list(range(seen + 1, store.revision + 1)):
                tally.faults.append(f"a watch from {seen} has gaps: {revisions[:10]}")


# --- The whole server ------------------------------------------------------------------------------------------------


class _Server:
    """`muster hub serve` on a directory, to be killed."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-m", "muster", "hub", "serve", "--data", str(directory)]
        with (directory / "server.log").open("a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        while "KUBECONFIG" not in (line := self.process.stdout.readline()):
            assert line, (directory / "server.log").read_text()[-2000:]
            if " at https://" in line:
                self.url = line.split(" at ")[1].split(",")[0]
        self.token = (directory / "admin-token").read_text().strip()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def kill_servers(directory: Path, kills: int, seed: int) -> Tally:
    """Kill a server while clients write config maps, each with a counter that only goes up."""
    tally, chance = Tally(), random.Random(seed)
    acknowledged: dict[str, int] = {}
    for number in range(kills):
        server = _Server(directory)
        count = asyncio.run(_load(server, acknowledged, number, chance.uniform(0.1, 0.6), tally))
        tally.kills += 1
        tally.least = min(tally.least, count)
        tally.acknowledged += count
    server = _Server(directory)
    asyncio.run(_check(server, acknowledged, tally))
    server.kill()
    return tally


def _session(server: _Server) -> aiohttp.ClientSession:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {server.token}"}
    return aiohttp.ClientSession(server.url, headers=headers, connector=aiohttp.TCPConnector(ssl=trust))


_MAPS = "/api/v1/namespaces/default/configmaps"


async def _load(server: _Server, acknowledged: dict[str, int], number: int, seconds: float, tally: Tally) -> int:
    """What the last kill left is compared; then everybody writes until the server is killed."""
    count, enough = 0, asyncio.Event()

    async def client(who: int) -> None:
        nonlocal count
        turn = 0
        while True:
            name = f"client-{who}-{turn % 20}"
            turn += 1
            value = acknowledged.get(name, 0) + 1 + number * 1_000_000
            body: dict[str, Any] = {"metadata": {"name": name}, "data": {"value": str(value)}}
            async with session.post(_MAPS, json=body) as reply:
                code = reply.status
                await reply.read()
            if code == 409:
                async with session.put(f"{_MAPS}/{name}", json=body) as reply:
                    code = reply.status
                    await reply.read()
            if code in (200, 201):
                acknowledged[name] = max(acknowledged.get(name, 0), value)
                count += 1
                if count >= 5:
                    enough.set()

    async with _session(server) as session:
        await _check(server, acknowledged, tally)
        watching = asyncio.create_task(_watch(session, tally))
        clients = [asyncio.create_task(client(who)) for who in range(WRITERS)]
        await asyncio.wait_for(enough.wait(), 60)
        await asyncio.sleep(seconds)
        server.kill()
        for task in (*clients, watching):
            task.cancel()
        for outcome in await asyncio.gather(*clients, watching, return_exceptions=True):
            if not isinstance(outcome, aiohttp.ClientError | asyncio.CancelledError | OSError | None):
                raise outcome
    return count


async def _watch(session: aiohttp.ClientSession, tally: Tally) -> None:
    """Counters in events of one object only go up."""
    newest: dict[str, int] = {}
    with contextlib.suppress(aiohttp.ClientError, ValueError):
        async with session.get(_MAPS, params={"watch": "true", "resourceVersion": "0"}) as reply:
            async for line in reply.content:
                metadata = json.loads(line)["object"]["metadata"]
                name, revision = metadata["name"], int(metadata["resourceVersion"])
                if revision <= newest.get(name, 0):
                    tally.faults.append(f"events of {name} come out of order")
                newest[name] = revision
                tally.events += 1


async def _check(server: _Server, acknowledged: dict[str, int], tally: Tally) -> None:
    async with _session(server) as session, session.get(_MAPS) as reply:
        items = (await reply.json())["items"]
    found = {item["metadata"]["name"]: int(item["data"]["value"]) for item in items if "value" in item.get("data", {})}
    for name, value in acknowledged.items():
        if found.get(name, 0) < value:
            tally.faults.append(f"{name} is at {found.get(name)}, {value} was acknowledged")
    acknowledged.update(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="of processes that write to a store")
    parser.add_argument("--servers", type=int, default=0, help="of whole servers, besides")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="where the files are; decides which disk is used")
    arguments = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="muster-kills-", dir=arguments.directory) as directory:
        rows: dict[str, Callable[[], Tally]] = {
            "store": lambda: kill_stores(Path(directory, "hub.db"), arguments.kills, arguments.seed)
        }
        if arguments.servers:
            Path(directory, "hub").mkdir()
            rows["server"] = lambda: kill_servers(Path(directory, "hub"), arguments.servers, arguments.seed)
        print("| what | kills | s per kill | acknowledged | fewest between kills | watch events | lost or wrong |")
        print("|---|---|---|---|---|---|---|")
        if not arguments.kills:
            del rows["store"]
        for name, work in rows.items():
            started = time.monotonic()
            tally = work()
            seconds = (time.monotonic() - started) / max(1, tally.kills)
            print(
                f"| {name} | {tally.kills} | {seconds:.2f} | {tally.acknowledged} | {tally.least} | {tally.events} |"
                f" {len(tally.faults)} |",
                flush=True,
            )
            for fault in tally.faults[:20]:
                print(f"  {fault}")
            faults += len(tally.faults)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
