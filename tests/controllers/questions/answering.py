"""Answers to the hub's questions without controllers: from a world of given objects, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.controllers.questions.answering import SECONDS, QuestionService
from muster.controllers.questions.asking import serve_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.questions.kinds import Observer

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@contextlib.contextmanager
def answering(
    address: Path,
    world: PlacementWorld,
    seconds: float = SECONDS,
    *,
    ready: bool = True,
    observer: Callable[[PlacementWorld, Callable[[], datetime]], Observer] | None = None,
) -> Iterator[None]:
    """Answer at this address for as long as the block runs."""
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        answerer = QuestionService(world, lambda: NOW, seconds)
        answerer.ready = ready
        observing = None if observer is None else observer(world, lambda: NOW)
        if observing is not None:
            observing.ready = ready
        async with serve_answers(address, lambda: b"a_number 1\n", answerer, observing):
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), name="answers")
    thread.start()
    assert started.wait(10)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
