"""Clients that have stopped reading."""

from __future__ import annotations

import asyncio

import pytest

from muster.hub.rest.deadlines import Deadlines


async def send(stalls: Deadlines, seconds: float) -> None:
    with stalls.enforced() as deadline:
        deadline.begins()
        await asyncio.sleep(seconds)
        deadline.ended()


def test_a_send_that_takes_too_long_is_cut_off_and_the_task_lives_on() -> None:
    async def stuck() -> str:
        with pytest.raises(TimeoutError):
            await send(Deadlines(0.05), 10)
        await asyncio.sleep(0)  # the cancellation has been taken back
        return "cleaned up"

    assert asyncio.run(asyncio.wait_for(stuck(), 5)) == "cleaned up"


def test_waiting_between_sends_is_no_stall() -> None:
    async def patient() -> int:
        stalls = Deadlines(0.05)
        with stalls.enforced() as deadline:
            for _ in range(3):
                deadline.begins()
                await asyncio.sleep(0.01)
                deadline.ended()
                await asyncio.sleep(0.1)
        return 3

    assert asyncio.run(patient()) == 3


def test_a_cancellation_from_elsewhere_stays_one() -> None:
    async def run() -> bool:
        task = asyncio.create_task(send(Deadlines(60), 10))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(run())
