"""Whether an object is to blame for the death of the process that was evaluating it. Pure: a death in, a suspect out.

| death | blamed |
|---|---|
| no beat for too long while one evaluation went on | at once |
| memory limit, and most of the growth came during this evaluation | at once |
| a fault of the processor or the interpreter (SIGSEGV, SIGABRT …) inside an evaluation | at once |
| killed by somebody else, or ended, in an evaluation that had gone on for a second or had grown | the second time |
| anything else: a kill at a random moment, a limit that nobody in particular has reached | never |

A healthy evaluation is a slice of some milliseconds, so a kill -9 by an administrator hits one that is a second old
only by bad luck, and not twice in a row. While a helper thread works beside the loop, nothing is certain.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from muster.supervision.notes import Subject, subject_of

if TYPE_CHECKING:
    from muster.supervision.vitals import Note

_LONG: Final = 1.0  # seconds: no evaluation goes on for so long in one go
_SHARE: Final = 0.25  # of the memory limit, by which one evaluation must have grown to be blamed
_FAULTS: Final = frozenset((signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS))


class Kill(StrEnum):
    """Why a supervisor killed a process, if it did."""

    NO = ""
    HANG = "hang"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Death:
    """How a process ended. `code` is negative for a signal; `grew` are the bytes that came while the note was there."""

    code: int
    note: Note | None
    helper: Note | None = None
    age: float = 0.0  # seconds that the note was old
    kill: Kill = Kill.NO
    silent: float = 0.0  # seconds without a beat
    grew: int = 0
    limit: int = 0  # bytes; 0 for none

    @property
    def has_grown(self) -> bool:
        return bool(self.limit) and self.grew >= _SHARE * self.limit

    def words(self) -> str:
        """What happened, as a part of a sentence: "it was killed because …"."""
        match self.kill:
            case Kill.HANG:
                return f"it was killed because it made no progress for {self.silent:.0f} s"
            case Kill.MEMORY:
                return f"it was killed because it used more than {self.limit / 2**20:.0f} MiB of memory"
        if self.code < 0:
            return f"it died of {_name(-self.code)}"
        return f"it ended with code {self.code}"


@dataclass(frozen=True, slots=True)
class Suspect:
    """What to set aside, and why."""

    subject: Subject
    reason: str


class Blame:
    """Looks at one death after the other."""

    def __init__(self) -> None:
        self._last: Subject | None = None

    def suspect(self, death: Death) -> Suspect | None:
        subject = None if death.note is None else subject_of(death.note.text)
        before, self._last = self._last, None
        if subject is None:
            return None
        alone = death.helper is None
        by_limit = death.kill is Kill.HANG or (death.kill is Kill.MEMORY and death.has_grown)
        if alone and (by_limit or -death.code in _FAULTS):
            return Suspect(subject, death.words())
        if not (by_limit or -death.code in _FAULTS or death.age >= _LONG or death.has_grown):
            return None
        if before == subject:
            return Suspect(subject, f"{death.words()}, as it had done the time before")
        self._last = subject
        return None


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
