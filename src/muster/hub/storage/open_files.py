"""Whether the files that SQLite has open are still the ones with their names.

A file that is removed or replaced under a running hub is written on into nowhere: what is acknowledged then is gone
with the process. The writer looks after each commit, before it tells anybody, which takes some microseconds; whoever
opens another connection looks too. Called by `sources`, `writer` and `maintenance`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from muster.hub.storage.errors import StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class OpenFiles:
    """Remembers which files were opened. `check` raises StorageUnavailableError once one of them is another."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def remember(self, paths: Iterable[Path]) -> None:
        """These have just been opened. Those that do not exist are of no concern."""
        self._known = {}
        for path in paths:
            if (found := _which(str(path))) is not None:
                self._known[str(path)] = found

    def check(self) -> None:
        """Refuse to go on if a file is gone or another."""
        for path, known in self._known.items():
            found = _which(path)
            if found is None:
                raise StorageUnavailableError(
                    f"{path} was removed while the hub was running: nothing can be written until it is put back; "
                    "else stop the hub and restore a backup"
                )
            if found != known:
                raise StorageUnavailableError(
                    f"{path} was replaced while the hub was running: nothing can be written; "
                    "stop the hub and put the right file in place, or restore a backup"
                )


def _which(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - three of these for every commit; a Path would cost more than the call
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
