"""Metrics of the controllers, and how the hub gets at them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from muster.controllers.questions.asking import Controllers, UnansweredError, serve_answers
from muster.controllers.questions.kinds import AdviceQuestion
from muster.controllers.runtime.metrics import ControllerMetrics
from tests.builders import a_placement

if TYPE_CHECKING:
    from pathlib import Path


def test_numbers_and_bounds_are_written_as_go_writes_them() -> None:
    metrics = ControllerMetrics()
    metrics.observe_cel(0.5)
    lines = metrics.render().decode().splitlines()
    own = [line for line in lines if line.startswith("scheduling_cel_duration_seconds_bucket")]
    assert own[-5:] == [
        'scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="1"} 1',
        'scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="10"} 1',
        'scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="100"} 1',
        'scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="1000"} 1',
        'scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="+Inf"} 1',
    ]
    assert not any("_created" in line for line in lines)


def test_the_hub_gets_metrics_while_they_are_served_and_nobody_else(tmp_path: Path) -> None:
    address = tmp_path / "controllers.json"
    asked = Controllers(address)

    async def story() -> tuple[bytes, bytes, int, bytes]:
        before = await asked.metrics()
        async with serve_answers(address, lambda: b"a_number 1\n"):
            during = await asked.metrics()
            port = json.loads(address.read_text())["port"]
            async with aiohttp.ClientSession() as session, session.post(f"http://127.0.0.1:{port}/metrics") as reply:
                without_proof = reply.status
            assert address.stat().st_mode & 0o077 == 0
        return before, during, without_proof, await asked.metrics()

    assert asyncio.run(story()) == (b"", b"a_number 1\n", 401, b"")


def test_another_process_at_the_port_learns_no_secret_and_is_not_believed(tmp_path: Path) -> None:
    address = tmp_path / "controllers.json"
    heard: list[str] = []

    async def impostor(request: web.Request) -> web.Response:
        heard.extend(f"{name}: {value}" for name, value in request.headers.items())
        return web.Response(body=b'{"findings":[]}', headers={"Muster-Proof": request.headers["Muster-Proof"]})

    async def story() -> str:
        application = web.Application()
        application.router.add_post("/advise", impostor)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.write_text(json.dumps({"port": runner.addresses[0][1], "secret": "known-to-the-hub-alone"}))
        try:
            await Controllers(address).advise(AdviceQuestion(a_placement(), 5.0))
        except UnansweredError as error:
            return str(error)
        finally:
            await runner.cleanup()
        return "believed"

    assert asyncio.run(story()) == "somebody else answered in their place"
    assert heard
    assert not any("known-to-the-hub-alone" in line for line in heard)


def test_a_captured_question_is_not_answered_by_the_next_controllers(tmp_path: Path) -> None:
    address = tmp_path / "controllers.json"
    captured: dict[str, str] = {}

    async def listen(request: web.Request) -> web.Response:
        captured.update(request.headers)
        return web.Response(status=500)

    async def story() -> int:
        application = web.Application()
        application.router.add_post("/metrics", listen)
        runner = web.AppRunner(application)
        async with serve_answers(address, lambda: b""):
            known = json.loads(address.read_text())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        address.write_text(json.dumps({**known, "port": runner.addresses[0][1]}))
        assert await Controllers(address).metrics() == b""
        await runner.cleanup()
        headers = {name: captured[name] for name in ("Muster-Nonce", "Muster-Proof")}
        async with serve_answers(address, lambda: b"a_number 1\n"):
            url = f"http://127.0.0.1:{json.loads(address.read_text())['port']}/metrics"
            async with aiohttp.ClientSession() as session, session.post(url, headers=headers) as reply:
                return reply.status

    assert asyncio.run(story()) == 401


def test_controllers_that_end_leave_the_address_of_their_successors(tmp_path: Path) -> None:
    address = tmp_path / "controllers.json"

    async def story() -> tuple[bytes, bool]:
        async with contextlib.AsyncExitStack() as successors:
            async with serve_answers(address, lambda: b"a_number 1\n"):
                await successors.enter_async_context(serve_answers(address, lambda: b"a_number 2\n"))
            answer = await Controllers(address).metrics()
        return answer, address.exists()

    assert asyncio.run(story()) == (b"a_number 2\n", False)
