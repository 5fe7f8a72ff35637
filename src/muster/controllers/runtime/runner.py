"""Works a queue: takes keys, reconciles them, brings failed ones back later. Every controller runs on it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, TypeVar

from muster.client.errors import UnreachableError
from muster.client.fence import LeadershipLostError
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.queue import WorkQueue

Key = TypeVar("Key", bound="Hashable")
_LOGGER = logging.getLogger(__name__)
_NOT_FOUND = 404
_CONFLICT = 409
_WHILE_FENCED = 0.5  # seconds until a write that the fence has stopped is tried again
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


async def work(
    name: str,
    queue: WorkQueue[Key],
    reconcile: Callable[[Key], Awaitable[None]],
    metrics: ControllerMetrics,
    workers: int = 1,
) -> None:
    """Work for ever. One key is never worked on twice at a time, however many workers there are."""
    metrics.watch_queue(name, queue)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(workers):
            tasks.create_task(_work(name, queue, reconcile, metrics))


async def _work(
    name: str, queue: WorkQueue[Key], reconcile: Callable[[Key], Awaitable[None]], metrics: ControllerMetrics
) -> None:
    while True:
        key = await queue.get()
        try:
            await reconcile(key)
            queue.forget(key)
        except LeadershipLostError as error:
            # Whoever leads now does it, or we do as soon as the lease is renewed. It is no fault of the key.
            _LOGGER.info("%s %s: %s", name, key, error)
            queue.add_after(key, _WHILE_FENCED)
        except (ApiError, UnreachableError) as error:
            if isinstance(error, ApiError) and error.code in (_CONFLICT, _NOT_FOUND):
                metrics.count_conflict(name)  # somebody else was first; the newer state is on its way
            else:
                metrics.count_error(name)
                _LOGGER.warning("%s %s: %s", name, key, error)
            queue.add_failed(key)
        except BaseException as error:
            if is_ending(error):
                raise
            # A bug of ours, or a plugin's. It must not keep the other keys from being worked on.
            metrics.count_error(name)
            _LOGGER.exception("%s %s failed unexpectedly", name, key)
            queue.add_failed(key)
        finally:
            queue.done(key)
        # A queue that is never empty must not keep the watches waiting.
        await asyncio.sleep(0)


async def keep_doing(name: str, deed: Callable[[], Awaitable[float]], metrics: ControllerMetrics) -> None:
    """Do something for ever, after the pause in seconds that it asks for. Whatever it raises, it is done again."""
    failures = 0
    while True:
        try:
            pause = await deed()
            failures = 0
        except BaseException as error:
            if is_ending(error):
                raise
            failures += 1
            pause = min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE)
            if isinstance(error, ApiError | UnreachableError | LeadershipLostError):
                _LOGGER.warning("%s: %s; again in %.0f s", name, error, pause)
            else:
                metrics.count_error(name)
                _LOGGER.exception("%s failed unexpectedly; again in %.0f s", name, pause)
        await asyncio.sleep(pause)


def is_ending(error: BaseException) -> bool:
    """Whether an error means that this task or process is to end. Whatever else a piece of work raises is contained:
    a SystemExit of a plugin, and a cancellation that nobody asked for."""
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        return True
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling() > 0)
