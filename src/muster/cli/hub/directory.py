"""Which hub a command on this machine means, and whether it runs.

`muster hub token`, `certificate`, `backup`, `repair`, `restore` and `stop` act on a directory. Unless it is named they
mean the hub whose kubeconfig $KUBECONFIG is, then the one in the working directory (`make run` makes it there), then
the user's own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.terminal.commands import was_typed
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterator

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIRECTORY",
        help="Directory of the hub's state; else that of $KUBECONFIG, else ./.muster, else ~/.local/share/muster.",
        show_default=False,
        envvar="MUSTER_DATA",
    ),
]
_IN_CLONE: Final = ".muster"
_ATTEMPTS, _MOMENT = 10, 0.02  # seconds between them
_RUNNING: Final = "hub.running"  # locked by the supervisor while it runs, with its process's number in it


def chosen(data: Path | None) -> Path:
    """The directory that is meant."""
    from muster.hub.directory import DATABASE, default_directory

    if data is not None:
        return data
    named = [Path(each).parent for each in os.environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    for candidate in (*named, Path(_IN_CLONE)):
        if (candidate / DATABASE).exists():
            return candidate
    return default_directory()


def chosen_aloud(data: Path | None) -> Path:
    """The same; unless it was typed, says on stderr which one it is and whether it runs."""
    directory = chosen(data)
    if not was_typed("data"):
        sys.stderr.write(f"the hub in {directory}{'' if process(directory) else ', which is not running'}\n")
    return directory


def process(directory: Path) -> int | None:
    """The process to end for the hub to end: the supervisor, else the API server; None if none runs."""
    from muster.hub.directory import DATABASE
    from muster.hub.storage.lock import lock_path

    return _holder(directory / _RUNNING) or _holder(lock_path(directory / DATABASE))


def _holder(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        number = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip(" \0\n")
        return int(number) if number.isdigit() else None
    finally:
        os.close(descriptor)
    return None


@contextlib.contextmanager
def running(directory: Path) -> Iterator[None]:
    """While it lasts, this process is the hub in the directory. Raises if another one is."""
    path = directory / _RUNNING
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a disk that cannot be written: the hub serves reads, and is ended by a signal
        yield
        return
    try:
        if not _locked(descriptor):
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip(" \0\n")
            raise InvalidObjectError(
                "--data", f"a hub runs in {directory} already, process {holder}; `muster hub stop` ends it"
            )
        with contextlib.suppress(OSError):
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(32).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock could be had. Whoever asks whether a hub runs holds it for a moment: that is no hub."""
    for attempt in range(_ATTEMPTS):
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if attempt + 1 < _ATTEMPTS:
            time.sleep(_MOMENT)
    return False
