"""Requests to the whole API server but for its socket: authentication, admission, audit, a store on disk. CPU of the
loop's thread, which is what bounds a hub."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec

from muster import app
from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muster.hub.rest.application import Application

CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
_WARM, _PASSES, _REQUESTS = 2, 12, 40


class Client:
    """One after the other, straight into the application."""

    def __init__(self, application: Application, token: bytes) -> None:
        self._application = application
        self._token = token
        self._numbers = count()
        self._revisions: dict[str, str] = {}  # of leases

    async def request(self, method: str, path: str, body: bytes, kind: bytes = b"application/json") -> bytes:
        headers = [
            (b"authorization", b"Bearer " + self._token),
            (b"accept", b"application/json"),
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
        ]
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "extensions": {},
        }
        answer: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answer.append(message)

        await self._application(scope, receive, send)
        assert answer[0]["status"] < 300, answer
        return bytes(answer[1]["body"])

    def repeated(self, work: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def all_of_it() -> None:
            for _ in range(_REQUESTS):
                await work()

        return all_of_it

    async def create(self) -> None:
        number = next(self._numbers)
        obj = a_cluster(1, number % 64).object
        obj["metadata"]["name"] = f"c{number}"
        await self.request("POST", CLUSTERS, msgspec.json.encode(obj))

    async def beat(self) -> None:
        said = {"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "ManagedClusterAvailable"}
        when = {"message": f"beat {next(self._numbers)}", "lastTransitionTime": "2026-01-05T08:05:45Z"}
        body = msgspec.json.encode({"status": {"conditions": [{**said, **when}]}})
        await self.request("PATCH", f"{CLUSTERS}/c0/status", body, b"application/merge-patch+json")

    async def renew(self) -> None:
        """Of many leases at once: one that comes alone waits for others, and finds every cache cold."""
        await asyncio.gather(*(self._renew(f"lease-{number}") for number in range(_REQUESTS)))

    async def _renew(self, name: str) -> None:
        known = self._revisions.get(name)
        revision = {"resourceVersion": known} if known else {}
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": "default", **revision},
            "spec": {"holderIdentity": name, "renewTime": f"2026-11-01T00:00:00.{next(self._numbers) % 10**6:06}Z"},
        }
        method, path = ("PUT", f"{LEASES}/{name}") if known else ("POST", LEASES)
        answer = await self.request(method, path, msgspec.json.encode(lease))
        self._revisions[name] = msgspec.json.decode(answer)["metadata"]["resourceVersion"]

    async def get(self) -> None:
        await self.request("GET", f"{CLUSTERS}/c0", b"")


async def seconds_per_request(directory: Path) -> dict[str, float]:
    """The least of several passes, in turns."""
    found: dict[str, float] = {}

    async def drive(application: Application, *_given: object, **_named: object) -> None:
        client = Client(application, (directory / app.TOKEN).read_bytes().strip())
        works: dict[str, Callable[[], Awaitable[None]]] = {
            "create": client.repeated(client.create),
            "status patch": client.repeated(client.beat),
            "lease renewal": client.renew,
            "get": client.repeated(client.get),
        }
        for work in works.values():
            for _ in range(_WARM):
                await work()
        for _ in range(_PASSES):
            for name, work in works.items():
                started = time.thread_time()
                await work()
                seconds = (time.thread_time() - started) / _REQUESTS
                found[name] = min(found.get(name, seconds), seconds)

    with patch.object(app, "serve", drive):
        await asyncio.wait_for(app.run_hub(app.HubSettings(directory), lambda _: None), 300)
    return found
