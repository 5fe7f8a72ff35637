"""Every file of the hub's directory as garbage: the hub starts all the same, or says which file and what to do."""

from __future__ import annotations

import os
import random
import shutil
import stat
from typing import TYPE_CHECKING

import pytest

from muster.errors import MusterError
from tests.hub.directories import running_hub
from tests.hub.storage.stories import story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOKENS = ("admin-token", "controllers-token", "garbage-collector-token")
CERTIFICATES = ("ca.crt", "ca.key", "tls.crt", "tls.key")
DATABASE = ("muster.db", "muster.db-wal", "muster.db-shm", "muster.db-lock", "muster.db-mark")
OTHERS = ("service-account.key", "tokens.json", "tokens.json.lock", "kubeconfig", "controllers.kubeconfig", "audit.log")
FILES = (*TOKENS, *CERTIFICATES, *DATABASE, *OTHERS)


def _garbage(path: Path) -> None:
    path.write_text("this is what somebody's editor left here\n")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _binary(path: Path) -> None:
    path.write_bytes(random.Random(7).randbytes(700))


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _no_permission(path: Path) -> None:
    path.chmod(0)


HARM = (_garbage, _empty, _cut, _binary, _directory, _no_permission)


def table() -> Iterator[object]:
    """Every file with every harm; the quick run does one of them for each file, and the rest is slow."""
    for row, name in enumerate(FILES):
        for column, harm in enumerate(HARM):
            label = f"{name}-{harm.__name__.strip('_')}"
            quick = column == row % len(HARM) or (name, harm) == ("tls.key", _garbage)
            yield pytest.param(name, harm, id=label, marks=() if quick else pytest.mark.slow)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of a hub that was stopped, with all its files."""
    directory = tmp_path_factory.mktemp("sound") / "data"

    @story
    async def start() -> None:
        async with running_hub(directory) as hub:
            await hub.ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}})

    start()
    for name in FILES:
        if not (directory / name).exists():
            (directory / name).touch(mode=0o600)
    (directory / "tokens.json").write_text('{"tokens":[],"version":1}')
    return directory


async def outcome(directory: Path) -> str:
    """ "runs", or the message of the refusal."""
    try:
        async with running_hub(directory) as hub:
            # A token of the file is asked for, so that the file is read.
            code, _ = await hub.ask("GET", "/api/v1/namespaces", token="muster-abc-def")
            assert code == 401
            code, _ = await hub.ask("GET", "/api/v1/namespaces/default/configmaps/a")
            assert code == 200
            return "runs"
    except MusterError as error:
        return str(error)


@pytest.mark.parametrize(("name", "harm"), list(table()))
@story
async def test_a_file_that_is_garbage_is_a_message_that_names_it(
    name: str, harm: Callable[[Path], None], sound: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "data"
    shutil.copytree(sound, directory)
    harm(directory / name)
    said = await outcome(directory)
    assert said == "runs" or name.removesuffix("-wal").removesuffix("-shm") in said
    if name in CERTIFICATES and harm not in (_no_permission, _directory):
        assert "delete" in said
        assert "to have new ones made" in said


@story
async def test_a_key_of_another_certificate_is_named(sound: Path, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    shutil.copytree(sound, directory)
    shutil.copyfile(directory / "ca.key", directory / "tls.key")
    assert "tls.key is not the key of" in await outcome(directory)


@story
async def test_following_the_message_gives_a_hub_that_runs(sound: Path, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    shutil.copytree(sound, directory)
    _garbage(directory / "tls.key")
    assert "delete tls.crt and tls.key to have new ones made" in await outcome(directory)
    (directory / "tls.crt").unlink()
    (directory / "tls.key").unlink()
    assert await outcome(directory) == "runs"
    assert stat.S_IMODE((directory / "tls.key").stat().st_mode) == 0o600
