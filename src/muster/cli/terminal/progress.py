"""Progress on long work: a counter on a terminal's standard error, silence anywhere else."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_EVERY = 0.2
_MANY = 10_000  # objects that may take seconds
_CLEAR = "\r\x1b[K"
_PATIENCE = 1.0  # no counter before this many seconds: short work needs none


@contextlib.contextmanager
def under_way(deed: str, size: int) -> Iterator[None]:
    """Says what is being done while it is done, if there is so much of it that somebody would wonder."""
    shown = size >= _MANY and sys.stderr.isatty()
    if shown:
        sys.stderr.write(f"{deed} …")
        sys.stderr.flush()
    try:
        yield
    finally:
        if shown:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()


class Progress:
    """`with Progress("applied") as p: p.advance()` shows `applied 12,000 (4,000/s)` in place."""

    def __init__(self, deed: str) -> None:
        self._deed = deed
        self._count = 0
        self._started = time.monotonic()
        self._shown = self._started + _PATIENCE
        self._visible = False
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def advance(self, by: int = 1) -> None:
        self._count += by
        now = time.monotonic()
        if self._terminal and now - self._shown >= _EVERY:
            self._shown = now
            rate = self._count / max(now - self._started, 0.001)
            sys.stderr.write(f"{_CLEAR}{self._deed} {self._count:,} ({rate:,.0f}/s)")
            sys.stderr.flush()
            self._visible = True

    def say(self, line: str) -> None:
        """Print a line of output without disturbing the counter."""
        self._clear()
        sys.stdout.write(line + "\n")

    def _clear(self) -> None:
        if self._visible:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._visible = False
