"""Regular expressions that users write: RE2 only, compiled once, limited in size, with the error texts of Go.

RE2 needs time proportional to the text, whatever the pattern; Python's `re` does only for the few that
plain_patterns.py knows. Used by CEL and jq.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import re2

from muster.errors import MusterError
from muster.values.json import Json
from muster.values.plain_patterns import matcher_of

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_PATTERN = 10_000  # code points
MAX_MEMORY = 2 * 2**20  # bytes, for the program and the states it is turned into while matching

Span = tuple[int, int]  # (-1, -1) for a group that took no part

# RE2 and Go's regexp share a grammar and where they find fault; they only name the faults differently.
_GO_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "unexpected )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


class InvalidRegexError(MusterError):
    """A pattern that RE2 does not take. The text is what Go's regexp package says of it."""

    @property
    def too_large(self) -> bool:
        """Whether all of the memory that a pattern may have was filled before it was refused."""
        return str(self).endswith("expression too large")


class Regex:
    """A compiled pattern. Offsets count bytes of the UTF-8 form of the text."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._plain = _compile(pattern, captures=False)
        self.ascii_match = matcher_of(pattern)  # for texts of ASCII, where the pattern is plain enough
        self.size: int = self._plain.programsize  # instructions: what compiling took, and what a character may take

    @cached_property
    def _capturing(self) -> Json:
        """Made when it is first needed: most patterns only ask whether there is a match."""
        return _compile(self.pattern, captures=True)

    @property
    def groups(self) -> int:
        return int(self._capturing.groups)

    def found_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        if self.ascii_match is not None and text.isascii():
            return self.ascii_match(text) is not None
        return self._plain.search(encode(text)) is not None

    def first(self, text: bytes) -> list[Span] | None:
        """Where the whole match and every group begin and end, for the first match."""
        return next(self.all(text), None)

    def all(self, text: bytes) -> Iterator[list[Span]]:
        """Every match from left to right, as Go counts them: no empty match directly behind another match."""
        position = 0
        previous_end = -1
        groups = self.groups
        while position <= len(text):
            found = self._capturing.search(text, position)
            if found is None:
                return
            start, end = found.span()
            accepted = True
            if end == position:
                accepted = start != previous_end
                position += _width(text, position)
            else:
                position = end
            previous_end = end
            if accepted:
                yield [found.span(group) for group in range(groups + 1)]


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Regex:
    """The compiled pattern; raises InvalidRegexError."""
    if len(pattern) > MAX_PATTERN:
        raise InvalidRegexError("error parsing regexp: expression too large")
    _refuse_single_bytes(pattern)
    return Regex(pattern)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _compile(pattern: str, *, captures: bool) -> Json:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    options.never_capture = not captures
    try:
        return re2.compile(encode(pattern), options)
    except re2.error as fault:
        raise InvalidRegexError(_go_text(fault)) from None


def _go_text(fault: Exception) -> str:
    raw = fault.args[0] if fault.args else b""
    text = decode(raw) if isinstance(raw, bytes) else str(raw)
    if text.startswith("pattern too large"):
        return "error parsing regexp: expression too large"
    what, _, where = text.partition(": ")
    return f"error parsing regexp: {_GO_WORDS.get(what, what)}: `{where}`"


def _refuse_single_bytes(pattern: str) -> None:
    """`\\C` matches one byte in RE2, which could cut a character in two; Go does not know it."""
    position = pattern.find("\\")
    while position != -1:
        following = pattern[position + 1 : position + 2]
        if following == "C":
            raise InvalidRegexError(r"error parsing regexp: invalid escape sequence: `\C`")
        if following == "Q":
            position = pattern.find("\\E", position)
            if position == -1:
                return
        position = pattern.find("\\", position + 2)


def _width(text: bytes, position: int) -> int:
    """How many bytes the character at the position takes; 1 at the end, so that a loop gets past it."""
    end = position + 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return end - position
