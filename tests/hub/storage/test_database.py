"""Files that are opened, migrated or refused. What is refused stays byte for byte as it was."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.hub.storage import (
    CorruptDatabaseError,
    DatabaseInUseError,
    DatabaseRefusedError,
    ForeignDatabaseError,
    NewerSchemaError,
    StorageUnavailableError,
    Store,
)
from muster.hub.storage.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from tests.hub.storage.stories import BY_HAND, PODS, delete, names, put, record, story

if TYPE_CHECKING:
    from collections.abc import Callable


def a_database(path: Path, objects: int = 50) -> Path:
    """A closed database with some objects of 3 KB."""

    async def fill() -> None:
        async with Store.open(path, BY_HAND) as store:
            await store.commit([put(f"pod-{number}", text=" " * 3000) for number in range(objects)])

    asyncio.run(fill())
    return path


def alter(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def refusal(path: Path) -> DatabaseRefusedError:
    """The error of opening a file, which must not change it."""
    before = path.read_bytes()
    with pytest.raises(DatabaseRefusedError) as caught:
        Store.open(path)
    assert path.read_bytes() == before
    assert str(path) in str(caught.value)
    return caught.value


@pytest.mark.parametrize("content", [b"dear diary", b"\x00" * 5000, b"SQLite format 3\x00", os.urandom(9000)])
def test_a_file_that_is_no_database_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    path.write_bytes(content)
    error = refusal(path)
    assert isinstance(error, ForeignDatabaseError)
    assert "is not a SQLite database" in str(error)
    assert [file.name for file in tmp_path.iterdir()] == ["hub.db"]


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    alter(path, "CREATE TABLE log (revision INTEGER PRIMARY KEY)")
    error = refusal(path)
    assert isinstance(error, ForeignDatabaseError)
    assert "is a SQLite database of another program" in str(error)


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    alter(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    error = refusal(path)
    assert isinstance(error, NewerSchemaError)
    assert f"schema version {SCHEMA_VERSION + 1}, this one knows up to {SCHEMA_VERSION}" in str(error)


def test_a_newer_version_that_only_the_write_ahead_log_knows_of_is_refused(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    script = (
        f"import os, sqlite3; c = sqlite3.connect({str(path)!r}, isolation_level=None);"
        f"c.execute('PRAGMA user_version = {SCHEMA_VERSION + 1}'); os.kill(os.getpid(), {signal.SIGKILL})"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    wal = tmp_path / "hub.db-wal"
    before = wal.read_bytes()
    assert len(before) > 0
    assert isinstance(refusal(path), NewerSchemaError)
    assert wal.read_bytes() == before


def _zero_a_page(content: bytearray) -> None:
    content[3 * 4096 : 4 * 4096] = bytes(4096)


def _cut_the_end(content: bytearray) -> None:
    del content[len(content) // 2 :]


def _flip_a_bit_of_a_value(content: bytearray) -> None:
    content[content.rindex(b" " * 1000) + 500] ^= 1


def _scribble(content: bytearray) -> None:
    content[5000:9000] = random.Random(7).randbytes(4000)


@pytest.mark.parametrize("damage", [_zero_a_page, _cut_the_end, _flip_a_bit_of_a_value, _scribble])
def test_a_damaged_database_is_refused(damage: Callable[[bytearray], None], tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    error = refusal(path)
    assert isinstance(error, CorruptDatabaseError)
    assert "is damaged and has been left untouched; restore a backup" in str(error)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(1, 255)), min_size=1, max_size=5))
def test_a_file_with_flipped_bits_is_refused_unchanged_or_read_as_it_was(flips: list[tuple[int, int]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = a_database(Path(directory, "hub.db"), objects=8)
        content = bytearray(path.read_bytes())
        for place, bits in flips:
            content[place % len(content)] ^= bits
        path.write_bytes(content)
        try:
            store = Store.open(path, BY_HAND)
        except (DatabaseRefusedError, StorageUnavailableError):
            assert path.read_bytes() == content
            return
        found = [(seen.key.name, seen.revision) for seen in store.scan(PODS)]
        asyncio.run(store.close())
        assert found == [(f"pod-{number}", number + 2) for number in range(8)]


def test_rows_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    path = a_database(tmp_path / "hub.db")
    alter(path, "DELETE FROM log WHERE revision = 7")
    assert isinstance(refusal(path), CorruptDatabaseError)


def test_a_write_ahead_log_without_its_database_is_not_taken_for_a_fresh_start(tmp_path: Path) -> None:
    (tmp_path / "hub.db-wal").write_bytes(b"acknowledged writes")
    with pytest.raises(CorruptDatabaseError, match="is missing, but its write-ahead log"):
        Store.open(tmp_path / "hub.db")


@story
async def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    path.touch()
    async with Store.open(path) as store:
        assert await store.commit([put("a")]) == [record("a", 2)]


def test_a_directory_is_not_a_database(tmp_path: Path) -> None:
    (tmp_path / "hub.db").mkdir()
    with pytest.raises(StorageUnavailableError, match="cannot read the database: Is a directory"):
        Store.open(tmp_path / "hub.db")


def a_database_of_version_1(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        MIGRATIONS[0](connection)
        connection.execute("INSERT INTO resource VALUES (1, 'pods')")
        rows = [
            (2, 1, "default", "a", 1, 2, 0, record("a", 2).value),
            (3, 1, "default", "b", 1, 3, 0, record("b", 3).value),
            (4, 1, "default", "a", 2, 2, 2, record("a", 4, 2).value),
        ]
        connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT INTO current VALUES (1, 'default', 'a', 4, 2), (1, 'default', 'b', 3, 3)")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")


@story
async def test_an_older_database_is_migrated_with_its_history(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    a_database_of_version_1(path)
    async with Store.open(path, BY_HAND) as store:
        assert list(store.scan(PODS)) == [record("a", 4, 2), record("b", 3)]
        assert await store.scan_at(PODS, None, 3) == [record("a", 2), record("b", 3)]
        assert await store.commit([delete("b"), put("c", expected=0)])
    async with Store.open(path, BY_HAND) as store:
        assert names(store) == ["a", "c"]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


@story
async def test_a_migrated_database_has_the_same_tables_as_a_new_one(tmp_path: Path) -> None:
    a_database_of_version_1(tmp_path / "old.db")
    layouts = []
    for name in ("old.db", "new.db"):
        async with Store.open(tmp_path / name):
            pass
        with contextlib.closing(sqlite3.connect(tmp_path / name)) as connection:
            layouts.append(connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall())
    assert layouts[0] == layouts[1]


def test_a_migration_that_fails_leaves_the_old_version(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    a_database_of_version_1(path)
    alter(path, "ALTER TABLE log ADD COLUMN checksum")  # in the way of the migration
    with pytest.raises(StorageUnavailableError, match="cannot bring the database from schema version 1 to 3"):
        Store.open(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert connection.execute("SELECT COUNT(*) FROM log").fetchone() == (3,)


@story
async def test_a_second_hub_on_the_same_file_is_refused_until_the_first_has_closed(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    (tmp_path / "link.db").symlink_to(path)
    async with Store.open(path):
        for other_name in (path, tmp_path / "link.db"):
            with pytest.raises(DatabaseInUseError, match=f"is in use by process {os.getpid()}; only one hub"):
                Store.open(other_name)
    async with Store.open(path):
        pass


@pytest.mark.e2e
def test_the_lock_of_a_killed_hub_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    script = (
        "import sys, time; from pathlib import Path; from muster.hub.storage import Store;"
        "store = Store.open(Path(sys.argv[1])); print('open', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True) as hub:
        assert hub.stdout is not None
        assert hub.stdout.readline() == "open\n"
        with pytest.raises(DatabaseInUseError, match=f"is in use by process {hub.pid}"):
            Store.open(path)
        hub.kill()
        hub.wait()
        asyncio.run(Store.open(path).close())
