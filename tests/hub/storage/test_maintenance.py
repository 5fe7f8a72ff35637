"""History that is dropped, the pauses it costs, and a write-ahead log that does not grow for ever."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sqlite3
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import CompactedError, FutureRevisionError, Store, StoreSettings, database
from muster.hub.storage.maintenance import Maintenance
from muster.hub.storage.mark import Extent
from muster.hub.storage.open_files import OpenFiles
from muster.hub.storage.plan import Heads
from muster.hub.storage.writer import Writer
from tests.hub.storage.stories import BY_HAND, PODS, delete, names, put, record, story

if TYPE_CHECKING:
    from pathlib import Path


def log_revisions(path: Path) -> list[int]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [revision for (revision,) in connection.execute("SELECT revision FROM log ORDER BY revision")]


@story
async def test_compaction_drops_what_was_replaced_and_deletions_and_keeps_the_living(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), put("b"), put("a"), delete("b"), put("c"), put("a")])
        assert await store.compact(6) == 6
        assert log_revisions(path) == [4, 6, 7]
        assert await store.scan_at(PODS, None, 6) == [record("a", 4, 2), record("c", 6)]
        assert list(store.scan(PODS)) == [record("a", 7, 2), record("c", 6)]
    async with Store.open(path, BY_HAND) as store:
        assert (store.compacted, store.revision, names(store)) == (6, 7, ["a", "c"])
        with pytest.raises(CompactedError):
            store.watch(PODS, None, 5)


@story
async def test_compaction_may_be_repeated_and_does_not_go_back(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", BY_HAND) as store:
        await store.commit([put("a")] * 9)
        assert [await store.compact(at) for at in (5, 5, 3, 10)] == [5, 5, 5, 10]
        with pytest.raises(FutureRevisionError):
            await store.compact(11)


@story
async def test_a_revision_is_not_given_out_again_after_its_row_was_dropped(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), delete("a")])
        await store.compact(3)
    assert log_revisions(path) == []
    async with Store.open(path, BY_HAND) as store:
        assert store.revision == 3
        assert await store.commit([put("a")]) == [record("a", 4)]


def test_history_is_kept_for_some_time_and_some_revisions(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    settings = StoreSettings(keep_history=timedelta(minutes=5), keep_revisions=100)
    now = 1000.0
    database.create(path)
    files = OpenFiles()
    connect = functools.partial(database.connect, path, writable=True)
    writer = Writer(path, connect, settings, lambda _: None, Extent(), files, Heads(lambda _: None, lambda: 1))
    writer.start()
    maintenance = Maintenance(path, writer, connect, files, settings, compacted=0, clock=lambda: now)
    points = []
    # Each minute 1,000 revisions are written; then there is silence.
    for minute in range(12):
        writer._extent = Extent(min(minute, 7) * 1000)
        maintenance.compact()
        points.append(maintenance.compacted)
        now += 60
    writer.stop()
    assert points == [0, 0, 0, 0, 0, 0, 1000, 2000, 3000, 4000, 5000, 6000]
    writer_keeps = 7000 - 100
    assert maintenance._due() == writer_keeps


@story
async def test_compaction_happens_by_itself(tmp_path: Path) -> None:
    settings = StoreSettings(
        compaction_interval=timedelta(milliseconds=100), keep_history=timedelta(0), keep_revisions=5
    )
    async with Store.open(tmp_path / "hub.db", settings) as store:
        await store.commit([put("a")] * 50)
        deadline = time.monotonic() + 5
        while store.compacted != store.revision - 5 and time.monotonic() < deadline:
            await store.commit([])  # gives other threads their turn
        assert store.compacted == store.revision - 5


@pytest.mark.slow
@story
async def test_writers_have_their_turn_all_through_a_compaction(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", BY_HAND) as store:
        for _ in range(8):
            for start in range(0, 2000, 500):
                await store.commit([put(f"pod-{n}", text=" " * 3000) for n in range(start, start + 500)])
        await store.commit([put("large", text=" " * 3_000_000)])
        await store.commit([put("large", text=" " * 3_000_000)])
        await store.commit([delete(f"pod-{number}") for number in range(1000)])
        compaction = asyncio.create_task(store.compact(store.revision))
        commits = 0
        while not compaction.done():
            await store.commit([put("writer")])
            commits += 1
        assert await compaction > 16_000
        # How long a turn may be waited for is a matter of milliseconds: `make bench AREA=storage` measures it.
        assert commits > 10


@story
async def test_the_file_shrinks_when_most_of_it_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put(f"pod-{number}", text=" " * 3000) for number in range(4000)])
        await store.commit([delete(f"pod-{number}") for number in range(4000)])
        await store.compact(store.revision)
    assert path.stat().st_size < 4000 * 3000 / 2


@pytest.mark.slow
@story
async def test_the_write_ahead_log_starts_over_under_constant_load(tmp_path: Path) -> None:
    settings = StoreSettings(compaction_interval=timedelta(0), checkpoint_bytes=1_000_000)
    async with Store.open(tmp_path / "hub.db", settings) as store:
        end = time.monotonic() + 4
        written = 0

        async def write(number: int) -> None:
            nonlocal written
            while time.monotonic() < end:
                await store.commit([put(f"pod-{number}", text=" " * 30_000)])
                written += 30_000

        await asyncio.gather(*(write(number) for number in range(8)))
        size = (tmp_path / "hub.db-wal").stat().st_size
        assert written > 30_000_000
        assert size < written / 2


@story
async def test_small_objects_do_not_make_a_large_write_ahead_log(tmp_path: Path) -> None:
    """Every commit fills some pages, however little it says: the log is measured by what is in it."""
    settings = StoreSettings(compaction_interval=timedelta(0), checkpoint_bytes=500_000)
    log = database.wal_path(tmp_path / "hub.db")
    largest = 0
    async with Store.open(tmp_path / "hub.db", settings) as store:
        for number in range(1_000):
            await store.commit([put(f"pod-{number * 7919 % 1_000}")])
            largest = max(largest, log.stat().st_size)
    assert largest < 8_000_000  # without checkpoints it would be 16 MB


@story
async def test_a_log_that_a_long_read_has_kept_is_cut_once_the_read_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LARGEST_KEPT_LOG", 500_000)
    path = tmp_path / "hub.db"
    log = database.wal_path(path)
    settings = StoreSettings(compaction_interval=timedelta(0), checkpoint_bytes=500_000)
    async with Store.open(path, settings) as store:
        with contextlib.closing(database.connect(path, writable=False)) as reader, database.transaction(reader):
            reader.execute("SELECT COUNT(*) FROM log").fetchone()
            for number in range(100):
                await store.commit([put(f"pod-{number}", text=" " * 30_000)])
            assert log.stat().st_size > 3_000_000
        deadline = time.monotonic() + 10
        while log.stat().st_size > 1_000_000 and time.monotonic() < deadline:
            await store.commit([put("pod-0", text=" " * 5_000)])
        assert log.stat().st_size <= 1_000_000
