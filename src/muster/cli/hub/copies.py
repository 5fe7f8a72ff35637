"""`muster hub backup`, `restore` and `repair`: copies of a hub's database, and what to do when it was damaged."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.directory import Data, chosen, chosen_aloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.hub.storage import Restored


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the backup; must not exist.")],
    data: Data = None,
) -> None:
    """Write a consistent copy of the database while the hub runs, or while it does not.

    Examples:
      muster hub backup monday.db
      muster hub backup --data hub tuesday.db
    """
    from muster.hub.directory import DATABASE
    from muster.hub.storage import back_up

    with _ending_in_order():
        back_up(chosen_aloud(data) / DATABASE, file)
    sys.stdout.write(f"backed up to {file}\n")


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """A signal to end is an exception while this lasts: what is half made is removed on the way out."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")],
    data: Data = None,
) -> None:
    """Replace the database of a stopped hub by a backup. The present one is kept beside it.

    Examples:
      muster hub restore monday.db --data another-hub
      muster hub restore monday.db --data stopped-hub
    """
    from muster.hub.directory import DATABASE
    from muster.hub.storage import restore as restore_database

    directory = chosen(data)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _ending_in_order():
        restored = restore_database(file, directory / DATABASE)
    sys.stdout.write(f"restored {restored.objects} objects\n")
    _say_leap(restored)


def repair(
    accept: Annotated[
        bool, typer.Option("--accept-loss", help="Go on with what is there; what is missing is given up for good.")
    ] = False,
    data: Data = None,
) -> None:
    """Say what the database of a stopped hub has lost and, if told to, go on without it. What was there is kept.

    Examples:
      muster hub repair --data stopped-hub
      muster hub repair --data stopped-hub --accept-loss
    """
    from muster.hub.directory import DATABASE
    from muster.hub.storage import accept_loss, examine
    from muster.hub.upgrades import today

    path = chosen(data) / DATABASE
    if not accept:
        extent = examine(path, today())
        sys.stdout.write(
            f"{path}: {extent.objects} objects at revision {extent.revision}; everything acknowledged is there\n"
        )
        return
    kept = accept_loss(path)
    sys.stdout.write(f"going on with {kept.objects} objects\n")
    _say_leap(kept)


def _say_leap(restored: Restored) -> None:
    sys.stdout.write(
        f"revisions leap ahead: the next one is {restored.revision + 1}, beyond all that were ever seen; "
        "clients list again\n"
    )
    if restored.replaced is not None:
        sys.stdout.write(f"what was there before is kept as {restored.replaced}\n")
