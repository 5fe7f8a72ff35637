"""The high-water mark: a small file beside the database that says how far writes have been acknowledged.

SQLite takes the damaged end of a write-ahead log for a write that never finished, and drops it without a word. The mark
is outside of that log: a database that ends before its mark, or whose objects do not add up to it, has lost something.
The writer advances the mark after each commit and before anybody is told; `maintenance` syncs it to the disk, off the
hot path. So the mark is never ahead of the database, whatever is killed when.

Two slots are written in turns: a slot that was torn leaves the one before it. The same is written behind the process
number in the lock file, which nobody has a reason to copy back: a second witness, should the mark itself be lost or
come from another time. It counts only for the database that it names. Called by `writer`, `opening` and `backup`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import struct
import zlib
from typing import TYPE_CHECKING, Self

import msgspec

from muster.hub.storage.errors import CorruptDatabaseError, StorageUnavailableError
from muster.hub.storage.lock import WITNESS, lock_path
from muster.hub.storage.schema import FIRST_REVISION

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"MusterHW"
_VERSION = 1
_FIELDS = struct.Struct("<8sHHQQQQQ")  # magic, version, settled, identity, sequence, revision, objects, digest
_CHECKSUM = struct.Struct("<I")
_SLOT = 512  # what a disk writes whole or not at all
_SLOTS = 2
_DIGEST = 2**64


#: Of a database that has no mark yet: no witness is for it.
NO_IDENTITY = 0


class Extent(msgspec.Struct, frozen=True):
    """How much a store holds: its newest revision, how many objects live, and the sum of their imprints."""

    revision: int = FIRST_REVISION
    objects: int = 0
    digest: int = 0

    def grown(self, revision: int, objects: int, digest: int) -> Extent:
        """The extent after changes."""
        return Extent(revision, self.objects + objects, (self.digest + digest) % _DIGEST)


class Mark(msgspec.Struct, frozen=True):
    """What the file says. One that is not settled was being made when its hub died: it demands nothing."""

    identity: int
    extent: Extent
    settled: bool
    sequence: int = 0


def mark_path(database: Path) -> Path:
    """Where the mark of a database is."""
    return database.with_name(database.name + "-mark")


def new_identity() -> int:
    """A number that ties a mark to its database. It is in both."""
    return secrets.randbits(62) + 1


def read_mark(database: Path, identity: int | None = None) -> Mark | None:
    """The newest mark of a database; None if there is none. Raises CorruptDatabaseError if it cannot be made out.

    `identity` is that of the database, for which a witness has to be; None if there is no database to tell.
    """
    path = mark_path(database)
    witness = _read_witness(database)
    if witness is not None and identity is not None and witness.identity != identity:
        witness = None
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return witness
    except OSError as error:
        raise StorageUnavailableError(f"{path}: cannot read the mark of the database: {error.strerror}") from error
    mark = _newest(content)
    if mark is None and witness is None:
        raise CorruptDatabaseError(
            path,
            "is damaged: whether the database still holds everything that was acknowledged cannot be told; "
            "restore a backup, or go on with what is there with `muster hub repair --accept-loss`",
        )
    if mark is None or (witness is not None and witness.identity == mark.identity and _is_newer(witness, mark)):
        return witness
    return mark


def _is_newer(left: Mark, right: Mark) -> bool:
    return (left.settled, left.sequence) > (right.settled, right.sequence)


def _read_witness(database: Path) -> Mark | None:
    try:
        return _newest(lock_path(database).read_bytes()[WITNESS:])
    except OSError:
        return None


def _newest(content: bytes) -> Mark | None:
    found = [mark for slot in range(_SLOTS) if (mark := _decode(content[slot * _SLOT :])) is not None]
    return max(found, key=lambda mark: mark.sequence, default=None)


def _encode(mark: Mark) -> bytes:
    extent = mark.extent
    fields = _FIELDS.pack(
        _MAGIC,
        _VERSION,
        mark.settled,
        mark.identity,
        mark.sequence,
        extent.revision,
        extent.objects,
        extent.digest,
    )
    return fields + _CHECKSUM.pack(zlib.crc32(fields))


def _decode(slot: bytes) -> Mark | None:
    size = _FIELDS.size
    if len(slot) < size + _CHECKSUM.size or _CHECKSUM.unpack_from(slot, size)[0] != zlib.crc32(slot[:size]):
        return None
    magic, version, settled, identity, sequence, revision, objects, digest = _FIELDS.unpack_from(slot)
    if magic != _MAGIC or version != _VERSION:
        return None
    return Mark(identity, Extent(revision, objects, digest), bool(settled), sequence)


class MarkFile:
    """The mark of a database that is being written. One thread advances it; another may sync it.

    `witness` is the descriptor of the lock file, if it can be written. It is not ours to close.
    """

    def __init__(self, descriptor: int, mark: Mark, witness: int | None) -> None:
        self._descriptor = descriptor
        self._witness = witness
        self._identity = mark.identity
        self._sequence = mark.sequence
        self._is_dirty = False

    @classmethod
    def open(cls, database: Path, mark: Mark, witness: int | None = None) -> Self:
        """The file of a mark that has been read; a new one if only the witness has it."""
        try:
            if _newest(mark_path(database).read_bytes()) is not None:
                return cls(os.open(mark_path(database), os.O_RDWR | os.O_CLOEXEC), mark, witness)
        except FileNotFoundError:
            pass
        return cls.create(database, mark, witness)

    @classmethod
    def create(cls, database: Path, mark: Mark, witness: int | None = None) -> Self:
        """A new file, whole from the start, in the place of whatever is there."""
        path = mark_path(database)
        draft = path.with_name(f".{path.name}.new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            for slot in range(_SLOTS):
                os.pwrite(descriptor, _encode(mark).ljust(_SLOT, b"\0"), slot * _SLOT)
            os.fsync(descriptor)
            draft.replace(path)
        except BaseException:
            os.close(descriptor)
            draft.unlink(missing_ok=True)
            raise
        return cls(descriptor, mark, witness)

    def advance(self, extent: Extent) -> None:
        """Before anybody is told of a commit. In the kernel's hands when it returns: killing us cannot undo it."""
        self._sequence += 1
        record = _encode(Mark(self._identity, extent, True, self._sequence))
        slot = self._sequence % _SLOTS * _SLOT
        os.pwrite(self._descriptor, record, slot)
        if self._witness is not None:
            with contextlib.suppress(OSError):  # a full disk: the mark itself has its place already
                os.pwrite(self._witness, record, WITNESS + slot)
        self._is_dirty = True

    def sync(self) -> None:
        """Bring it to the disk, if it has changed. A power cut may take back a tenth of a second of it."""
        if self._is_dirty:
            self._is_dirty = False
            os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Sync, and let go."""
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
