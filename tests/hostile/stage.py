"""A hub as a user runs it, an attacker's and a bystander's way to it, and what must hold after every batch.

The bystander is a process of its own, so that what it measures is the hub and not the attacker beside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import aiohttp
import yaml

from tests.builders import GROUP, a_binding, a_cluster, a_placement, a_set
from tests.controllers.processes import hub_process
from tests.controllers.running import available

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from multiprocessing.connection import Connection

    from tests.controllers.processes import HubProcess

DECIDED_WITHIN: Final = 2.0  # seconds from a new placement to its decision
ANSWERED_WITHIN: Final = 0.25  # seconds, for every request of a bystander
GROWTH: Final = 300  # MB of a process beyond what it had at the start
NAMESPACE: Final = "bystander"
JSON: Final = "application/json"
MERGE: Final = "application/merge-patch+json"


class Hub:
    """Requests to a running hub, by anyone who has a token."""

    def __init__(self, url: str, token: str, seconds: float = 60) -> None:
        self._url = url
        self._token = token
        self._seconds = seconds
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        insecure = ssl._create_unverified_context()
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._token}"},
            connector=aiohttp.TCPConnector(ssl=insecure, limit=16),
            timeout=aiohttp.ClientTimeout(total=self._seconds),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    async def send(
        self, method: str, path: str, body: Any = None, content_type: str = JSON, accept: str = JSON
    ) -> tuple[int, Any]:
        """Code and answer. `body` is bytes as they are, or a value that becomes JSON."""
        assert self._session is not None
        headers = {"Content-Type": content_type, "Accept": accept}
        given = {"data": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
        async with self._session.request(method, self._url + path, headers=headers, **given) as reply:
            raw = await reply.read()
            with contextlib.suppress(ValueError):
                return reply.status, await reply.json(content_type=None)
            return reply.status, raw

    async def events(self, path: str) -> AsyncIterator[Any]:
        """The events of a watch, until it ends."""
        assert self._session is not None
        whole = aiohttp.ClientTimeout(total=None, sock_read=90)
        async with self._session.get(self._url + path, timeout=whole) as reply:
            reply.raise_for_status()
            pending = b""
            async for chunk in reply.content.iter_any():
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    yield json.loads(line)

    async def dawdle(self, path: str, seconds: float) -> None:
        """Ask, and do not read the answer."""
        assert self._session is not None
        async with self._session.get(self._url + path, read_bufsize=1024) as reply:
            await reply.content.read(10)
            await asyncio.sleep(seconds)


@dataclass
class Vitals:
    """What a batch is judged by."""

    processes: Mapping[str, int]
    memory: Mapping[str, int]  # MB
    decided: float
    slowest: float
    which: str  # of the bystander's requests was the slowest
    requests: int

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size} MB" for name, size in self.memory.items())
        bystander = f"slowest of {self.requests} bystanders' requests {self.slowest * 1000:.0f} ms ({self.which})"
        return f"decided in {self.decided:.2f} s, {bystander}, {sizes}"


@dataclass
class Stage:
    """A running hub under attack."""

    hub: HubProcess
    attacker: Hub
    bystander: Connection
    processes: dict[str, int] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    placements: int = 0
    leniency: float = 1.0  # of the limits of time, for a machine that does other things too

    async def settle(self) -> None:
        """Take down how it is before anything hostile comes."""
        self.processes = self._ids()
        await self.decided()
        self.memory = self._memory()
        self._heard()

    def _ids(self) -> dict[str, int]:
        return {name: self.hub.child(name) or 0 for name in ("serve", "controllers")}

    def _memory(self) -> dict[str, int]:
        return {name: resident(pid) for name, pid in self._ids().items()}

    def _heard(self) -> tuple[int, float, str]:
        """How many requests the bystander has made since we last asked, how long the slowest took, and which it was."""
        self.bystander.send("tell")
        count, slowest, which = self.bystander.recv()
        return count, slowest, which

    async def decided(self) -> float:
        """Seconds until a new placement is decided."""
        self.placements += 1
        name = f"fresh-{self.placements}"
        base = f"/apis/{GROUP}/v1beta1/namespaces/{NAMESPACE}"
        code, answer = await self.attacker.send("POST", f"{base}/placements", a_placement(name, NAMESPACE))
        assert code == 201, answer
        started = time.monotonic()
        selector = f"cluster.open-cluster-management.io/placement={name}"
        while time.monotonic() < started + 60:
            _, pages = await self.attacker.send("GET", f"{base}/placementdecisions?labelSelector={selector}")
            if any(
                each["clusterName"] == NAMESPACE
                for page in pages["items"]
                for each in page.get("status", {}).get("decisions", ())
            ):
                break
            await asyncio.sleep(0.01)
        took = time.monotonic() - started
        await self.attacker.send("DELETE", f"{base}/placements/{name}")
        return took

    async def vitals(self) -> Vitals:
        decided = await self.decided()
        requests, slowest, which = self._heard()
        return Vitals(self._ids(), self._memory(), decided, slowest, which, requests)

    def faults(self, now: Vitals) -> list[str]:
        """What does not hold any more."""
        found = []
        if now.processes != self.processes:
            found.append(f"processes were {self.processes} and are {now.processes}")
        if now.decided > DECIDED_WITHIN * self.leniency:
            found.append(f"a fresh placement took {now.decided:.2f} s, {DECIDED_WITHIN} allowed")
        if now.slowest > ANSWERED_WITHIN * self.leniency:
            found.append(f"a bystander waited {now.slowest * 1000:.0f} ms, {ANSWERED_WITHIN * 1000:.0f} allowed")
        found += [
            f"{name} grew from {self.memory[name]} to {size} MB, {GROWTH} allowed"
            for name, size in now.memory.items()
            if size > self.memory[name] + GROWTH
        ]
        return found


def resident(pid: int) -> int:
    """MB that a process has in memory."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * 4096 // 1_000_000


