"""Watches whose events are handed over while their reader waits: nothing is lost, doubled or out of order by it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.hub.storage import Store, StoreSettings, WatchOverflowError
from tests.hub.storage.stories import PODS, put, story

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.storage import Event, Watch


class Watcher:
    """Reads a watch, and takes what is handed over in turns that the test gives. `willing` says what it does then."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.willing = True
        self.broken = False
        self.turns = 0  # that it has asked for
        self.taken: list[int] = []
        self.read: list[int] = []
        self.seen: list[int] = []
        watch.divert(self._take, self._join)
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with contextlib.suppress(StopAsyncIteration):
            while True:
                self._note(await self.watch.batch(), self.read)

    def _take(self, events: Sequence[Event]) -> bool:
        if self.broken:
            raise ValueError("no")
        if self.willing:
            self._note(events, self.taken)
        return self.willing

    def _join(self, watch: Watch) -> None:
        assert watch is self.watch
        self.turns += 1

    def _note(self, events: Sequence[Event], where: list[int]) -> None:
        numbers = [event.record.revision for event in events]
        where.extend(numbers)
        self.seen.extend(numbers)

    async def end(self) -> None:
        self.watch.close()
        await self.reader


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


@story
async def test_what_happens_goes_to_whoever_takes_it_and_wakes_no_reader() -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        await store.commit([put("a")])
        await store.commit([put("b")])
        assert (watcher.turns, watcher.seen) == (1, [])
        watcher.watch.serve()
        watcher.watch.serve()
        assert (watcher.taken, watcher.read) == ([2, 3], [])
        await store.commit([put("c")])
        assert watcher.turns == 2
        watcher.watch.serve()
        await watcher.end()
        assert (watcher.taken, watcher.read) == ([2, 3, 4], [])


@pytest.mark.parametrize("broken", [False, True])
@story
async def test_what_is_not_taken_is_for_the_reader_and_comes_before_what_follows(broken: bool) -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        watcher.willing, watcher.broken = False, broken
        await store.commit([put("a"), put("b")])
        watcher.watch.serve()
        await store.commit([put("c")])
        watcher.willing, watcher.broken = True, False
        watcher.watch.serve()
        await settle()
        await store.commit([put("d")])
        watcher.watch.serve()
        await watcher.end()
        assert watcher.read[:2] == [2, 3]
        assert watcher.seen == [2, 3, 4, 5]


@story
async def test_a_reader_that_is_at_work_reads_on() -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await store.commit([put("a")])  # it has not begun to wait
        watcher.watch.serve()
        await settle()
        await watcher.end()
        assert watcher.seen == [2]


@story
async def test_more_than_fits_into_one_turn_gets_another() -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        await store.commit([put(f"p{index}") for index in range(300)])
        assert watcher.turns == 1
        watcher.watch.serve()
        assert (len(watcher.taken), watcher.turns) == (256, 2)
        watcher.watch.serve()
        assert watcher.seen == list(range(2, 302))
        await watcher.end()


@story
async def test_a_closed_watch_hands_over_nothing() -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        await store.commit([put("a")])
        watcher.watch.close()
        watcher.watch.serve()
        await watcher.end()
        assert watcher.seen == []


@story
async def test_a_watch_that_finishes_has_told_everything() -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        await store.commit([put("a")])
        watcher.watch.finish()
        watcher.watch.serve()
        await watcher.reader
        assert watcher.seen == [2]


@story
async def test_whoever_is_never_served_is_cut_off_like_a_slow_reader() -> None:
    async with Store.open(None, StoreSettings(watch_events=3)) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        await settle()
        for index in range(5):
            await store.commit([put(f"p{index}")])
        watcher.watch.serve()
        with pytest.raises(WatchOverflowError):
            await watcher.reader
        assert watcher.seen == []


STEPS = st.lists(st.sampled_from(["write", "write two", "take", "refuse", "fail", "turn"]), max_size=30)


@given(STEPS)
def test_whatever_happens_in_between_every_event_is_seen_once_and_in_order(steps: list[str]) -> None:
    asyncio.run(_seen_whatever(steps))


async def _seen_whatever(steps: list[str]) -> None:
    async with Store.open(None) as store:
        watcher = Watcher(store.watch(PODS, None, store.revision))
        for step in steps:
            if step == "write":
                await store.commit([put("a")])
            elif step == "write two":
                await store.commit([put("a"), put("b")])
            elif step == "turn":
                await asyncio.sleep(0)
            else:
                watcher.willing, watcher.broken = step == "take", step == "fail"
                watcher.watch.serve()
        await settle()
        watcher.willing, watcher.broken = True, False
        watcher.watch.serve()
        await settle()
        assert watcher.seen == list(range(2, store.revision + 1))
        await watcher.end()
