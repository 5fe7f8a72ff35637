"""Damage is noticed: a start has everything that was acknowledged, or is refused with what is missing."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import CorruptDatabaseError, LostWritesError, Store, accept_loss, back_up, examine, restore
from muster.hub.storage.backup import REVISION_LEAP
from muster.hub.storage.mark import Extent, Mark, MarkFile, mark_path, read_mark
from tests.hub.storage import damage, kills
from tests.hub.storage.stories import BY_HAND, PODS, delete, names, put, record, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def killed_hub(path: Path, objects: int = 300, *, clean: int = 10) -> Path:
    """Some objects in the database, and then many that are in the write-ahead log only when the process dies."""

    async def fill() -> None:
        async with Store.open(path, BY_HAND) as store:
            await store.commit([put(f"pod-{number}") for number in range(clean)])
        store = Store.open(path, BY_HAND)
        for number in range(clean, objects):
            await store.commit([put(f"pod-{number}")])
        os._exit(0)

    if (child := os.fork()) == 0:
        asyncio.run(fill())
    assert os.waitpid(child, 0)[1] == 0
    return path


def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _overwrite_three_bytes(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(5000)
        file.write(b"???")


def _cut_to_half(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


@pytest.mark.parametrize("harm", [_overwrite_three_bytes, _cut_to_half, os.unlink])
def test_a_damaged_write_ahead_log_is_refused_with_a_count(harm: Callable[[Path], None], tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 60)
    harm(wal(path))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.endswith(("-shm", "-lock"))}
    with pytest.raises(LostWritesError) as caught:
        Store.open(path)
    error = caught.value
    assert error.acknowledged == 61
    assert error.found is not None
    assert 11 <= error.found < 61
    assert "writes up to revision 61 were acknowledged, but the database with its write-ahead log ends at" in str(error)
    assert f"ends at revision {error.found}: {61 - error.found} change" in str(error)
    assert "Restore a backup with `muster hub restore`" in str(error)
    assert "`muster hub repair --accept-loss`" in str(error)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


@story
async def test_an_undamaged_log_of_a_killed_process_is_complete(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 60)
    assert examine(path).objects == 60
    async with Store.open(path) as store:
        assert len(names(store)) == 60


def test_accepting_the_loss_goes_on_far_ahead_and_keeps_what_was_there(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 60)
    _cut_to_half(wal(path))
    accepted = accept_loss(path)
    assert 10 <= accepted.objects < 60
    assert accepted.revision == 61 + REVISION_LEAP
    assert accepted.replaced is not None
    assert accepted.replaced.exists()
    assert accepted.replaced.with_name(accepted.replaced.name + "-mark").exists()

    async def go_on() -> None:
        async with Store.open(path) as store:
            assert len(names(store)) == accepted.objects
            assert await store.commit([put("new")]) == [record("new", 62 + REVISION_LEAP)]

    asyncio.run(go_on())
    assert examine(path).revision == 62 + REVISION_LEAP


def test_accepting_the_loss_of_everything_begins_far_ahead(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 20)
    path.unlink()
    wal(path).unlink()
    with pytest.raises(LostWritesError, match="up to revision 21 were acknowledged, but the database is missing"):
        Store.open(path)
    accepted = accept_loss(path)
    assert (accepted.objects, accepted.revision) == (0, 21 + REVISION_LEAP)
    asyncio.run(Store.open(path).close())


def test_a_backup_that_is_restored_over_damage_leaps_beyond_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    killed_hub(path, 20)
    back_up(path, tmp_path / "backup.db")
    killed_hub(path, 50)
    wal(path).unlink()
    restored = restore(tmp_path / "backup.db", path)
    assert (restored.objects, restored.revision) == (20, examined_leap(path))
    asyncio.run(Store.open(path).close())


def examined_leap(path: Path) -> int:
    """The mark of what was replaced knew the newest revision."""
    [replaced] = path.parent.glob("hub.db.replaced-*-mark")
    mark = read_mark(replaced.with_name(replaced.name.removesuffix("-mark")))
    assert mark is not None
    return mark.extent.revision + REVISION_LEAP


def test_what_has_lost_something_is_not_backed_up(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 30)
    wal(path).unlink()
    with pytest.raises(LostWritesError, match=r"up to revision 31 were acknowledged.*is not backed up"):
        back_up(path, tmp_path / "backup.db")
    assert not (tmp_path / "backup.db").exists()


@pytest.mark.parametrize("what", [("hub.db",), ("hub.db", "hub.db-wal"), ("hub.db", "hub.db-wal", "hub.db-mark")])
def test_an_older_copy_is_not_taken_for_the_present(what: tuple[str, ...], tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 20)
    older = tmp_path / "older"
    shutil.copytree(tmp_path, older)
    asyncio.run(_delete_one_and_close(path))
    for name in what:
        (tmp_path / name).unlink(missing_ok=True)
        shutil.copyfile(older / name, tmp_path / name)
    with pytest.raises(CorruptDatabaseError):
        Store.open(path)


async def _delete_one_and_close(path: Path) -> None:
    async with Store.open(path, BY_HAND) as store:
        await store.commit([delete("pod-3")])


@story
async def test_rows_from_another_time_are_noticed_though_every_checksum_is_right(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), put("b")])
        await store.commit([put("a")])
    with sqlite3.connect(path) as connection:  # what a page from another time looks like
        connection.execute("UPDATE current SET revision = 2 WHERE name = 'a'")
    connection.close()
    with pytest.raises(LostWritesError, match="they are not the 2 that were acknowledged"):
        Store.open(path)


def test_a_hole_in_the_history_is_noticed(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 20)
    asyncio.run(_delete_one_and_close(path))
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM log WHERE operation = 3")
        connection.execute("UPDATE meta SET value = 22 WHERE name = 'compacted'")
        connection.execute("UPDATE meta SET value = 3 WHERE name = 'compacted'")
        connection.execute("DELETE FROM log WHERE revision = 5")
    connection.close()
    with pytest.raises(CorruptDatabaseError):
        Store.open(path)


@story
async def test_a_lost_mark_is_made_anew_from_its_witness(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 20)
    mark_path(path).unlink()
    async with Store.open(path) as store:
        assert len(names(store)) == 20
    assert mark_path(path).exists()
    wal(path).unlink(missing_ok=True)
    mark_path(path).write_bytes(b"no mark")
    assert examine(path).objects == 20


def test_without_mark_and_witness_it_is_said_that_nothing_can_be_told(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 20)
    mark_path(path).unlink()
    (tmp_path / "hub.db-lock").unlink()
    with pytest.raises(CorruptDatabaseError, match=r"ends at revision 21, and its mark hub\.db-mark is missing"):
        Store.open(path)
    mark_path(path).write_bytes(os.urandom(1024))
    with pytest.raises(CorruptDatabaseError, match=r"hub\.db-mark: is damaged"):
        Store.open(path)
    assert accept_loss(path).objects == 20
    asyncio.run(Store.open(path).close())


def test_the_mark_of_another_hub_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    path = killed_hub(tmp_path / "one" / "hub.db", 20)
    other = killed_hub(tmp_path / "two" / "hub.db", 30)
    shutil.copyfile(mark_path(other), mark_path(path))
    with pytest.raises(CorruptDatabaseError, match="is not the database of its mark"):
        Store.open(path)


@story
async def test_a_crash_between_commit_and_mark_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), put("b")])
    behind = {name: (tmp_path / name).read_bytes() for name in ("hub.db-mark", "hub.db-lock")}
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), delete("b"), put("c"), put("c")])
    for name, content in behind.items():
        (tmp_path / name).write_bytes(content)
    async with Store.open(path, BY_HAND) as store:
        assert names(store) == ["a", "c"]
    mark = read_mark(path)
    assert mark is not None
    assert (mark.extent.revision, mark.extent.objects) == (7, 2)


@story
async def test_a_crash_while_the_first_mark_is_made_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    # Before the database knows of its mark, and after.
    MarkFile.create(path, Mark(5, Extent(), settled=False)).close()
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a")])
    with sqlite3.connect(path) as connection:
        identity = connection.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()[0]
    connection.close()
    (tmp_path / "hub.db-lock").unlink()
    MarkFile.create(path, Mark(identity, Extent(), settled=False)).close()
    async with Store.open(path, BY_HAND) as store:
        assert names(store) == ["a"]


def test_the_damage_matrix_has_no_fault() -> None:
    counts, faults = damage.run(places=3, seed=3, bases=1, talk=False)
    assert faults == []
    assert {deed for _, deed, _ in counts} == set(damage.DEEDS)


def test_nothing_is_lost_by_kills_under_load(tmp_path: Path) -> None:
    tally = kills.kill_stores(tmp_path / "hub.db", 4, seed=5)
    assert tally.faults == []
    assert tally.least >= 5
    assert tally.events > tally.acknowledged


@pytest.mark.e2e
@pytest.mark.slow
def test_nothing_is_lost_by_kills_of_whole_servers(tmp_path: Path) -> None:
    tally = kills.kill_servers(tmp_path, 2, seed=5)
    assert tally.faults == []


def test_objects_of_a_mark_are_those_of_now(tmp_path: Path) -> None:
    path = killed_hub(tmp_path / "hub.db", 25)
    mark = read_mark(path)
    assert mark is not None
    assert mark.extent == examine(path)
    assert asyncio.run(_count(path)) == mark.extent.objects


async def _count(path: Path) -> int:
    async with Store.open(path) as store:
        return store.count(PODS)
