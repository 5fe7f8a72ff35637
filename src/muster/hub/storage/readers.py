"""Connections that read the log off the event loop: for watches and lists that reach back beyond memory."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from muster.hub.storage.errors import StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")
_THREADS = 2  # the interpreter runs one at a time anyway; the second keeps a long read from blocking a short one


class Readers:
    """A small pool of threads. Connections are opened for each read: it is rare, and takes less than a millisecond."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="muster-storage-reader")

    async def run(self, read: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Call `read` with a connection that cannot write, on a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._read, read)

    def _read(self, read: Callable[[sqlite3.Connection], _Result]) -> _Result:
        try:
            with contextlib.closing(self._connect()) as connection:
                return read(connection)
        except sqlite3.Error as error:
            raise StorageUnavailableError(f"the log cannot be read: {error}") from error

    def close(self) -> None:
        """Wait for what is being read."""
        self._executor.shutdown(wait=True)
