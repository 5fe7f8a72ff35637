"""The work queue."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from muster.controllers.runtime.queue import WorkQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def test_a_key_waits_once_however_often_it_is_added() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue()
        for key in ("a", "b", "a"):
            queue.add(key)
        assert [await queue.get(), await queue.get()] == ["a", "b"]
        assert len(queue) == 0

    asyncio.run(story())


def test_a_key_added_while_it_is_worked_on_comes_again_afterwards() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue()
        queue.add("a")
        key = await queue.get()
        queue.add("a")
        assert len(queue) == 0
        queue.done(key)
        assert await queue.get() == "a"

    asyncio.run(story())


def test_a_delayed_key_comes_later_and_the_sooner_time_wins() -> None:
    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue()
        queue.add_after("late", 30)
        queue.add_after("soon", 0.02)
        queue.add_after("late", 0.04)
        assert [await queue.get(), await queue.get()] == ["soon", "late"]
        queue.done("late")
        assert queue.idle is False  # "soon" is still worked on
        queue.done("soon")
        assert queue.idle is True

    asyncio.run(story())


def test_failures_wait_longer_each_time_until_they_are_forgotten() -> None:
    async def story() -> list[float]:
        queue: WorkQueue[str] = WorkQueue()
        loop = asyncio.get_running_loop()
        pauses = []
        for _ in range(4):
            started = loop.time()
            queue.add_failed("a")
            queue.done(await queue.get())
            pauses.append(loop.time() - started)
        queue.forget("a")
        started = loop.time()
        queue.add_failed("a")
        await queue.get()
        pauses.append(loop.time() - started)
        return pauses

    first, *_, fourth, after = asyncio.run(story())
    assert fourth > first
    assert fourth >= 0.04
    assert after < fourth


def test_long_work_has_its_turn_when_nothing_else_waits_one_at_a_time() -> None:
    async def story() -> list[str]:
        queue: WorkQueue[str] = WorkQueue()
        order = []
        for key in ("long", "longer", "short"):
            queue.add(key)
        for _ in range(2):
            key = await queue.get()
            order.append(key)
            queue.put_off(key)
            queue.done(key)
        order.append(short := await queue.get())
        queue.add("long")  # an event does not let it pass the others
        queue.done(short)
        order.append(first := await queue.get())
        second = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        assert not second.done()
        assert not queue.idle
        queue.done(first)
        order.append(await second)
        queue.done(order[-1])
        return order

    assert asyncio.run(story()) == ["long", "longer", "short", "long", "longer"]


def test_the_next_long_key_follows_when_only_waiting_is_left_of_one() -> None:
    async def story() -> list[str]:
        queue: WorkQueue[str] = WorkQueue()
        for key in ("long", "longer"):
            queue.add(key)
        for _ in range(2):
            queue.put_off(key := await queue.get())
            queue.done(key)
        assert (len(queue), queue.has_work) == (0, True)
        first = await queue.get()
        second = asyncio.create_task(queue.get())
        await asyncio.sleep(0)
        queue.let_next("another")  # says nothing of the one that is worked on
        await asyncio.sleep(0)
        assert not second.done()
        queue.let_next(first)
        order = [first, await second]
        seen = [(queue.has_work, queue.idle)]
        for key in order:
            queue.done(key)
            seen.append((queue.has_work, queue.idle))
        assert seen == [(False, False), (False, False), (False, True)]
        return order

    assert asyncio.run(story()) == ["long", "longer"]


class CountedQueue(WorkQueue[int]):
    """Counts how often a worker looks for work."""

    looks = 0

    def _move_due(self) -> None:
        self.looks += 1
        super()._move_due()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_of_many_workers_each_key_wakes_one(run: Callable[[Coroutine[Any, Any, int]], int]) -> None:
    async def story() -> int:
        queue = CountedQueue()
        done: list[int] = []

        async def worker() -> None:
            while True:
                key = await queue.get()
                done.append(key)
                queue.done(key)

        workers = [asyncio.create_task(worker()) for _ in range(64)]
        await asyncio.sleep(0)
        for key in range(100):
            if key % 2:
                queue.add(key)
            else:
                queue.add_after(key, 0.002 * key)
            await asyncio.sleep(0.001)
        async with asyncio.timeout(10):
            while len(done) < 100:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
        for each in workers:
            each.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        assert sorted(done) == list(range(100))
        return queue.looks

    assert run(story()) < 64 + 100 * 5


def test_a_worker_that_ends_as_it_is_woken_leaves_the_key_to_another() -> None:
    async def story() -> str:
        queue: WorkQueue[str] = WorkQueue()
        first, second = (asyncio.create_task(queue.get()) for _ in range(2))
        await asyncio.sleep(0)
        queue.add("a")
        first.cancel()
        async with asyncio.timeout(5):
            return await second

    assert asyncio.run(story()) == "a"
