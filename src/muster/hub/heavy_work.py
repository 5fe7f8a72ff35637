"""Work that can take more than a few milliseconds, done beside the event loop: in one thread, for one user at a time.

The API machinery brings the reading, checking and merging of large bodies here, admission the compiling of
expressions. One thread, because the loop shares the interpreter with it and must not wait for several. A user has one
piece of work in its queue at most, so that users take turns and nobody's requests keep the others' away from it.

All of this work is bounded by limits of its own. Should one of them be missing, the thread's CPU time is the last:
work that takes longer is ended, and its request is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
import time
import weakref
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from muster.hub import status
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable


T = TypeVar("T")

#: Weight up to which work is done at once: bytes of JSON, of which this many take a few milliseconds at worst.
LIGHT = 16 * 1024
#: The weight of work that is never done at once.
HEAVY = LIGHT + 1
#: Seconds of CPU that one piece of work may take; the largest of those with limits of their own takes two.
MOST_SECONDS = 10.0
_LOOKS_EVERY = 1.0  # seconds


class OverdueError(BaseException):
    """Raised in the thread to end work that takes too long. Nothing that catches faults catches it."""


class _Turns:
    """The turns of one user: whose it is, and how many want one."""

    __slots__ = ("lock", "wanted")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0


class HeavyWork:
    """The thread and the queues before it. The thread is started when there is work, and ended by `close`."""

    def __init__(self, most_seconds: float = MOST_SECONDS) -> None:
        self._most_seconds = most_seconds
        self._worker = _Worker()
        self._turns: dict[str, _Turns] = {}

    @property
    def is_busy(self) -> bool:
        """Whether somebody's heavy work is under way or waits."""
        return bool(self._turns)

    async def done(self, user: str, weight: int, work: Callable[[], T]) -> T:
        """The result of the work: of light work at once, of heavy work when it is the user's turn. Raises 413."""
        if weight <= LIGHT:
            return work()
        loop = asyncio.get_running_loop()
        turns = self._turns.setdefault(user, _Turns())
        turns.wanted += 1
        try:
            await turns.lock.acquire()
        except asyncio.CancelledError:
            self._leave(user, turns)
            raise
        job = self._worker.submit(work)
        # The turn ends with the work, not with the request: what has begun goes on when nobody waits any more.
        job.add_done_callback(partial(self._ended, loop, user, turns))
        loop.call_later(_LOOKS_EVERY, self._look_after, loop, weakref.ref(job))
        try:
            found: T = await asyncio.wrap_future(job)
        except OverdueError:
            sentence = f"Request entity too large: checking it takes more than {self._most_seconds:g} seconds"
            raise status.StatusError(413, "RequestEntityTooLarge", sentence) from None
        finally:
            # A refusal remembers this frame, and the job the refusal: together they would keep the request's body until
            # the collector comes by.
            del job
        return found

    def _look_after(self, loop: asyncio.AbstractEventLoop, looked_after: weakref.ref[Future[Any]]) -> None:
        job = looked_after()
        if job is None or job.done():
            return
        if self._worker.seconds_of(job) > self._most_seconds:
            self._worker.end(job)
        loop.call_later(_LOOKS_EVERY, self._look_after, loop, looked_after)

    def _ended(self, loop: asyncio.AbstractEventLoop, user: str, turns: _Turns, _: Future[Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: there are no more turns
            loop.call_soon_threadsafe(self._next, user, turns)

    def _next(self, user: str, turns: _Turns) -> None:
        turns.lock.release()
        self._leave(user, turns)

    def _leave(self, user: str, turns: _Turns) -> None:
        turns.wanted -= 1
        if not turns.wanted and self._turns.get(user) is turns:
            del self._turns[user]

    def close(self) -> None:
        """End the thread once its work is done."""
        self._worker.close()


class _Worker:
    """One thread that works through a queue, and can be told to give up what it does."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Json]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # held while it begins and ends a piece of work, and while it is told to give up
        self._current: Future[Any] | None = None
        self._begun = 0.0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        job: Future[T] = Future()
        if self._thread is None:
            # It never keeps the process from ending.
            self._thread = threading.Thread(target=self._run, name="heavy-work", daemon=True)
            self._thread.start()
        self._queue.put((job, work))
        return job

    def close(self) -> None:
        self._queue.put(None)
        self._thread = None

    def seconds_of(self, job: Future[Any]) -> float:
        """CPU time that the job has taken so far."""
        thread = self._thread
        if self._current is not job or thread is None or thread.ident is None:
            return 0.0
        return _cpu_seconds(thread.ident) - self._begun

    def end(self, job: Future[Any]) -> None:
        with self._lock:
            thread = self._thread
            if self._current is job and thread is not None and thread.ident is not None:
                # The only way to end what another thread does in Python; it is raised between two instructions.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(OverdueError))

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            job, work = item
            if not job.set_running_or_notify_cancel():
                continue
            try:
                self._carry_out(job, work)
            except OverdueError as error:  # told to give up just as it was done
                if not job.done():
                    job.set_exception(error)
            self._current = None

    def _carry_out(self, job: Future[Any], work: Callable[[], Json]) -> None:
        with self._lock:
            self._begun = _cpu_seconds(threading.get_ident())
            self._current = job
        try:
            result = work()
        except BaseException as error:  # whatever it is, it belongs to whoever brought the work
            with self._lock:
                self._current = None
            job.set_exception(error)
            del job  # the error remembers this frame
        else:
            with self._lock:
                self._current = None
            job.set_result(result)


def _cpu_seconds(thread: int) -> float:
    """CPU time of a thread; where the system cannot tell, the clock's."""
    try:
        return time.clock_gettime(time.pthread_getcpuclockid(thread))
    except (AttributeError, OSError):
        return time.monotonic()
