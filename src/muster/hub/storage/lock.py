"""One process per database: a lock that the kernel drops when its holder dies, however it dies.

The lock is on a file beside the database, not on the database: closing any descriptor of the database
would release the locks that SQLite holds on it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from typing import TYPE_CHECKING, Self

from muster.hub.storage.errors import DatabaseInUseError, StorageUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class DatabaseLock:
    """Held while a process may write the database. Release it with `release`, or by dying."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, database: Path) -> Self:
        """Take the lock of `database`, or raise DatabaseInUseError naming the process that has it."""
        path = database.with_name(database.name + "-lock")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno not in _READ_ONLY:
                raise StorageUnavailableError(f"{path}: cannot create the lock file: {error.strerror}") from error
            return cls(None)  # where no lock can be made nothing can be written either
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            process = f"process {holder}" if holder else "another process"
            raise DatabaseInUseError(
                database, f"is in use by {process}; only one hub at a time can use a database"
            ) from None
        with contextlib.suppress(OSError):  # a full disk: the number is a courtesy, the lock is held
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Let go. The file stays: removing it could take the lock from under a newcomer."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
