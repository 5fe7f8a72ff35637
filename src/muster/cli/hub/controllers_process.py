"""The controllers' process as `muster hub run` and `muster kubernetes run` supervise it: limits, names, blame."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.hub.supervisor import Part, Watch
from muster.controllers.runtime.quarantine import Entry
from muster.supervision import Vitals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.supervision import Suspect

VITALS: Final = "controllers.vitals"  # the file's name in the hub's directory
_LEAST: Final = 2 * 2**30
_SHARE: Final = 4  # the controllers may have one part in so many of the machine's memory
_MOST_TOLD: Final = 100  # suspects that wait to be recorded
_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")


def usual_memory_limit() -> int:
    """Bytes: a quarter of the machine's memory, so that a runaway is ended before it takes the API server with it, and
    not less than 2 GiB, so that a fleet of a hundred thousand clusters has room on a small machine."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):
        machine = min(machine, int(_CGROUP.read_text()))  # "max" where there is no limit
    return max(machine // _SHARE, _LEAST)


class ControllersProcess:
    """Gives the supervisor its part."""

    def __init__(
        self,
        directory: Path,
        options: Sequence[str],
        identity: str,
        memory: int | None,
        patience: float,
        command: Sequence[str] = ("hub", "controllers"),
    ) -> None:
        """`options` are those of the command; `memory` is in bytes, 0 for no limit."""
        self._command = command
        vitals, self.vitals = _vitals(directory / VITALS)
        self._options = options
        self._family = identity
        self._number = 0
        self._suspects: list[Entry] = []
        self._told = 0
        limit = usual_memory_limit() if memory is None else memory
        self._watch = Watch(vitals, self._suspect, patience, limit)

    def part(self, on_ready: Callable[[dict[str, object]], None] = lambda _: None) -> Part:
        return Part("the controllers", self._arguments, on_ready, self._watch)

    def _arguments(self) -> list[str]:
        """Names for one process after the other, each of which may take over from the one before, which is dead."""
        self._number += 1
        options = [*self._command, *self._options, "--vitals", str(self.vitals)]
        options += ["--identity", f"{self._family}_{self._number}"]
        options += ["--succeeds", f"{self._family}_{self._number - 1}"] if self._number > 1 else []
        if self._suspects:
            options += ["--set-aside", msgspec.json.encode(self._suspects).decode()]
        return options

    def _suspect(self, suspect: Suspect, recorded: int) -> None:
        # What the last process has written to the API need not be told to the next one.
        self._told += 1
        entry = Entry(suspect.subject, suspect.reason, number=self._told)
        kept = [each for each in self._suspects if each.number > recorded and each.place != entry.place]
        self._suspects = [*kept, entry][-_MOST_TOLD:]


def _vitals(path: Path) -> tuple[Vitals, Path]:
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Vitals.create(path)
