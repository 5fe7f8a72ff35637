"""Reading outlives writing: on a full or read-only disk the hub serves reads, and says why it writes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.hub.auth import files
from muster.hub.storage import database
from tests.hub.directories import RunningHub, running_hub
from tests.hub.storage.stories import story
from tests.hub.test_data_directories import FIXTURES, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 24 MB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)


def _remount(directory: Path, mode: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{mode}", directory], check=True)


def _fill(directory: Path) -> None:
    with contextlib.suppress(OSError), (directory / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


async def expect_reads_only(hub: RunningHub, reason: str) -> None:
    code, found = await hub.ask("GET", "/api/v1/namespaces/default")
    assert (code, found["metadata"]["name"]) == (200, "default")
    code, refused = await hub.ask("POST", MAPS, {"metadata": {"name": "a"}})
    assert (code, refused["reason"], refused["message"]) == (503, "ServiceUnavailable", reason)
    code, text = await hub.ask("GET", "/readyz")
    assert (code, f"storage failed: {reason}" in text) == (500, True)


async def expect_writing_resumes(hub: RunningHub, directory: Path) -> None:
    """By itself, kubeconfigs included."""
    async with asyncio.timeout(30):
        while (await hub.ask("GET", "/readyz"))[0] != 200 or named(directory) != hub.running.url:  # noqa: ASYNC110 - asked over HTTP
            await asyncio.sleep(0.1)
    code, _ = await hub.ask("POST", MAPS, {"metadata": {"name": "a"}})
    assert code == 201


def named(directory: Path) -> str:
    config = msgspec.yaml.decode((directory / "kubeconfig").read_bytes())
    return str(config["clusters"][0]["cluster"]["server"])


READ_ONLY = "the database is read-only: nothing can be written"
FULL = "the disk is full: nothing can be written until there is space again"


@pytest.mark.parametrize("is_full", [True, False], ids=["full", "read-only"])
@pytest.mark.parametrize("is_old", [True, False], ids=["old", "new"])
@story
async def test_a_start_on_such_a_disk_serves_reads(is_full: bool, is_old: bool, disk: Path) -> None:
    # What an older version left, killed, with nothing but the log; and what this one leaves when it is stopped.
    directory = unpacked(min(FIXTURES.glob("*.tar.xz")), disk) if is_old else disk / "data"
    if not is_old:
        async with running_hub(directory):
            pass
    _fill(disk) if is_full else _remount(disk, "ro")
    async with running_hub(directory) as hub:
        await expect_reads_only(hub, FULL if is_full else READ_ONLY)
        (disk / "ballast").unlink() if is_full else _remount(disk, "rw")
        await expect_writing_resumes(hub, directory)


@story
async def test_a_database_that_is_deleted_under_a_running_hub_is_told_by_readyz(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    async with running_hub(directory) as hub:
        (directory / "muster.db").rename(tmp_path / "elsewhere")
        reason = f"{directory / 'muster.db'} was removed while the hub was running: nothing can be written until it is "
        reason += "put back; else stop the hub and restore a backup"
        await expect_reads_only(hub, reason)
        (tmp_path / "elsewhere").rename(directory / "muster.db")
        code, _ = await hub.ask("POST", MAPS, {"metadata": {"name": "b"}})
        assert code == 201
        assert (await hub.ask("GET", "/readyz"))[0] == 200


@story
async def test_the_address_in_a_kubeconfig_that_cannot_be_written_stays_true(disk: Path) -> None:
    directory = disk / "data"
    async with running_hub(directory) as hub:
        before = hub.running.url
    _remount(disk, "ro")
    async with running_hub(directory) as hub:
        assert hub.running.url == before


@story
async def test_a_start_serves_reads_when_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same where no disk can be mounted: whatever writes a file or the database is refused by us."""
    directory = tmp_path / "data"
    async with running_hub(directory):
        pass
    refusal = [True]
    with monkeypatch.context() as patch:
        patch.setattr(database, "connect", refusing(database.connect, refusal))
        patch.setattr("muster.app.write_private", _refuse)
        async with running_hub(directory) as hub:
            await expect_reads_only(hub, READ_ONLY)
            refusal.clear()
            patch.setattr("muster.app.write_private", files.write_private)
            await expect_writing_resumes(hub, directory)


def refusing(connect: Callable[..., sqlite3.Connection], refusal: list[bool]) -> Callable[..., sqlite3.Connection]:
    def refused(path: Path, *, writable: bool, **settings: Any) -> sqlite3.Connection:
        if writable and refusal:
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorname = "SQLITE_READONLY"
            raise error
        return connect(path, writable=writable, **settings)

    return refused


def _refuse(path: Path, content: bytes) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path), content[:0])
