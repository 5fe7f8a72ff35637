"""Long work takes turns: one slice per turn of the loop, however much of it there is."""

from __future__ import annotations

import asyncio

from muster.hub.pace import turn


def test_between_two_slices_of_many_who_work_everybody_else_is_served() -> None:
    async def main() -> None:
        slices: list[int] = []

        async def work(number: int) -> None:
            for _ in range(20):
                await turn()
                slices.append(number)

        workers = [asyncio.create_task(work(number)) for number in range(30)]
        await asyncio.sleep(0)
        most = 0
        while not all(worker.done() for worker in workers):
            before = len(slices)
            await asyncio.sleep(0)  # a bystander: one turn of the loop
            most = max(most, len(slices) - before)
        assert most == 1
        assert slices[:60] == [*range(30), *range(30)]  # in order, nobody twice before the others

    asyncio.run(main())


def test_who_gives_up_waiting_holds_up_nobody() -> None:
    async def main() -> None:
        waiting = [asyncio.create_task(turn()) for _ in range(5)]
        await asyncio.sleep(0)
        for each in waiting[:4]:
            each.cancel()
        async with asyncio.timeout(5):
            await waiting[4]

    asyncio.run(main())
