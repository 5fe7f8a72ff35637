"""Notes of what is about to be evaluated, by the process that evaluates. The controllers write them around each slice.

Evaluation happens in one thread without pauses in between, so notes are nested and the innermost one counts. What runs
out of memory and lives is told at once: there will be no supervisor who finds the note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.supervision.vitals import Vitals

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from muster.api.parts import Identity


class Subject(msgspec.Struct, frozen=True, omit_defaults=True):
    """An object that is evaluated, in one state. `part`: a digest of the text, which several objects may share."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    generation: int = 0
    part: str = ""

    @classmethod
    def of(cls, kind: str, metadata: Identity, part: str = "") -> Subject:
        return cls(kind, metadata.namespace, metadata.name, metadata.uid, metadata.generation, part)

    def text(self) -> bytes:
        return msgspec.json.encode(self)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


_SUBJECTS = msgspec.json.Decoder(Subject)


def subject_of(text: bytes) -> Subject | None:
    """What a note is about; None for one that cannot be read."""
    try:
        return _SUBJECTS.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class Notes:
    """The notes of one process. Texts are those of subjects; an empty one is nobody's fault."""

    def __init__(self, vitals: Vitals | None = None) -> None:
        self.vitals = vitals or Vitals.anonymous()
        self.exhausted: Callable[[Subject], None] = lambda _: None  # somebody's evaluation ran out of memory
        self.is_refined = False  # since the innermost evaluation began
        self._open: list[bytes] = []  # what was noted on entering each evaluation
        self._text = b""  # what is noted now

    def evaluating(self, text: bytes) -> _Evaluation:
        """`with notes.evaluating(text):` around everything that is done for one object in one go."""
        return _Evaluation(self, text)

    def refine(self, text: bytes) -> None:
        """Inside: what is evaluated now is this part of it, or another object that it needs."""
        if self._open:
            self.is_refined = True
            self._note(text)

    def enter(self, text: bytes) -> None:
        self._open.append(text)
        self._begin(text)

    def leave(self, *, out_of_memory: bool = False) -> None:
        blamed = subject_of(self._text) if out_of_memory else None
        self._open.pop()
        self._begin(self._open[-1] if self._open else b"")
        if blamed is not None:
            self.exhausted(blamed)

    def _begin(self, text: bytes) -> None:
        self.is_refined = False
        self._note(text)

    def _note(self, text: bytes) -> None:
        self._text = text
        if text:
            self.vitals.note(text)
        else:
            self.vitals.clear()


class _Evaluation:
    __slots__ = ("_notes", "_text")

    def __init__(self, notes: Notes, text: bytes) -> None:
        self._notes = notes
        self._text = text

    def __enter__(self) -> None:
        self._notes.enter(self._text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notes.leave(out_of_memory=kind is not None and issubclass(kind, MemoryError))
