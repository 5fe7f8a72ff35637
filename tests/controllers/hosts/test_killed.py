"""kill -9 of the controllers at random points while hosts and classifications change: the end is as if nobody had died.

`MUSTER_KILLS` sets the number of kills (100 by `make faults`); a few are part of every test run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from muster.classification import APPLIED, FINALIZER, LABEL_PREFIX
from tests.controllers.processes import MERGE, PATIENCE, HubClient, hub_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200)]
KILLS = int(os.environ.get("MUSTER_KILLS", "3"))
GROUP = "/apis/agent-install.openshift.io/v1beta1/namespaces"
AGENTS = tuple(f"agent-{number:02}" for number in range(30))
CLASSIFICATIONS = tuple(f"c-{number}" for number in range(6))
KEYS = ("size", "storage", "odd")
VALUES = ("small", "large")
INVALID, VALID = ".oops(", ".cpu.count > 2"
QUERIES = (
    "true",
    "false",
    ".cpu.count > 4",
    ".cpu.count < 4",
    "[.disks[]] | length > 2",
    ".cpu.count",
    INVALID,
    ".hostname - 1",
    ".cpu.count > 6 and (def f: f; f)",
)


class Controllers:
    """The controllers' process, one after the other, each known to succeed the one before."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._number = 0
        self._leader = 0  # who had the lease last, as far as is known
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._number += 1
        command = [sys.executable, "-m", "muster", "hub", "controllers", "--supervised", "--data", str(self._directory)]
        command += ["--identity", f"one_{self._number}", "--succeeds", f"one_{self._leader}"]
        with (self._directory / "controllers.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")  # as a supervisor whose server is ready
        self._process.stdin.flush()

    async def ready(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        assert await asyncio.to_thread(self._process.stdout.readline)
        self._leader = self._number

    def kill(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process = None


@contextlib.contextmanager
def controllers_of(directory: Path) -> Iterator[Controllers]:
    controllers = Controllers(directory)
    try:
        yield controllers
    finally:
        controllers.kill()


class Namespace:
    """What a test does and sees in one namespace."""

    def __init__(self, client: HubClient, name: str) -> None:
        self._client = client
        self._base = f"{GROUP}/{name}"
        self.name = name

    async def create(self) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}}
        await self._client.send("POST", "/api/v1/namespaces", body)

    async def report(self, agent: str, inventory: dict[str, Any]) -> None:
        """A host reports, for the first time or again."""
        spec = {"approved": True, "role": "worker"}
        await self._client.send("POST", f"{self._base}/agents", _object("Agent", agent, spec))
        # Anything that is no longer there goes, too.
        given = {"disks": None, **inventory}
        await self._client.send("PATCH", f"{self._base}/agents/{agent}/status", {"status": {"inventory": given}}, MERGE)

    async def classify(self, name: str, spec: dict[str, str]) -> None:
        """A new one, or another query for the one there is."""
        body = _object("AgentClassification", name, spec)
        made = await self._client.send("POST", f"{self._base}/agentclassifications", body)
        if made.get("code") == 409:
            patch = {"spec": {"query": spec["query"]}}
            await self._client.send("PATCH", f"{self._base}/agentclassifications/{name}", patch, MERGE)

    async def remove(self, plural: str, name: str) -> None:
        await self._client.send("DELETE", f"{self._base}/{plural}/{name}")

    async def objects(self, plural: str) -> dict[str, Any]:
        found = await self._client.send("GET", f"{self._base}/{plural}")
        return {each["metadata"]["name"]: each for each in found["items"]}

    async def seen(self) -> dict[str, Any]:
        """Labels and their record of every agent; counts, conditions and finalizers of every classification."""
        agents, classifications = await self.objects("agents"), await self.objects("agentclassifications")
        return {
            "agents": {name: _labels(agent) for name, agent in agents.items()},
            "classifications": {name: _fares(each) for name, each in classifications.items()},
        }


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    api = "agent-install.openshift.io/v1beta1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _labels(agent: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    metadata = agent["metadata"]
    return metadata.get("labels") or {}, (metadata.get("annotations") or {}).get(APPLIED)


