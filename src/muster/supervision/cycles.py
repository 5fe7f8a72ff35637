"""When Python's collector looks for objects that refer to each other, in the API server and in the controllers.

Requests leave nothing in cycles, so what it finds is little; but a look at everything, taken while somebody's body of
half a million values is being read, holds up everybody for half a second. So young objects are looked at often and in
small numbers, and all of them only here: once a minute, when no heavy work is under way. Whoever makes a process of the
parts starts it: `app`, and the commands of controllers.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

# Objects that come and go between two looks. Looking every 700, as Python does, is a tenth of the time of a write.
_YOUNG: Final = 10_000
_MIDDLE: Final = 10  # looks at the young ones before those that stayed are looked at again
_NEVER: Final = 1_000_000  # of these before Python looks at everything by itself
_EVERY: Final = 60.0  # seconds
_PATIENCE: Final = 300  # seconds that heavy work may put a look off


def freeze_loaded_objects() -> None:
    """What is loaded by now stays: nobody need look at it again."""
    gc.collect()
    gc.freeze()
    _look_seldom()


def _look_seldom() -> None:
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)


@contextlib.asynccontextmanager
async def seldom(is_busy: Callable[[], bool]) -> AsyncIterator[None]:
    """For a process that loads what stays: everything is looked at in quiet moments only, from now on."""
    _look_seldom()
    looking = asyncio.create_task(collect_now_and_then(is_busy))
    try:
        yield
    finally:
        looking.cancel()


async def collect_now_and_then(is_busy: Callable[[], bool], every: float = _EVERY, patience: int = _PATIENCE) -> None:
    """Look at everything, again and again, in quiet moments; after `patience` seconds in any moment."""
    while True:
        await asyncio.sleep(every)
        for _ in range(patience):
            if not is_busy():
                break
            await asyncio.sleep(1)
        gc.collect()
