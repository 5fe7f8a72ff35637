"""What can go wrong with the store, as data and as a sentence.

StorageError (muster.errors)
├── ConflictError               a change expected another revision than the object has
├── GuardFailedError            something that the writer had read has changed since
├── CompactedError              the revision asked for is no longer kept: the client lists again
├── FutureRevisionError         the revision asked for does not exist yet
├── WatchOverflowError          the reader of a watch was too slow and has been cut off
├── StorageUnavailableError     the disk is full, read-only or failing, or the store is closed: nothing was written
├── DatabaseRefusedError        the file will not be opened, and has been left as it was
│   ├── ForeignDatabaseError    it is not a Muster database
│   ├── CorruptDatabaseError    it is damaged
│   │   └── LostWritesError     it lacks writes that were acknowledged
│   ├── NewerSchemaError        a newer Muster wrote it
│   └── DatabaseInUseError      another process has it open
└── BackupError                 a backup or a restore that was not done
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from muster.hub.storage.records import Guard, Key, Record


class ConflictError(StorageError):
    """A change named the revision it expected, and the object is at another one (or is not there)."""

    def __init__(self, key: Key, current: Record | None) -> None:
        self.key = key
        self.current = current
        super().__init__(key, current)

    def __str__(self) -> str:
        if self.current is None:
            return f"{self.key} does not exist"
        return f"{self.key} is at revision {self.current.revision}"


class GuardFailedError(StorageError):
    """Something that a commit had to find unchanged has changed; nothing was written."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        super().__init__(guard)

    def __str__(self) -> str:
        guard = self.guard
        place = (getattr(guard, "namespace", None), getattr(guard, "name", None))
        what = "/".join(part for part in (guard.resource, *place) if part)
        return f"{what} changed after revision {guard.revision}"


class CompactedError(StorageError):
    """The history before `compacted` is gone, and `revision` lies there."""

    def __init__(self, revision: int, compacted: int) -> None:
        self.revision = revision
        self.compacted = compacted
        super().__init__(revision, compacted)

    def __str__(self) -> str:
        return f"revision {self.revision} has been compacted; the oldest one kept is {self.compacted}"


class FutureRevisionError(StorageError):
    """A revision that has not been written yet was asked for."""

    def __init__(self, revision: int, newest: int) -> None:
        self.revision = revision
        self.newest = newest
        super().__init__(revision, newest)

    def __str__(self) -> str:
        return f"revision {self.revision} does not exist yet; the newest one is {self.newest}"


class WatchOverflowError(StorageError):
    """A watch was read more slowly than its objects change. List again, then watch."""

    def __init__(self, limit: str) -> None:
        self.limit = limit
        super().__init__(limit)

    def __str__(self) -> str:
        return f"the watch was read too slowly and has been cut off: {self.limit}"


class StorageUnavailableError(StorageError):
    """Nothing can be written at present. What was acknowledged is kept, and reads go on."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)

    def __str__(self) -> str:
        return self.reason


class DatabaseRefusedError(StorageError):
    """The file will not be opened; not a byte of it has been changed."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ForeignDatabaseError(DatabaseRefusedError):
    """The file belongs to another program."""


class CorruptDatabaseError(DatabaseRefusedError):
    """The file is damaged."""


class LostWritesError(CorruptDatabaseError):
    """Writes were acknowledged that the files do not hold. `found` is where they end; None if there is nothing."""

    def __init__(self, path: Path, acknowledged: int, found: int | None, details: str) -> None:
        self.acknowledged = acknowledged
        self.found = found
        super().__init__(path, f"writes up to revision {acknowledged} were acknowledged, but {details}")


class NewerSchemaError(DatabaseRefusedError):
    """A newer Muster wrote the file."""


class DatabaseInUseError(DatabaseRefusedError):
    """Another process has the file open for writing."""


class BackupError(StorageError):
    """A backup or restore that was refused or failed; source and target are as they were."""
