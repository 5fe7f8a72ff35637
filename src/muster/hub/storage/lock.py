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

_NO_WRITING = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)


#: Where in the lock file the witness of the mark begins: see `mark`. Before it is the number of the process.
WITNESS = 512
_NUMBER = 32


def lock_path(database: Path) -> Path:
    """The file that is locked."""
    return database.with_name(database.name + "-lock")


class DatabaseLock:
    """Held while a process may write the database. Release it with `release`, or by dying."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._descriptor: int | None = None
        self._is_writable = False

    @classmethod
    def acquire(cls, database: Path) -> Self:
        """Take the lock of `database`, or raise DatabaseInUseError naming the process that has it.

        Where no lock file can be made nothing can be written either: such a database may be read, and `ensure` is for
        who wants to write later.
        """
        lock = cls(database)
        try:
            lock.ensure()
        except OSError as error:
            if error.errno not in _NO_WRITING:
                text = f"{lock_path(database)}: cannot create the lock file: {error.strerror}"
                raise StorageUnavailableError(text) from error
        return lock

    @property
    def descriptor(self) -> int | None:
        """The file, open for writing, while the lock is held."""
        return self._descriptor if self._is_writable else None

    def ensure(self) -> None:
        """Take the lock unless it is held. Raises OSError where no file can be made."""
        if self._descriptor is not None:
            return
        path = lock_path(self._database)
        is_writable = True
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno not in _NO_WRITING or not path.exists():
                raise
            # It cannot be written, but it can be locked.
            descriptor, is_writable = os.open(path, os.O_RDONLY | os.O_CLOEXEC), False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, _NUMBER, 0).decode("ascii", "replace").strip(" \0\n")
            os.close(descriptor)
            process = f"process {holder}" if holder else "another process"
            raise DatabaseInUseError(
                self._database, f"is in use by {process}; only one hub at a time can use a database"
            ) from None
        with contextlib.suppress(OSError):  # a full disk: the number is a courtesy, the lock is held
            os.pwrite(descriptor, f"{os.getpid()}\n".ljust(_NUMBER).encode(), 0)
        self._descriptor, self._is_writable = descriptor, is_writable

    def release(self) -> None:
        """Let go. The file stays: removing it could take the lock from under a newcomer."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
