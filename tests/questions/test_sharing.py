"""Turns and slices: who waits for whom, and who does not."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from muster.controllers.questions.kinds import Refusal
from muster.questions.sharing import MOST_ASKERS, MOST_WAITING, SLICE, Share

if TYPE_CHECKING:
    from muster.questions.sharing import Work


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def counting(clock: Clock, steps: int, log: list[str], name: str) -> Work[str]:
    """Takes half a slice for each step."""
    for _ in range(steps):
        clock.now += SLICE / 2
        log.append(name)
        yield False
    return name


def test_work_is_done_and_its_result_given() -> None:
    clock, log = Clock(), list[str]()

    assert asyncio.run(Share(clock).done(counting(clock, 5, log, "a"))) == "a"
    assert log == ["a"] * 5


def test_askers_take_turns_slice_by_slice_so_that_a_short_question_does_not_wait_for_a_long_one() -> None:
    clock, log = Clock(), list[str]()

    async def ask(share: Share, name: str, steps: int) -> None:
        async with share.turn(name):
            await share.done(counting(clock, steps, log, name))

    async def main() -> None:
        share = Share(clock)
        await asyncio.gather(ask(share, "long", 100), ask(share, "short", 3))

    asyncio.run(main())

    assert log[:10].count("short") == 3
    assert log.count("long") == 100


def test_a_burst_of_one_asker_is_answered_one_by_one_and_another_comes_in_between() -> None:
    clock, log = Clock(), list[str]()

    async def ask(share: Share, asker: str, name: str) -> None:
        async with share.turn(asker):
            await share.done(counting(clock, 10, log, name))

    async def main() -> None:
        share = Share(clock)
        burst = [ask(share, "eager", f"eager-{number}") for number in range(20)]
        await asyncio.gather(*burst, ask(share, "other", "other"))

    asyncio.run(main())

    assert log.index("other") < 8, "after a slice of the first question"
    finished = [log.index(f"eager-{number}") for number in range(20)]
    assert finished == sorted(finished)
    assert max(number for number, name in enumerate(log) if name == "other") < 60, "half of the time is the other's"


def test_too_many_questions_are_refused() -> None:
    async def main() -> None:
        share = Share()
        begun = asyncio.Event()

        async def hold(asker: str) -> None:
            async with share.turn(asker):
                await begun.wait()

        holding = [asyncio.ensure_future(hold("eager")) for _ in range(MOST_WAITING)]
        holding += [asyncio.ensure_future(hold(f"u{number}")) for number in range(MOST_ASKERS - 1)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as too_many:
            async with share.turn("eager"):
                pass
        with pytest.raises(Refusal) as too_busy:
            async with share.turn("somebody else"):
                pass
        assert (too_many.value.code, too_busy.value.code) == (429, 503)
        begun.set()
        await asyncio.gather(*holding)
        async with share.turn("somebody else"):
            pass

    asyncio.run(main())


def test_whoever_is_cancelled_is_not_worked_for_any_more() -> None:
    closed: list[str] = []

    def endless() -> Work[None]:
        try:
            while True:
                yield False
        finally:
            closed.append("closed")

    async def main() -> None:
        share = Share()
        task = asyncio.ensure_future(share.done(endless()))
        await asyncio.sleep(0.03)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await share.done(counting(Clock(), 1, [], "next")) == "next"

    asyncio.run(main())

    assert closed == ["closed"]


def test_the_loop_goes_on_while_a_step_beside_it_takes_long() -> None:
    where: list[int] = []
    going_on = threading.Event()

    def heavy() -> Work[bool]:
        yield True
        where.append(threading.get_ident())
        went_on = going_on.wait(10)
        yield False
        where.append(threading.get_ident())
        return went_on

    async def main() -> bool:
        asyncio.get_running_loop().call_later(0.05, going_on.set)
        return await Share().done(heavy())

    assert asyncio.run(main()), "the loop ran while the step waited for it"
    assert where[0] != threading.get_ident() == where[1]


def test_cancelling_while_a_step_is_beside_the_loop_waits_for_its_end() -> None:
    release = threading.Event()
    steps: list[str] = []

    def heavy() -> Work[None]:
        yield True
        release.wait(10)
        steps.append("ended")
        yield False
        steps.append("never")

    async def main() -> None:
        task = asyncio.ensure_future(Share().done(heavy()))
        await asyncio.sleep(0.02)
        task.cancel()
        asyncio.get_running_loop().call_later(0.02, release.set)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert steps == ["ended"]
