"""Backups taken while writing goes on, and restores that never make things worse."""

from __future__ import annotations

import asyncio
import fcntl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import (
    BackupError,
    CompactedError,
    CorruptDatabaseError,
    DatabaseInUseError,
    ForeignDatabaseError,
    Restored,
    Store,
    back_up,
    restore,
)
from muster.hub.storage.backup import REVISION_LEAP
from tests.hub.storage.stories import BY_HAND, PODS, delete, names, put, record, story
from tests.hub.storage.test_database import a_database, a_database_of_version_1

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@story
async def test_a_backup_is_the_state_of_one_moment_while_writing_goes_on(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", BY_HAND) as store:
        await store.commit([put(f"old-{number}", text=" " * 3000) for number in range(2000)])
        writing = asyncio.create_task(_write_pairs(store))
        await asyncio.sleep(0.05)
        await store.backup(tmp_path / "backup.db")
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        newest = store.revision
    restore(tmp_path / "backup.db", tmp_path / "other.db")
    async with Store.open(tmp_path / "other.db") as store:
        pairs = [found.key.name for found in store.scan("pairs")]
        assert store.count(PODS) == 2000
        assert 0 < len(pairs) < newest
        # A commit is in it whole or not at all, and nothing is missing in between.
        assert sorted(pairs) == sorted(f"{side}-{n}" for side in ("left", "right") for n in range(len(pairs) // 2))


async def _write_pairs(store: Store) -> None:
    number = 0
    while True:
        await store.commit([put(f"left-{number}", resource="pairs"), put(f"right-{number}", resource="pairs")])
        number += 1


def test_a_backup_can_be_taken_from_another_process_and_is_one_file(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    script = (
        "import sys; from pathlib import Path; from muster.hub.storage import back_up;"
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
    )

    async def while_open() -> None:
        async with Store.open(path) as store:
            await store.commit([put("latest")])
            process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, path, tmp_path / "backup.db")
            assert await process.wait() == 0

    asyncio.run(while_open())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup.db", "hub.db", "hub.db-lock", "hub.db-mark"]
    assert restore(tmp_path / "backup.db", tmp_path / "other.db").objects == 51


@story
async def test_a_restored_store_never_gives_out_a_revision_twice(tmp_path: Path) -> None:
    path, saved = tmp_path / "hub.db", tmp_path / "backup.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a"), put("b")])
        await store.commit([put("a"), delete("b")])
        await store.backup(saved)
        await store.commit([put("lost"), put("lost-too")])
        newest = store.revision
    restored = restore(saved, path)
    assert (restored.objects, restored.revision) == (1, newest + REVISION_LEAP)
    async with Store.open(path, BY_HAND) as store:
        assert list(store.scan(PODS)) == [record("a", 4, 2)]
        assert store.revision == newest + REVISION_LEAP
        with pytest.raises(CompactedError):
            store.watch(PODS, None, newest)
        assert await store.commit([put("c")]) == [record("c", newest + REVISION_LEAP + 1)]
        assert await store.scan_at(PODS, None, newest + REVISION_LEAP) == [record("a", 4, 2)]
        assert await store.compact(store.revision) == store.revision


@story
async def test_what_a_restore_replaces_is_kept(tmp_path: Path) -> None:
    path, saved = tmp_path / "hub.db", tmp_path / "backup.db"
    async with Store.open(path) as store:
        await store.commit([put("a")])
        await store.backup(saved)
        await store.commit([put("b")])
    replaced = restore(saved, path).replaced
    assert replaced is not None
    async with Store.open(replaced) as store:
        assert names(store) == ["a", "b"]
    async with Store.open(path) as store:
        assert names(store) == ["a"]


