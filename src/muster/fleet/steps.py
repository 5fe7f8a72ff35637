"""Work that is done a bit at a time, by whoever comes to it: iterators that pause after every bit."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


def exhaust(steps: Iterator[None] | None) -> None:
    if steps is not None:
        deque(steps, maxlen=0)


def worked_off(waiting: dict[T, Iterator[None]], what: T) -> Iterator[None]:
    """Work that waits, until there is none. Others may do it in the pauses, and more of it may come."""
    while (steps := waiting.get(what)) is not None:
        yield from _without_ending(steps)
        if waiting.get(what) is steps:
            del waiting[what]


def _without_ending(steps: Iterator[None]) -> Iterator[None]:
    """The steps, so that others can go on with them when whoever takes them stops: `yield from` would end them then."""
    for _ in steps:
        yield
