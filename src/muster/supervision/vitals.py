"""The signs of life of one process, in a page of memory that other processes see: a small file, mapped by all of them.

The process beats, says how it is, and notes what it is about to evaluate; the note is still there when it has died of
it. The supervisor writes beside that what it has seen. Nothing here decides anything.

    0     process: pid, number and time of the last beat
    64    note of the loop: since, length, text          what is evaluated now
    1216  note of a helper thread, the same
    2048  status: length, text                           JSON, by the process, with each beat
    3072  supervision: length, text                      JSON, by the supervisor

A reader may see a text while it is written; what cannot be read then counts as not there, and is read again later.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

import msgspec

_SIZE: Final = 4096
_PROCESS: Final = struct.Struct("<QQQ")
_NOTE: Final = struct.Struct("<QH")
_TEXT: Final = struct.Struct("<H")
_LOOP, _HELPER, _STATUS, _SUPERVISION = 64, 1216, 2048, 3072
_LONGEST: Final = 1000  # bytes of each text
_STRAIGHT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def clock() -> float:
    """Seconds that never go back, the same in every process; where possible they count while a machine sleeps."""
    return time.clock_gettime(_STRAIGHT_CLOCK)


@dataclass(frozen=True, slots=True)
class Note:
    """What a process was evaluating, and since when."""

    text: bytes
    since: float


class ProcessStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a process is, in its own words: with each beat."""

    state: str = "starting"
    unsynced: tuple[str, ...] = ()  # kinds that have not been read yet
    queue: str = ""  # the one whose oldest key has waited longest, and for how many seconds
    waited: float = 0.0
    unrenewed: float = 0.0  # seconds since the lease was renewed
    recorded: int = 0  # entries of the quarantine that are written down


class SupervisorFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the supervisor has seen."""

    deaths: tuple[float, ...] = ()
    last: str = ""  # what the last one died of
    idle_since: float | None = None
    silence: float | None = None  # seconds without a beat that are too many


T = TypeVar("T", ProcessStatus, SupervisorFacts)


@dataclass(frozen=True, slots=True)
class VitalSigns:
    """All of it at one moment. A process that has not begun has no pid."""

    pid: int = 0
    beats: int = 0
    beat_at: float = 0.0
    note: Note | None = None
    helper: Note | None = None
    status: ProcessStatus = field(default_factory=ProcessStatus)
    supervision: SupervisorFacts = field(default_factory=SupervisorFacts)


class Vitals:
    """The page. One process begins, beats and notes; others look."""

    def __init__(self, page: mmap.mmap) -> None:
        self._page = page
        self._beats = 0

    @classmethod
    def anonymous(cls) -> Vitals:
        """For a process that nobody watches."""
        return cls(mmap.mmap(-1, _SIZE))

    @classmethod
    def create(cls, path: Path) -> tuple[Vitals, Path]:
        """A new page, and where it is: at the path or, where that cannot be written, among temporary files."""
        try:
            return cls._made(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)), path
        except OSError:
            import tempfile

            descriptor, name = tempfile.mkstemp(prefix="muster-", suffix=".vitals")
            return cls._made(descriptor), Path(name)

    @classmethod
    def _made(cls, descriptor: int) -> Vitals:
        # Really written, so that a disk that is full later does not matter.
        with os.fdopen(descriptor, "r+b") as file:
            file.write(bytes(_SIZE))
            file.flush()
            return cls(mmap.mmap(file.fileno(), _SIZE))

    @classmethod
    def open(cls, path: Path) -> Vitals:
        with path.open("r+b") as file:
            return cls(mmap.mmap(file.fileno(), _SIZE))

    # ------------------------------------------------------------------------------------------------- the process

    def begin(self) -> None:
        self._beats = 0
        self.beat(ProcessStatus())

    def beat(self, status: ProcessStatus) -> None:
        """The process makes progress, and this is how it is."""
        self._beats += 1
        self._write(_STATUS, status)
        _PROCESS.pack_into(self._page, 0, os.getpid(), self._beats, int(clock() * 1e9))

    def note(self, text: bytes) -> None:
        """This is evaluated from now on. It costs less than a microsecond: it is done before every bit of work."""
        text = text[:_LONGEST]
        self._page[_LOOP + _NOTE.size : _LOOP + _NOTE.size + len(text)] = text
        _NOTE.pack_into(self._page, _LOOP, int(clock() * 1e9), len(text))

    def clear(self) -> None:
        _NOTE.pack_into(self._page, _LOOP, 0, 0)

    def note_helper(self, text: bytes) -> None:
        """The same for a thread beside the loop; without a text it has ended."""
        text = text[:_LONGEST]
        _NOTE.pack_into(self._page, _HELPER, int(clock() * 1e9), 0)
        self._page[_HELPER + _NOTE.size : _HELPER + _NOTE.size + len(text)] = text
        _NOTE.pack_into(self._page, _HELPER, int(clock() * 1e9), len(text))

    # ----------------------------------------------------------------------------------------------- the supervisor

    def reset(self) -> None:
        """A new process is about to start: what the last one said is gone."""
        self._page[:_SUPERVISION] = bytes(_SUPERVISION)

    def supervise(self, facts: SupervisorFacts) -> None:
        self._write(_SUPERVISION, facts)

    def signs(self) -> VitalSigns:
        page = bytes(self._page)
        pid, beats, beat_at = _PROCESS.unpack_from(page, 0)
        return VitalSigns(
            pid,
            beats,
            beat_at / 1e9,
            _noted(page, _LOOP),
            _noted(page, _HELPER),
            _read(page, _STATUS, ProcessStatus),
            _read(page, _SUPERVISION, SupervisorFacts),
        )

    def _write(self, at: int, facts: ProcessStatus | SupervisorFacts) -> None:
        text = msgspec.json.encode(facts)
        if len(text) > _LONGEST:
            text = b"{}"
        _TEXT.pack_into(self._page, at, 0)
        self._page[at + _TEXT.size : at + _TEXT.size + len(text)] = text
        _TEXT.pack_into(self._page, at, len(text))


def _noted(page: bytes, at: int) -> Note | None:
    since, length = _NOTE.unpack_from(page, at)
    start = at + _NOTE.size
    return Note(page[start : start + length], since / 1e9) if 0 < length <= _LONGEST else None


def _read(page: bytes, at: int, kind: type[T]) -> T:
    (length,) = _TEXT.unpack_from(page, at)
    start = at + _TEXT.size
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(page[start : start + length], type=kind)
    return kind()
