"""Work beside the loop: the loop goes on, users take turns, and what has begun ends."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import TYPE_CHECKING

import pytest

from muster.hub.heavy_work import HEAVY, LIGHT, HeavyWork
from muster.hub.status import StatusError

if TYPE_CHECKING:
    from collections.abc import Callable


def test_light_work_is_done_at_once_and_heavy_work_in_another_thread() -> None:
    async def run() -> tuple[str, str]:
        work = HeavyWork()
        light = await work.done("u", LIGHT, lambda: threading.current_thread().name)
        heavy = await work.done("u", HEAVY, lambda: threading.current_thread().name)
        work.close()
        return light, heavy

    light, heavy = asyncio.run(run())
    assert light == threading.current_thread().name
    assert heavy.startswith("heavy-work")


def test_users_take_turns_however_much_one_of_them_brings() -> None:
    done: list[str] = []

    async def run() -> None:
        work = HeavyWork()
        gate = threading.Event()

        def piece(name: str) -> Callable[[], None]:
            return lambda: done.append(name)

        first = asyncio.create_task(work.done("loud", HEAVY, lambda: gate.wait(10)))
        await asyncio.sleep(0)
        loud = [asyncio.create_task(work.done("loud", HEAVY, piece(f"loud {number}"))) for number in range(5)]
        await asyncio.sleep(0)
        quiet = asyncio.create_task(work.done("quiet", HEAVY, piece("quiet")))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, *loud, quiet)
        work.close()
        assert not work._turns  # nobody is remembered who wants nothing

    asyncio.run(run())
    assert done[0] == "quiet"


def test_what_has_begun_keeps_its_turn_when_its_request_is_gone() -> None:
    running: list[int] = []
    most: list[int] = []

    async def run() -> None:
        work = HeavyWork()
        gate = threading.Event()

        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def piece() -> None:
            running.append(1)
            most.append(len(running))
            loop.call_soon_threadsafe(begun.set)
            gate.wait(10)
            running.pop()

        tasks = [asyncio.create_task(work.done("u", HEAVY, piece)) for _ in range(3)]
        await begun.wait()
        tasks[0].cancel()
        tasks[1].cancel()
        await asyncio.sleep(0.01)
        gate.set()
        await tasks[2]
        work.close()

    asyncio.run(run())
    assert most == [1, 1]


def test_a_fault_of_the_work_reaches_who_asked() -> None:
    async def run() -> None:
        await HeavyWork().done("u", HEAVY, lambda: [][0])

    with pytest.raises(IndexError):
        asyncio.run(run())


def test_work_that_never_ends_is_ended_and_the_next_user_is_served() -> None:
    def forever() -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue  # what catches every fault does not catch this

    async def run() -> None:
        work = HeavyWork(most_seconds=0.2)
        stuck = asyncio.create_task(work.done("loud", HEAVY, forever))
        await asyncio.sleep(0)
        assert await work.done("quiet", HEAVY, lambda: 1) == 1
        with pytest.raises(StatusError, match="takes more than"):
            await stuck
        assert await work.done("loud", HEAVY, lambda: 2) == 2
        work.close()

    asyncio.run(run())


def test_a_refusal_keeps_nothing_of_the_request_once_it_was_answered() -> None:
    """Without the collector: a refusal that refers to itself would keep bodies in memory until it comes by."""

    class Body:
        pass

    def refusing(body: Body) -> Callable[[], None]:
        def work() -> None:
            held = body
            raise StatusError(422, "Invalid", f"no {type(held).__name__}")

        return work

    async def run() -> weakref.ref[Body]:
        work = HeavyWork()
        body = Body()
        left = weakref.ref(body)
        with pytest.raises(StatusError):
            await work.done("u", HEAVY, refusing(body))
        del body
        await work.done("u", HEAVY, lambda: None)  # the thread lets go of a job with its next one
        await asyncio.sleep(0)
        work.close()
        return left

    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(run())() is None
    finally:
        gc.enable()
