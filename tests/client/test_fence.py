"""Nothing is written when the lease may be somebody else's, and nothing without the version it was decided from."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from muster.client import Client, Connection, Fence, GuardedClient, LeadershipLostError
from muster.client.guarded import VersionMissingError


class Clocks:
    def __init__(self) -> None:
        self.straight = self.wall = 1000.0

    def fence(self) -> Fence:
        return Fence(lambda: self.straight, lambda: self.wall)


def opened() -> tuple[Clocks, Fence]:
    clocks = Clocks()
    fence = clocks.fence()
    fence.open(fence.now(), 10)
    return clocks, fence


def test_a_fence_is_closed_until_it_is_opened() -> None:
    with pytest.raises(LeadershipLostError, match="does not lead"):
        Clocks().fence().check()


@pytest.mark.parametrize("clock", ["straight", "wall"])
def test_a_fence_closes_when_either_clock_says_so(clock: str) -> None:
    clocks, fence = opened()
    fence.check()
    setattr(clocks, clock, 1011.0)
    with pytest.raises(LeadershipLostError, match=r"11\.0 s ago"):
        fence.check()


def test_a_wall_clock_that_is_set_back_opens_nothing() -> None:
    clocks, fence = opened()
    clocks.wall, clocks.straight = 900.0, 1011.0
    with pytest.raises(LeadershipLostError):
        fence.check()


async def served(answer: Any) -> tuple[web.AppRunner, str]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


def test_a_request_that_has_waited_for_its_connection_is_not_sent() -> None:
    """More requests than the client has connections: those that waited find the fence closed."""
    arrived: list[str] = []
    go = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        arrived.append(request.path)
        await go.wait()
        return web.json_response({})

    async def story() -> list[BaseException | Any]:
        clocks, fence = opened()
        runner, url = await served(answer)
        try:
            async with Client(Connection(url), fence) as client:
                writes = [asyncio.create_task(client.request("POST", f"/{number}", body={})) for number in range(70)]
                while len(arrived) < 64:  # noqa: ASYNC110 - asked, not told
                    await asyncio.sleep(0.01)
                clocks.straight += 30  # the process sleeps
                go.set()
                reads = await client.request("GET", "/read")
                assert reads.code == 200
                return await asyncio.gather(*writes, return_exceptions=True)
        finally:
            await runner.cleanup()

    found = asyncio.run(story())
    assert sum(isinstance(each, LeadershipLostError) for each in found) == 6
    assert len(arrived) == 65


@pytest.mark.parametrize(
    ("method", "body"),
    [
        ("PATCH", {"status": {}}),
        ("PATCH", {"metadata": {"resourceVersion": ""}, "status": {}}),
        ("PUT", {"metadata": {"name": "x"}}),
        ("DELETE", None),
        ("DELETE", {"preconditions": {"uid": "u"}}),
    ],
)
def test_a_change_without_the_version_it_was_decided_from_is_a_mistake(method: str, body: Any) -> None:
    async def story() -> None:
        async with GuardedClient(Connection("http://127.0.0.1:1")) as client:
            await client.request(method, "/x", body=body)

    with pytest.raises(VersionMissingError):
        asyncio.run(story())


def test_a_change_with_its_version_is_sent() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(json.loads(await request.text()))

    async def story() -> Any:
        runner, url = await served(answer)
        try:
            async with GuardedClient(Connection(url)) as client:
                body = {"metadata": {"resourceVersion": "7"}}
                return (await client.request("PATCH", "/x", body=body)).json()
        finally:
            await runner.cleanup()

    assert asyncio.run(story()) == {"metadata": {"resourceVersion": "7"}}