@story
async def test_a_running_hub_is_not_restored_over(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db") as store:
        await store.commit([put("a")])
        await store.backup(tmp_path / "backup.db")
        with pytest.raises(DatabaseInUseError):
            restore(tmp_path / "backup.db", tmp_path / "hub.db")
        assert await store.commit([put("b")]) == [record("b", 3)]


@pytest.mark.parametrize("place", [3 * 4096, -2000])
def test_a_damaged_backup_is_refused_and_the_database_stays(place: int, tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    back_up(path, tmp_path / "backup.db")
    content = bytearray((tmp_path / "backup.db").read_bytes())
    content[place : place + 500] = b"x" * 500
    (tmp_path / "backup.db").write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(CorruptDatabaseError, match=r"backup\.db: is damaged"):
        restore(tmp_path / "backup.db", path)
    assert path.read_bytes() == before
    assert not [file.name for file in tmp_path.iterdir() if file.name.endswith(".partial")]


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a backup")
    with pytest.raises(ForeignDatabaseError):
        restore(tmp_path / "notes.txt", tmp_path / "hub.db")
    assert not (tmp_path / "hub.db").exists()


def test_a_file_of_another_program_is_not_restored_over(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    (tmp_path / "notes.txt").write_text("dear diary")
    with pytest.raises(BackupError, match="only a Muster database is replaced"):
        restore(path, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "dear diary"


def test_a_damaged_database_can_be_restored_over_and_its_log_is_not_applied(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    back_up(path, tmp_path / "backup.db")
    script = (
        "import asyncio, os, sys; from pathlib import Path; from muster.hub.storage import Store;"
        "from tests.hub.storage.stories import put\n"
        "async def main():\n"
        "    store = Store.open(Path(sys.argv[1]))\n"
        "    await store.commit([put('in-the-log')])\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )
    subprocess.run([sys.executable, "-c", script, path], check=False)
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 4 * 4096] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(CorruptDatabaseError):
        Store.open(path)
    restored = restore(tmp_path / "backup.db", path)
    assert restored.replaced is not None
    assert restored == Restored(50, 52 + REVISION_LEAP, restored.replaced)  # the mark knew of 52
    asyncio.run(_expect_objects(path, 50))


async def _expect_objects(path: Path, count: int) -> None:
    async with Store.open(path) as store:
        assert store.count(PODS) == count


def test_an_older_backup_is_migrated(tmp_path: Path) -> None:
    a_database_of_version_1(tmp_path / "backup.db")
    assert restore(tmp_path / "backup.db", tmp_path / "hub.db").objects == 2
    asyncio.run(_expect_objects(tmp_path / "hub.db", 2))


def test_a_backup_does_not_overwrite_by_accident(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    (tmp_path / "precious").write_text("precious")
    with pytest.raises(BackupError, match="precious: exists; choose another name"):
        back_up(path, tmp_path / "precious")
    with pytest.raises(BackupError, match="is the database itself"):
        back_up(path, path, overwrite=True)
    with pytest.raises(BackupError, match="does not exist"):
        back_up(tmp_path / "nothing", tmp_path / "backup.db")
    back_up(path, tmp_path / "precious", overwrite=True)
    assert restore(tmp_path / "precious", tmp_path / "other.db").objects == 50


def test_what_a_killed_backup_has_left_is_removed_by_the_next_one_and_by_the_next_start(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    removers: list[Callable[[], None]] = [
        lambda: back_up(path, tmp_path / "second.db"),
        lambda: asyncio.run(_expect_objects(path, 50)),
    ]
    for remover in removers:
        script = (
            "import os, sys; from pathlib import Path; from muster.hub.storage import backup\n"
            "backup._sync_file = lambda _: os.kill(os.getpid(), 9)\n"
            "backup.back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
        )
        subprocess.run([sys.executable, "-c", script, path, tmp_path / "first.db"], check=False)
        assert len(list(tmp_path.glob(".first.db.*.partial*"))) == 1
        remover()
        assert list(tmp_path.glob(".*partial*")) == []


def test_partial_files_of_others_and_those_in_the_making_stay(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    foreign = {
        ".letter.partial": b"",
        ".letter.db.0123.partial": b"",
        f".letter.{'0' * 32}.partial": b"dear diary",
        f"letter.{'0' * 32}.partial": b"",
    }
    for name, content in foreign.items():
        (tmp_path / name).write_bytes(content)
    making = tmp_path / f".other.db.{'a' * 32}.partial"
    making.touch()
    with making.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        back_up(path, tmp_path / "backup.db")
    assert {file.name for file in tmp_path.glob("*partial")} | {file.name for file in tmp_path.glob(".*partial")} == {
        *foreign,
        making.name,
    }
    back_up(path, tmp_path / "another.db")
    assert not making.exists()


@pytest.mark.e2e
@pytest.mark.slow
def test_a_backup_that_is_told_to_end_tidies_up_and_a_restore_says_where_it_leaps_to(tmp_path: Path) -> None:
    a_database(tmp_path / "muster.db")
    muster = [sys.executable, "-m", "muster", "hub"]
    slow = (
        "import sys, time; from muster.hub.storage import backup; from muster.cli.main import main\n"
        "backup._sync_file = lambda _: (print('copied', flush=True), time.sleep(60))\n"
        "sys.argv[0] = 'muster'; main()"
    )
    command = [sys.executable, "-c", slow, "hub", "backup", str(tmp_path / "b.db"), "--data", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as backing_up:
        assert backing_up.stdout is not None
        assert backing_up.stdout.readline() == "copied\n"
        backing_up.terminate()
        assert backing_up.wait() != 0
    assert list(tmp_path.glob(".*partial*")) == []
    subprocess.run([*muster, "backup", tmp_path / "b.db", "--data", tmp_path], check=True, capture_output=True)
    restored = subprocess.run(
        [*muster, "restore", tmp_path / "b.db", "--data", tmp_path], check=True, capture_output=True, text=True
    )
    assert f"the next one is {52 + REVISION_LEAP}" in restored.stdout
    told = subprocess.run([*muster, "repair", "--data", tmp_path], check=True, capture_output=True, text=True)
    assert f"50 objects at revision {51 + REVISION_LEAP}; everything acknowledged is there" in told.stdout
