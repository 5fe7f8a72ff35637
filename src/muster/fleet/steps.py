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
    """Work that waits, until there is none. Others may do it in the pauses, or begin it anew; more of it may come."""
    while (steps := waiting.get(what)) is not None:
        # Not `yield from`, which would end the steps with whoever takes them: others can go on with them then.
        for _ in steps:
            yield
            if waiting.get(what) is not steps:
                break  # what it found so far counts no more, and must not be written over what others find
        else:
            if waiting.get(what) is steps:
                del waiting[what]
