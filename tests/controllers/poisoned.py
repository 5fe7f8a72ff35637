"""`muster`, with an engine that has a bug: whatever says "poison" hangs, grows without end or ends the process.

    MUSTER_POISON=hang python -m tests.controllers.poisoned hub run …

The bug is in what evaluates, where real ones are, in the middle of the ordinary command. Only the controllers' process
has it.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from muster.classification import queries
from muster.cli.hub import controllers_process
from muster.cli.main import main
from muster.fleet import masks

if TYPE_CHECKING:
    from collections.abc import Callable

_PROGRAM = (sys.executable, "-m", "tests.controllers.poisoned")


def _hang() -> None:
    while True:
        pass


def _sleep() -> None:
    time.sleep(10**6)


def _grow() -> None:
    kept = []
    while True:
        kept.append(bytearray(2**22))
        time.sleep(0.001)


def _exhaust() -> None:
    raise MemoryError


_DEEDS: dict[str, Callable[[], object]] = {
    "hang": _hang,
    "sleep": _sleep,
    "grow": _grow,
    "abort": os.abort,
    "exhaust": _exhaust,
}


def _texts(selector: Any) -> str:
    inner = getattr(selector, "selector", selector)
    return " ".join(program.text for program in getattr(inner, "programs", ())) or repr(inner)


def _poison(deed: Callable[[], object]) -> None:
    match, ran = masks.Mask._match, queries.Query._ran

    def poisoned_match(self: masks.Mask, row: int) -> tuple[int, int]:
        if "poison" in _texts(self.selector):
            deed()
        return match(self, row)

    def poisoned_run(self: queries.Query, inventory: Any, limits: Any) -> Any:
        if "poison" in self.text:
            self._work.watcher(self.text)
            deed()
        return ran(self, inventory, limits)

    masks.Mask._match = poisoned_match  # type: ignore[method-assign]
    queries.Query._ran = poisoned_run  # type: ignore[method-assign]


def _start_poisoned() -> None:
    """The supervisor starts this module in place of the command."""
    part = controllers_process.ControllersProcess.part

    def poisoned_part(self: controllers_process.ControllersProcess, *given: Any) -> Any:
        made = part(self, *given)
        made.program = _PROGRAM
        return made

    controllers_process.ControllersProcess.part = poisoned_part  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    _start_poisoned()
    if "controllers" in sys.argv[:3]:
        _poison(_DEEDS[os.environ["MUSTER_POISON"]])
    main()
