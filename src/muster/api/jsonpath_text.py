"""JSONPath from text to steps. It reads what a Kubernetes server reads, also where other readers of JSONPath differ:

- `['a.b']` is `.a.b`, and only single quotes name a key; a dot in a name is written `\\.`.
- A filter compares one thing with one other; what follows the sign is the rest up to `)]`.
- `[]` is `[0]`, and `[-1]` the last.

Called by `jsonpath` only, which walks the steps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from muster.errors import InvalidObjectError
from muster.values.json import Json

_ENDS_A_NAME: Final = frozenset(" \t\r\n.,[]$@{}")
_KEY: Final = re.compile(r"'([^']*)'")
_SLICE: Final = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?")
_COMPARISON: Final = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_NUMBER: Final = re.compile(r"[+-]?[0-9.]*")
_MOST_DIGITS: Final = 18  # of an index: more are no number there


@dataclass(frozen=True, slots=True)
class Field:
    name: str


@dataclass(frozen=True, slots=True)
class Every:
    """`.*`"""


@dataclass(frozen=True, slots=True)
class Descent:
    """`..`"""


@dataclass(frozen=True, slots=True)
class Slice:
    """`single` is an index: its end follows from its start."""

    start: int
    stop: int | None
    step: int
    single: bool


@dataclass(frozen=True, slots=True)
class Union:
    ways: tuple[PathText, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """`operator` is `exists` for a filter without a comparison."""

    left: PathText
    operator: str
    right: PathText


@dataclass(frozen=True, slots=True)
class Constant:
    """A text is there once, a number or a boolean once for every value."""

    value: Json
    once: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A word of templates, such as `range`, that means nothing in a path."""


Step = Field | Every | Descent | Slice | Union | Where | Constant | Word
PathText = tuple[Step, ...]


def read_path(text: str) -> PathText:
    """Raises InvalidObjectError."""
    reader = _Reader(text)
    return tuple(reader.steps())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def _refused(self, at: int) -> InvalidObjectError:
        return InvalidObjectError("jsonPath", f"cannot read {self._text!r} at {at}")

    def steps(self) -> list[Step]:
        steps: list[Step] = []
        text = self._text
        while self._at < len(text):
            here = self._at
            char = text[here]
            if char == "}":
                break
            if text.startswith("[?(", here):
                steps.append(self._filter())
            elif text.startswith("..", here):
                if steps and isinstance(steps[-1], Descent):
                    raise self._refused(here)
                steps.append(Descent())
                self._at += 2
                if text[self._at : self._at + 1].isalnum() or text.startswith("_", self._at):
                    steps.append(self._field())
            elif char in " @$":
                self._at += 1
            elif char == "[":
                steps.extend(self._brackets())
            elif char in "\"'":
                steps.append(self._quoted(char))
            elif char == ".":
                self._at += 1
                steps.append(self._field())
            elif char in "+-" or char.isdecimal():
                steps.append(self._number())
            elif char.isalnum() or char == "_":
                steps.append(self._word())
            else:
                raise self._refused(here)
        return steps

    def _name(self) -> str:
        """Up to what ends a name; a backslash takes that from the next character."""
        start = self._at
        text = self._text
        while self._at < len(text) and text[self._at] not in _ENDS_A_NAME:
            self._at += 2 if text[self._at] == "\\" else 1
        if self._at > len(text):
            raise self._refused(start)  # a backslash with nothing behind it
        return text[start : self._at]

    def _field(self) -> Step:
        name = self._name()
        return Every() if name == "*" else Field(name.replace("\\", ""))

    def _word(self) -> Step:
        word = self._name()
        return Constant(word == "true", once=False) if word in ("true", "false") else Word()

    def _number(self) -> Step:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            raise self._refused(self._at)
        try:
            value = float(match[0]) if "." in match[0] else int(match[0])
        except ValueError:
            raise self._refused(self._at) from None
        self._at = match.end()
        return Constant(value, once=False)

    def _quoted(self, quote: str) -> Step:
        end = self._at + 1
        while True:
            end = self._text.find(quote, end)
            if end < 0:
                raise self._refused(self._at)
            if self._text[end - 1] != "\\":
                break
            end += 1
        inside = self._text[self._at + 1 : end]
        if "\n" in inside:
            raise self._refused(self._at)
        self._at = end + 1
        return Constant(re.sub(r"\\(.)", _unescaped, inside), once=True)

    def _brackets(self) -> list[Step]:
        end = self._text.find("]", self._at)
        if end < 0 or "\n" in self._text[self._at : end]:
            raise self._refused(self._at)
        inside = self._text[self._at + 1 : end]
        here, self._at = self._at, end + 1
        if "," in inside:
            return [Union(tuple(read_path(f"[{part.strip(' ')}]") for part in inside.split(",")))]
        if key := _KEY.fullmatch(inside):
            return list(read_path(f".{key[1]}"))
        found = _SLICE.fullmatch(":" if inside == "*" else inside)
        if found is None:
            raise self._refused(here)
        return [self._slice(found, here)]

    def _slice(self, found: re.Match[str], here: int) -> Slice:
        def whole(text: str) -> int:
            if not text.lstrip("-") or len(text) > _MOST_DIGITS:
                raise self._refused(here)
            return int(text)

        first, second, third = found.groups()
        start = whole(first) if first else 0
        if second is None:
            return Slice(start, start + 1, 1, single=True)
        stop = whole(second[1:]) if second != ":" else None
        step = 1 if third in (None, ":") else whole(third[1:])
        return Slice(start, stop, step, single=False)

    def _filter(self) -> Where:
        here = self._at
        end = self._end_of_filter(here + 3)
        inside = self._text[here + 3 : end]
        self._at = end + 2
        compared = _COMPARISON.fullmatch(inside)
        if compared is None:
            return Where(read_path(inside), "exists", ())
        return Where(read_path(compared[1]), compared[2], read_path(compared[3]))

    def _end_of_filter(self, at: int) -> int:
        """Where its `)` is: the first that does not stand between quotes."""
        quote, closed = "", False
        for index in range(at, len(self._text)):
            char = self._text[index]
            if char == "\n":
                break
            if char in "\"'":
                if not quote:
                    quote = char
                elif char == quote and self._text[index - 1] != "\\":
                    closed = True
            elif char == ")" and bool(quote) == closed:
                if self._text[index + 1 : index + 2] == "]":
                    return index
                break
        raise self._refused(at)


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])
