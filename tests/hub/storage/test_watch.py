"""Watches: no gap, in order, shared events, slow readers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import CompactedError, Event, EventType, Store, StoreSettings, WatchOverflowError
from tests.hub.storage.stories import BY_HAND, FORGETFUL, PODS, delete, put, record, story, take, tombstone

if TYPE_CHECKING:
    from collections.abc import Sequence
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
async def test_all_kinds_together_keep_so_much_of_the_past_in_memory() -> None:
    settings = StoreSettings(history_bytes=100_000, history_total_bytes=150_000)
    async with Store.open(None, settings) as store:
        for number in range(9):
            kind = ("pods", "nodes", "secrets")[number % 3]
            await store.commit([put(f"a{number}", "", kind, text=" " * 30_000)])
        kept = {name: each.history_bytes for name, each in store._collections.items()}
        assert 90_000 < sum(kept.values()) <= 150_000
        assert all(size > 30_000 for size in kept.values())  # nobody gave everything


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


@story
async def test_a_reader_is_cut_off_by_the_bytes_that_wait_too() -> None:
    async with Store.open(None, StoreSettings(watch_bytes=50_000)) as store:
        slow, quick = store.watch(PODS, "default", 1), store.watch(PODS, None, 1)
        taken = 0
        for _ in range(6):
            await store.commit([put("a", text=" " * 10_000)])
            taken += len(await take(quick, 1))
        with pytest.raises(WatchOverflowError, match="more than 50000 bytes of events were waiting"):
            await anext(slow)
        await store.commit([put("a", text=" " * 90_000)])  # one that is larger alone reaches whoever keeps up
        assert taken + len(await take(quick, 1)) == 7


@story
async def test_how_many_events_may_wait_is_a_setting() -> None:
    async with Store.open(None, StoreSettings(watch_events=3)) as store:
        slow = store.watch(PODS, None, 1)
        for _ in range(4):
            await store.commit([put("a")])
        with pytest.raises(WatchOverflowError, match="more than 3 events were waiting"):
            await anext(slow)


@story
async def test_a_batch_is_small_and_what_it_leaves_comes_next() -> None:
    async with Store.open(None) as store:
        watch = store.watch(PODS, None, 1)
        await store.commit([put(f"p{number}", text=" " * 30_000) for number in range(9)])
        await store.commit([put(f"q{number}") for number in range(1000)])
        batches: list[Sequence[Event]] = []
        while sum(len(batch) for batch in batches) < 1009:
            batches.append(await watch.batch())
        assert max(map(len, batches)) <= 256
        assert max(sum(len(event.record.value) for event in batch) for batch in batches) < 100_000
        assert [event.record.revision for batch in batches for event in batch] == list(range(2, 1011))


@story
async def test_a_past_of_large_objects_is_read_in_parts_that_are_small_in_bytes(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", FORGETFUL) as store:
        for _ in range(12):
            await store.commit([put("a", text=" " * 100_000)])
        watch = store.watch(PODS, None, 1)
        first = await anext(watch)
        waiting = watch._pending_bytes
        assert waiting < 400_000
        assert [event.record.revision for event in (first, *await take(watch, 11))] == list(range(2, 14))


@story
async def test_a_store_knows_how_many_bytes_its_objects_have() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a"), put("b"), put("c", "other"), put("a", text="more")])
        await store.commit([delete("b")])
        for namespace in (None, "default", "other", "none"):
            assert store.size(PODS, namespace) == sum(len(each.value) for each in store.scan(PODS, namespace))
        await store.commit([delete("c", "other"), delete("a")])
        assert (store.size(PODS), store.size("nodes")) == (0, 0)


@story
async def test_rows_are_those_of_one_moment_and_a_sequence() -> None:
    async with Store.open(None) as store:
        await store.commit([put(f"p{number:04}") for number in range(1500)])
        rows = store.rows(PODS, "default", ("default", "p0009"))
        await store.commit([delete("p0020"), put("p0010", text="new")])
        assert (len(rows), rows[0].key.name, rows[-1].key.name) == (1490, "p0010", "p1499")
        assert [each.key.name for each in rows[9:12]] == ["p0019", "p0020", "p0021"]
        assert b"new" not in rows[0].value
        assert [each.key for each in rows] == [rows[place].key for place in range(1490)]
