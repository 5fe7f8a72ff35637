"""A disk that is full or read-only: writes fail with a clear text, reads go on, nothing is lost, writing resumes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import subprocess
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import StorageUnavailableError, Store, back_up, restore
from tests.hub.storage.stories import BY_HAND, FORGETFUL, PODS, names, put, record, story, take
from tests.hub.storage.test_damage import killed_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def no_file_may_grow_beyond(size: int) -> Iterator[None]:
    """What a full disk looks like to a process that may not mount one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def fill_up(store: Store) -> int:
    """Write until nothing more can be written; how many objects were acknowledged."""
    for number in range(10_000):
        try:
            await store.commit([put(f"pod-{number:05d}", text=" " * 20_000)])
        except StorageUnavailableError:
            return number
    raise AssertionError("the disk did not fill up")


@story
async def test_writing_resumes_after_a_failure_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, FORGETFUL) as store:
        watch = store.watch(PODS, None, 1)
        with no_file_may_grow_beyond(1_000_000):
            acknowledged = await fill_up(store)
            assert acknowledged > 10
            assert bool(store.problem)
            with pytest.raises(StorageUnavailableError):
                await store.commit([put("refused", text=" " * 1_000_000)])
            assert store.count(PODS) == acknowledged
            assert len(await store.scan_at(PODS, None, 5)) == 4
            assert len(await take(watch, acknowledged)) == acknowledged
        assert await store.commit([put("resumed")]) == [record("resumed", acknowledged + 2)]
        assert not store.problem
        assert [event.record.key.name for event in await take(watch, 1)] == ["resumed"]
        kept = names(store)
    async with Store.open(path) as store:
        assert names(store) == kept
        assert len(kept) == acknowledged + 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 4 MB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)


@story
async def test_a_full_disk_is_named_and_left_behind_once_there_is_space(small_disk: Path) -> None:
    path = small_disk / "hub.db"
    (small_disk / "ballast").write_bytes(bytes(2_000_000))
    async with Store.open(path, BY_HAND) as store:
        acknowledged = await fill_up(store)
        with pytest.raises(StorageUnavailableError, match="the disk is full: nothing can be written until there is"):
            await store.commit([put("refused", text=" " * 100_000)])
        assert store.count(PODS) == acknowledged
        (small_disk / "ballast").unlink()
        await store.commit([put("resumed")])
    async with Store.open(path) as store:
        assert len(names(store)) == acknowledged + 1


@story
async def test_a_file_system_that_turns_read_only_can_still_be_read(small_disk: Path) -> None:
    path = small_disk / "hub.db"
    async with Store.open(path, FORGETFUL) as store:
        await store.commit([put("a"), put("a"), put("a")])
    _remount(small_disk, "ro")
    async with Store.open(path, FORGETFUL) as store:
        assert store.problem == "the database is read-only: nothing can be written"
        assert list(store.scan(PODS)) == [record("a", 4, 2)]
        assert await store.scan_at(PODS, None, 2) == [record("a", 2)]
        with pytest.raises(StorageUnavailableError, match="the database is read-only: nothing can be written"):
            await store.commit([put("b")])
        _remount(small_disk, "rw")
        assert await store.commit([put("b")]) == [record("b", 5)]
        assert await store.scan_at(PODS, None, 4) == [record("a", 4, 2)]


def _remount(directory: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", directory], check=True)


@story
async def test_a_file_that_may_not_be_written_is_served_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path) as store:
        await store.commit([put("a")])
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write everything")
    async with Store.open(path) as store:
        assert names(store) == ["a"]
        with pytest.raises(StorageUnavailableError, match="the database is read-only"):
            await store.commit([put("b")])
        path.chmod(0o600)
        assert await store.commit([put("b")]) == [record("b", 3)]


def test_a_directory_that_is_full_from_the_start_is_named(small_disk: Path) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "ballast").write_bytes(bytes(4_000_000))
        with (small_disk / "rest").open("wb") as file:
            file.write(bytes(4_000_000))
    with pytest.raises(StorageUnavailableError, match=r"hub\.db"):
        asyncio.run(Store.open(small_disk / "hub.db").close())


def test_what_a_killed_hub_left_on_a_full_disk_can_be_read_and_backed_up(small_disk: Path, tmp_path: Path) -> None:
    path = killed_hub(small_disk / "hub.db", 40)
    (small_disk / "hub.db-shm").unlink()  # SQLite would need to make it anew
    with contextlib.suppress(OSError), (small_disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))

    async def read() -> None:
        async with Store.open(path, FORGETFUL) as store:
            assert store.problem == "the disk is full: nothing can be written until there is space again"
            assert len(names(store)) == 40
            assert len(await store.scan_at(PODS, None, 21)) == 20

    asyncio.run(read())
    back_up(path, tmp_path / "backup.db")
    assert restore(tmp_path / "backup.db", tmp_path / "other.db").objects == 40
