"""Metrics of the controllers, and how the hub gets at them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import aiohttp

from muster.controllers.answers import ask_metrics, serve_answers
from muster.controllers.metrics import ControllerMetrics

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


def test_the_hub_gets_metrics_while_they_are_served_and_nothing_else(tmp_path: Path) -> None:
    address = tmp_path / "controllers.json"

    async def story() -> tuple[bytes, bytes, int, bytes]:
        before = await ask_metrics(address)
        async with serve_answers(address, lambda: b"a_number 1\n"):
            during = await ask_metrics(address)
            port = json.loads(address.read_text())["port"]
            async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as reply:
                without_secret = reply.status
            assert address.stat().st_mode & 0o077 == 0
        return before, during, without_secret, await ask_metrics(address)

    assert asyncio.run(story()) == (b"", b"a_number 1\n", 401, b"")
