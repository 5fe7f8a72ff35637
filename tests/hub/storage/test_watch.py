"""Watches: no gap, in order, shared events, slow readers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import CompactedError, Event, EventType, Store, StoreSettings, WatchOverflowError
from tests.hub.storage.stories import BY_HAND, FORGETFUL, PODS, delete, put, record, story, take, tombstone

if TYPE_CHECKING:
    from pathlib import Path

    from muster.hub.storage import Watch

HISTORY = [
    Event(EventType.ADDED, record("a", 2), None),
    Event(EventType.MODIFIED, record("a", 3, 2), record("a", 2)),
    Event(EventType.DELETED, tombstone("a", 4, 2), record("a", 3, 2)),
    Event(EventType.ADDED, record("a", 5), None),
]


@story
async def test_a_watch_tells_what_happened_and_what_was_there_before() -> None:
    async with Store.open(None) as store:
        watch = store.watch(PODS, None, store.revision)
        await store.commit([put("a"), put("a")])
        await store.commit([delete("a"), put("a"), put("n", "", "nodes")])
        assert await take(watch, 4) == HISTORY


@pytest.mark.parametrize("settings", [BY_HAND, FORGETFUL], ids=["from memory", "from the log"])
@pytest.mark.parametrize("after", [1, 2, 3, 4])
@story
async def test_a_watch_may_begin_in_the_past(after: int, settings: StoreSettings) -> None:
    async with Store.open(None, settings) as store:
        await store.commit([put("a"), put("a"), delete("a"), put("a")])
        watch = store.watch(PODS, "default", after)
        first = await take(watch, 5 - after)
        await store.commit([put("elsewhere", "other"), put("b")])
        assert first + await take(watch, 1) == [*HISTORY[after - 1 :], Event(EventType.ADDED, record("b", 7), None)]


@story
async def test_a_watch_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path) as store:
        await store.commit([put("a"), put("a")])
    async with Store.open(path) as store:
        watch = store.watch(PODS, None, 1)
        await store.commit([delete("a"), put("a")])
        assert await take(watch, 4) == HISTORY


@story
async def test_a_long_past_is_read_in_parts_while_writing_goes_on(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", StoreSettings(history_events=50)) as store:
        for start in range(0, 1300, 100):
            await store.commit([put(f"pod-{number}") for number in range(start, start + 100)])
        watch = store.watch(PODS, None, 1)
        writing = asyncio.create_task(_write(store, 200))
        revisions = [event.record.revision for event in await take(watch, 1500)]
        await writing
        assert revisions == list(range(2, 1502))


async def _write(store: Store, count: int) -> None:
    for number in range(count):
        await store.commit([put(f"more-{number}")])


@story
async def test_a_watch_below_the_compaction_point_is_refused_at_once() -> None:
    async with Store.open(None, BY_HAND) as store:
        await store.commit([put("a"), put("a")])
        await store.compact(3)
        with pytest.raises(CompactedError):
            store.watch(PODS, None, 2)
        watch = store.watch(PODS, None, 3)
        await store.commit([put("b")])
        assert await take(watch, 1) == [Event(EventType.ADDED, record("b", 4), None)]


@story
async def test_a_watch_that_compaction_overtakes_says_so() -> None:
    async with Store.open(None, FORGETFUL) as store:
        await store.commit([put("a"), put("a"), put("a")])
        watch = store.watch(PODS, None, 2)
        await store.compact(4)
        with pytest.raises(CompactedError):
            await anext(watch)


@story
async def test_a_watch_from_a_revision_to_come_starts_there() -> None:
    async with Store.open(None) as store:
        watch = store.watch(PODS, None, 3)
        await store.commit([put("a"), put("a"), delete("a")])
        assert await take(watch, 1) == HISTORY[2:3]


@story
async def test_a_slow_reader_is_cut_off_and_others_are_not() -> None:
    async with Store.open(None) as store:
        slow, quick = store.watch(PODS, None, 1, buffer=10), store.watch(PODS, None, 1, buffer=100)
        for _ in range(11):
            await store.commit([put("a")])
        with pytest.raises(WatchOverflowError, match="more than 10 events were waiting"):
            await anext(slow)
        assert len(await take(quick, 11)) == 11


@story
async def test_a_commit_larger_than_the_buffer_reaches_a_reader_that_keeps_up() -> None:
    async with Store.open(None) as store:
        watch = store.watch(PODS, None, 1, buffer=10)
        await store.commit([put("a")] * 20)
        assert len(await take(watch, 20)) == 20


@story
async def test_waiting_events_do_not_hold_more_memory_than_the_history() -> None:
    settings = StoreSettings(history_bytes=100_000)
    async with Store.open(None, settings) as store:
        slow, idle = store.watch(PODS, None, 1), store.watch("nodes", None, 1)
        for _ in range(5):
            await store.commit([put("a", text=" " * 30_000)])
        with pytest.raises(WatchOverflowError, match="too large to keep"):
            await anext(slow)
        await store.commit([put("n", "", "nodes")])
        assert len(await take(idle, 1)) == 1


@story
async def test_thousands_of_watchers_share_one_event_and_its_encodings() -> None:
    async with Store.open(None) as store:
        watches = [store.watch(PODS, None, 1) for _ in range(2000)]
        elsewhere = [store.watch(PODS, f"namespace-{number}", 1) for number in range(2000)]
        others = [store.watch("nodes", None, 1) for _ in range(2000)]
        await store.commit([put("a")])
        received = [(await take(watch, 1))[0] for watch in watches]
        assert len({id(event) for event in received}) == 1
        received[0].encodings["line"] = b"made once"
        assert received[-1].encodings == {"line": b"made once"}
        # Those who watch something else were not even queued to.
        assert not any(watch._pending for watch in elsewhere + others)


@story
async def test_a_batch_is_everything_that_waits() -> None:
    async with Store.open(None) as store:
        watch = store.watch(PODS, None, 1)
        await store.commit([put("a"), put("a"), delete("a")])
        await store.commit([put("a")])
        assert list(await watch.batch()) == HISTORY


@story
async def test_closing_a_watch_or_the_store_ends_the_iteration() -> None:
    store = Store.open(None)
    one, two = store.watch(PODS, None, 1), store.watch(PODS, "default", 1)
    readers = [asyncio.create_task(_count(one)), asyncio.create_task(_count(two))]
    await store.commit([put("a")])
    await asyncio.sleep(0)
    one.close()
    await store.close()
    assert await asyncio.gather(*readers) == [1, 1]
    assert await _count(store.watch(PODS, None, 1)) == 0


async def _count(watch: Watch) -> int:
    return len([event async for event in watch])
