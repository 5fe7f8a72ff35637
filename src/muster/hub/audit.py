"""The audit log: who asked for what, when, and what came of it, as JSON lines. Never a body, a header or a query.

The REST layer records a request once it has been answered; a thread of its own writes, so that a slow disk delays
nobody. The file is rotated by size. What may be recorded is listed in `Entry`, member by member: that is how secrets
and tokens stay out of it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from muster.values.limits import Unit, limit

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)
_LONGEST_TEXT = 512
_MOST_WAITING = 100_000
_RETRY = 1.0  # seconds
_PAUSE = 0.01  # seconds after a write, in which lines gather
_READING = frozenset({"get", "list", "watch", "head", "options", ""})
# Reading these is worth a line too.
_DELICATE = frozenset({"secrets", "tokenreviews"})


class AuditLevel(StrEnum):
    """What is recorded. Refusals (401, 403, 429), impersonated requests and reads of secrets are in both levels."""

    OFF = "off"
    WRITES = "writes"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How much is recorded, and how much of it is kept."""

    level: AuditLevel = AuditLevel.WRITES
    file_bytes: int = limit(
        64 * 1024 * 1024, "audit file bytes", "The audit log.", "a new file is begun", Unit.BYTES, least=1024
    )
    files: int = limit(5, "audit files", "Files of the audit log that are kept beside it.", "the oldest is deleted")


class Entry(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One line. `user` is who it acted as, `actor` who it was if that is somebody else."""

    time: datetime
    id: str
    user: str = ""
    actor: str = ""
    source: str = ""
    agent: str = ""
    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    dry_run: bool = False
    code: int = 0
    decision: str = ""
    revision: str = ""
    milliseconds: float = 0.0


class _Meta(msgspec.Struct):
    name: str = ""
    resourceVersion: str = ""  # noqa: N815 - the name in the object


class _WrittenObject(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


_read_answer = msgspec.json.Decoder(_WrittenObject).decode
_END = object()


def written_object(body: bytes) -> tuple[str, str]:
    """Name and revision of the object in an answer, as far as it is one."""
    try:
        metadata = _read_answer(body).metadata
    except msgspec.MsgspecError:
        return "", ""
    return metadata.name, metadata.resourceVersion


class AuditLog:
    """Writes entries to a file. `record` never waits; `close` writes what is left."""

    def __init__(self, path: Path, settings: AuditSettings | None = None) -> None:
        self._path = path
        self._settings = settings or AuditSettings()
        self._waiting: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._encode = msgspec.json.Encoder().encode
        self._dropped = 0
        self._closing = threading.Event()
        self.problem: str | None = None
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def wants(self, verb: str, resource: str, code: int, *, acting: bool) -> bool:
        """Whether such a request is recorded."""
        match self._settings.level:
            case AuditLevel.OFF:
                return False
            case AuditLevel.ALL:
                return True
            case _:
                return verb not in _READING or code in (401, 403, 429) or acting or resource in _DELICATE

    def record(self, entry: Entry) -> None:
        """Have it written. What does not fit is counted, and the count is written."""
        if self._waiting.qsize() >= _MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.put(entry)

    def close(self) -> None:
        self._waiting.put(_END)
        self._closing.set()
        self._thread.join()

    # --- On the thread -------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            batch: list[object] = []
            with contextlib.suppress(queue.Empty):
                # While the file cannot be written, look now and then whether it can be again.
                batch.append(self._waiting.get(timeout=None if self.problem is None else _RETRY))
            with contextlib.suppress(queue.Empty):
                while len(batch) < 1000:
                    batch.append(self._waiting.get_nowait())
            self._write([entry for entry in batch if isinstance(entry, Entry)])
            if _END in batch:
                return
            # One write and one change of threads for all requests of the next moment, rather than for each of them.
            self._closing.wait(_PAUSE)

    def _write(self, entries: list[Entry]) -> None:
        lines = [self._encode(_bounded(entry)) + b"\n" for entry in entries]
        lost, self._dropped = self._dropped, 0
        if lost:
            lines.append(self._encode({"time": datetime.now(UTC), "dropped": lost}) + b"\n")
        if not lines and self.problem is None:
            return
        try:
            self._rotate(sum(map(len, lines)))
            # O_APPEND and one write: lines of two hubs, or of a rotation by others, are never mixed.
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, b"".join(lines))
            finally:
                os.close(descriptor)
            self.problem = None
        except OSError as error:
            self._dropped += len(entries) + lost
            if self.problem is None:
                _log.error("the audit log cannot be written: %s: %s", self._path, error.strerror)
            self.problem = f"{self._path}: {error.strerror}"

    def _rotate(self, coming: int) -> None:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size + coming <= self._settings.file_bytes:
            return
        for number in range(self._settings.files - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))
        self._numbered(self._settings.files).unlink(missing_ok=True)

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


def _bounded(entry: Entry) -> Entry:
    """No text of a client fills the disk."""
    for name in ("user", "actor", "agent", "resource", "subresource", "namespace", "name", "path"):
        text = getattr(entry, name)
        if len(text) > _LONGEST_TEXT:
            setattr(entry, name, text[:_LONGEST_TEXT] + "…")
    return entry