def _fares(classification: dict[str, Any]) -> dict[str, Any]:
    status = classification.get("status", {})
    return {
        "counts": (status.get("matchedCount"), status.get("errorCount")),
        "conditions": {
            each["type"]: (each["status"], each["reason"], each["message"]) for each in status.get("conditions", ())
        },
        "finalizers": classification["metadata"].get("finalizers"),
        "deleting": "deletionTimestamp" in classification["metadata"],
    }


def inventory(chance: random.Random) -> dict[str, Any]:
    disks = [{"id": f"d{number}", "sizeBytes": number} for number in range(chance.randrange(5))]
    found: dict[str, Any] = {"cpu": {"count": chance.randrange(9)}, "hostname": f"h{chance.randrange(100)}"}
    return {**found, "disks": disks} if disks else found


async def disturb(apps: Namespace, chance: random.Random, stop: asyncio.Event) -> None:
    """Somebody changes something, all the time."""
    while not stop.is_set():
        name = chance.choice(CLASSIFICATIONS)
        match chance.randrange(8):
            case 0:
                await apps.remove("agentclassifications", name)
            case 1:
                await apps.remove("agents", chance.choice(AGENTS))
            case 2 | 3:
                spec = {"labelKey": chance.choice(KEYS), "labelValue": chance.choice(VALUES)}
                await apps.classify(name, {**spec, "query": chance.choice(QUERIES)})
            case _:
                await apps.report(chance.choice(AGENTS), inventory(chance))
        await asyncio.sleep(chance.uniform(0, 0.03))


async def kill_often(controllers: Controllers, chance: random.Random, kills: int) -> None:
    for number in range(kills):
        controllers.start()
        if number % 4:
            await controllers.ready()  # most deaths come in the middle of the work
            await asyncio.sleep(chance.uniform(0, 0.5))
        else:
            await asyncio.sleep(chance.uniform(0, 2))  # others while it starts
        controllers.kill()


async def eventually(question: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while (answer := await question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        await asyncio.sleep(0.1)


async def _story(directory: Path, client: HubClient, seed: int) -> None:
    chance = random.Random(seed)
    apps, mirror = Namespace(client, "apps"), Namespace(client, "mirror")
    await apps.create()
    await mirror.create()
    for name in AGENTS[:20]:
        await apps.report(name, inventory(chance))
    with controllers_of(directory) as controllers:
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(disturb(apps, chance, stop))
            await kill_often(controllers, random.Random(seed), KILLS)
            stop.set()
        controllers.start()
        await controllers.ready()

        async def waiting() -> list[str]:
            found = await apps.objects("agentclassifications")
            return [name for name, each in found.items() if _fares(each)["deleting"]]

        await eventually(waiting, [])  # no finalizer is stuck
        # A query that became invalid keeps the labels of the one before: history that the mirror has not seen.
        # So it is compared without such queries; that their labels do not stick is seen at the end.
        for name, each in (await apps.objects("agentclassifications")).items():
            if each["spec"]["query"] == INVALID:
                await apps.classify(name, {**each["spec"], "query": VALID})
        # The same objects in a namespace in which nobody ever died.
        for name, agent in (await apps.objects("agents")).items():
            await mirror.report(name, agent["status"]["inventory"])
        for name, each in (await apps.objects("agentclassifications")).items():
            await mirror.classify(name, each["spec"])

        async def differences() -> dict[str, Any]:
            here, there = await apps.seen(), await mirror.seen()
            unfinished = [name for name, each in there["classifications"].items() if each["finalizers"] != [FINALIZER]]
            return {} if here == there and not unfinished else {"here": here, "there": there}

        await eventually(differences, {})
        for namespace in (apps, mirror):
            for name in await namespace.objects("agentclassifications"):
                await namespace.remove("agentclassifications", name)

        async def left() -> list[Any]:
            seen = [await apps.seen(), await mirror.seen()]
            return [
                (name, labels)
                for each in seen
                for name, (labels, record) in each["agents"].items()
                if record or any(key.startswith(LABEL_PREFIX) for key in labels)
            ] + [name for each in seen for name in each["classifications"]]

        await eventually(left, [])


def test_controllers_that_are_killed_leave_what_others_leave(tmp_path: Path) -> None:
    async def story() -> None:
        async with hub.client() as client:
            await _story(tmp_path, client, seed=11)

    with hub_process(tmp_path, command="serve") as hub:
        asyncio.run(story())
