"""Events are written behind the work, and none is lost for that."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from muster.controllers.runtime import events
from muster.controllers.runtime.events import About, EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from muster.client import Client
    from muster.values.json import JsonObject

_ABOUT = About("v1", "Placement", "p1", "apps")


class _Server:
    """Takes events, in their order."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    async def request(self, _method: str, _path: str, *, body: JsonObject) -> None:
        self.taken.append(body["reason"])


async def _written(count: int, is_busy: Callable[[], bool], until: Callable[[_Server], bool]) -> tuple[list[str], int]:
    """What a server has been sent when it is enough, of so many events; and how many were dropped."""
    server = _Server()
    recorder = EventRecorder(cast("Client", server), "tests", lambda: datetime.now(UTC), is_busy)
    for number in range(count):
        recorder.record(_ABOUT, f"R{number}", "something was done")
    running = asyncio.create_task(recorder.run())
    async with asyncio.timeout(10):
        while not until(server):  # noqa: ASYNC110 - the server tells no event
            await asyncio.sleep(0)
    running.cancel()
    return server.taken, recorder.dropped


def test_events_wait_while_work_does() -> None:
    looks: list[int] = []
    sent_when_done: list[int] = []

    def is_busy() -> bool:
        looks.append(len(looks))
        return len(looks) < 5

    def is_enough(server: _Server) -> bool:
        if len(looks) == 4:
            sent_when_done.append(len(server.taken))
        return len(server.taken) == 3

    assert asyncio.run(_written(3, is_busy, is_enough)) == (["R0", "R1", "R2"], 0)
    assert set(sent_when_done) == {0}


def test_work_without_end_holds_no_event_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_LOOK", 0.0001)
    assert asyncio.run(_written(2, lambda: True, lambda server: len(server.taken) == 2)) == (["R0", "R1"], 0)


def test_many_events_do_not_wait_so_that_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_LOOK", 100.0)
    monkeypatch.setattr(events, "_MANY_WAITING", 2)
    taken, dropped = asyncio.run(_written(6, lambda: True, lambda server: len(server.taken) == 3))
    assert (taken, dropped) == (["R0", "R1", "R2"], 0)


def test_a_thousand_decisions_of_a_start_lose_no_event() -> None:
    count = 4000  # a page that is created and filled, its scores, and its history
    assert asyncio.run(_written(count, lambda: False, lambda server: len(server.taken) == count))[1] == 0
