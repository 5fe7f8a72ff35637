"""What processes cost, as /proc tells it, and work in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def afresh(work: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
    """The outcome of a function of a module in a new process: nothing is warm, and its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


def cpu_of(*processes: int) -> float:
    """Seconds of CPU, user and system, that these have taken so far."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS


def resident(process: int | str = "self") -> int:
    """Bytes that a process holds."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
