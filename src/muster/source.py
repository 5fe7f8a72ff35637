"""Text that users wrote, and where in it something is. Used by both languages and by object decoding.

Offsets count code points. Lines start at 1, columns at 0, as cel-go counts them; `render` prints
columns from 1 with the source line and a caret under it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

_LONGEST_SHOWN = 16 * 1024


class Span(NamedTuple):
    """A half-open range of code points."""

    start: int
    end: int

    def __or__(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


class Position(NamedTuple):
    """A line from 1 and a column from 0."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong, and where; no offset when it concerns the text as a whole."""

    message: str
    offset: int | None = None
    length: int = 1
    undeclared: str = ""  # the name, where the fault is that it means nothing


@dataclass(frozen=True)
class Source:
    """A text with a name, able to turn offsets into positions."""

    text: str
    name: str = "<input>"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts.extend(offset + 1 for offset, character in enumerate(self.text) if character == "\n")
        return starts

    def position(self, offset: int) -> Position:
        if offset < 0:  # nowhere: before the first column
            return Position(1, offset)
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1])

    def line(self, number: int) -> str:
        """The text of a line (from 1), without its line break."""
        starts = self._line_starts
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end]

    def render(self, diagnostic: Diagnostic) -> str:
        """`ERROR: <input>:1:5: message`, then the source line, then a caret.

        cel-go's rules: wide marks under characters beyond ASCII, no line when it is very long, and a place of its own
        for an empty text.
        """
        if diagnostic.offset is None:
            return f"ERROR: {self.name}:-1:0: {diagnostic.message}"
        if not self.text:
            return f"ERROR: {self.name}:1:0: {diagnostic.message}"
        line, column = self.position(diagnostic.offset)
        header = f"ERROR: {self.name}:{line}:{column + 1}: {diagnostic.message}"
        source_line = self.line(line).replace("\t", " ")
        if len(source_line.encode()) > _LONGEST_SHOWN:
            return header
        column = max(column, 0)
        dots = "".join("." if character.isascii() else "．" for character in source_line[:column])
        caret = "^" if source_line[column : column + 1].isascii() else "＾"
        return f"{header}\n | {source_line}\n | {dots}{caret}"