@contextlib.asynccontextmanager
async def a_stage(directory: Path, *options: str) -> AsyncIterator[Stage]:
    """A hub with a demo fleet and a bystander's cluster, set and namespace."""
    with hub_process(directory, "--demo", *options) as hub:
        config = yaml.safe_load(hub.kubeconfig.read_text())
        url, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
        async with Hub(url, token) as attacker:
            await _furnish(attacker)
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            worker = multiprocessing.get_context("spawn").Process(
                target=_stand_by, args=(url, token, theirs), daemon=True
            )
            worker.start()
            try:
                await _controllers(hub)
                yield Stage(hub, attacker, ours)
            finally:
                worker.kill()
                worker.join()


async def _controllers(hub: HubProcess) -> None:
    for _ in range(600):
        if hub.child("controllers") is not None:
            return
        await asyncio.sleep(0.1)
    raise TimeoutError("the controllers were never started")


async def _furnish(hub: Hub) -> None:
    cluster = a_cluster(NAMESPACE, {NAMESPACE: "yes"})
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    prefix = f"/apis/{GROUP}"
    for path, obj in (
        ("/api/v1/namespaces", namespace),
        (f"{prefix}/v1/managedclusters", cluster),
        (f"{prefix}/v1beta2/managedclustersets", a_set(NAMESPACE, {NAMESPACE: "yes"})),
        (f"{prefix}/v1beta2/namespaces/{NAMESPACE}/managedclustersetbindings", a_binding(NAMESPACE, NAMESPACE)),
    ):
        code, answer = await hub.send("POST", path, obj)
        assert code == 201, answer
    status = {"status": available(cluster)}  # or it is tainted as unreachable, and rightly decided for nothing
    code, answer = await hub.send("PATCH", f"{prefix}/v1/managedclusters/{NAMESPACE}/status", status, MERGE)
    assert code == 200, answer


def _stand_by(url: str, token: str, told: Connection) -> None:
    asyncio.run(_ask(url, token, told))


async def _ask(url: str, token: str, told: Connection) -> None:
    """A get, a list and a write, again and again; each is measured."""
    slowest, which, count = 0.0, "none", 0
    asked = (
        ("GET", f"/apis/{GROUP}/v1/managedclusters/{NAMESPACE}", None, JSON),
        ("GET", f"/apis/{GROUP}/v1beta1/namespaces/{NAMESPACE}/placements", None, JSON),
        ("PATCH", f"/apis/{GROUP}/v1/managedclusters/{NAMESPACE}", {"metadata": {"annotations": {"seen": "0"}}}, MERGE),
    )
    async with Hub(url, token) as hub:
        while True:
            for method, path, body, kind in asked:
                started = time.monotonic()
                if body is not None:
                    body["metadata"]["annotations"]["seen"] = str(count)
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    code, answer = await hub.send(method, path, body, kind)
                    assert code == 200, answer
                count += 1
                if time.monotonic() - started > slowest:
                    slowest, which = time.monotonic() - started, f"{method} {path.rpartition('/')[2]}"
                if told.poll():
                    told.recv()
                    told.send((count, slowest, which))
                    slowest, which, count = 0.0, "none", 0
                await asyncio.sleep(0.02)
