"""A proxy before a hub that does what networks and busy servers do: refuses, dawdles, cuts watches, forgets history."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Iterator

_GONE = {
    "type": "ERROR",
    "object": {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired", "message": "too old"},
}


@dataclass
class Faults:
    """How likely each fault is, between 0 and 1. All zero: a plain proxy."""

    refuse: float = 0.0  # 503 before anything is done
    lose: float = 0.0  # done, but the answer is lost
    conflict: float = 0.0  # 409 to a write
    dawdle: float = 0.0  # a tenth of a second late
    cut: float = 0.0  # a watch ends in the middle, by event
    forget: float = 0.0  # a watch answers 410
    random: random.Random = field(default_factory=lambda: random.Random(1))
    counts: dict[str, int] = field(default_factory=dict)

    def strikes(self, name: str) -> bool:
        if self.random.random() >= getattr(self, name):
            return False
        self.counts[name] = self.counts.get(name, 0) + 1
        return True

    def stop(self) -> None:
        for name in ("refuse", "lose", "conflict", "dawdle", "cut", "forget"):
            setattr(self, name, 0.0)


class _Proxy:
    def __init__(self, target: str, faults: Faults, session: aiohttp.ClientSession) -> None:
        self._target = target
        self._faults = faults
        self._session = session

    async def answer(self, request: web.Request) -> web.StreamResponse:
        faults = self._faults
        writes = request.method in ("POST", "PUT", "PATCH", "DELETE")
        if faults.strikes("dawdle"):
            await asyncio.sleep(0.1)
        if faults.strikes("refuse"):
            return web.json_response({"kind": "Status", "code": 503, "message": "busy"}, status=503)
        if writes and faults.strikes("conflict"):
            return web.json_response({"kind": "Status", "code": 409, "reason": "Conflict"}, status=409)
        passed = ("Authorization", "Accept", "Content-Type")
        headers = {name: request.headers[name] for name in passed if name in request.headers}
        body = await request.read()
        async with self._session.request(
            request.method, self._target + request.raw_path, data=body, headers=headers
        ) as reply:
            if "watch" in request.query:
                return await self._watch(request, reply)
            content = await reply.read()
        if faults.strikes("lose"):
            assert request.transport is not None
            request.transport.abort()
        return web.Response(status=reply.status, body=content, headers={"Content-Type": reply.content_type})

    async def _watch(self, request: web.Request, reply: aiohttp.ClientResponse) -> web.StreamResponse:
        response = web.StreamResponse(status=reply.status, headers={"Content-Type": "application/json"})
        await response.prepare(request)
        if self._faults.strikes("forget"):
            await response.write(json.dumps(_GONE).encode() + b"\n")
            return response
        async for line in reply.content:
            if self._faults.strikes("cut"):
                assert request.transport is not None
                await response.write(line[: len(line) // 2])
                request.transport.abort()
                return response
            await response.write(line)
        return response


@contextlib.contextmanager
def faulty(target: str, faults: Faults) -> Iterator[str]:
    """The address of a proxy before the target."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    found: list[str] = []
    stop = asyncio.Event()

    async def run() -> None:
        async with aiohttp.ClientSession(read_bufsize=2**22, timeout=aiohttp.ClientTimeout(total=None)) as session:
            application = web.Application(client_max_size=2**24)
            application.router.add_route("*", "/{path:.*}", _Proxy(target, faults, session).answer)
            runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            found.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
            started.set()
            await stop.wait()
            await runner.cleanup()
            # Watches that nobody ended: without this they would be found lying about during another test.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), name="proxy")
    thread.start()
    try:
        assert started.wait(10)
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
