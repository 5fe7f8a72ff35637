"""Users' regular expressions, by RE2: linear in the text, whatever the pattern. Used by the regex builtins.

A `Regexes` belongs to a compiled program. It keeps compiled patterns and a bounded memo of (pattern, text) for `test`;
patterns that are plain text, perhaps anchored, are answered by string methods without any engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import re2

from muster.jq.error_texts import quoted
from muster.jq.errors import JqError
from muster.jq.values.encoding import without_surrogates
from muster.values.plain_patterns import matcher_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

MAX_PATTERN = 10_000
_MEMORY = 1 << 20
_KEPT_PATTERNS = 32
_KEPT_ANSWERS = 4096
_LONGEST_KEPT = 512
_REPEATS = re.compile(r"[{,]([0-9]{1,6})")
_CLASSES = re.compile(r"\\[pPdDwWsS]|\[:")
_PLAIN = re.compile(r"(\^?)([A-Za-z0-9 _:/,;=<>@#%&~!'\"-]*)(\$?)\Z")

# RE2's names of what is wrong, in Go's words.
_FAULTS = (
    ("invalid perl operator", "invalid or unsupported Perl syntax"),
    ("invalid escape sequence", "invalid escape sequence"),
    ("missing ]", "missing closing ]"),
    ("missing )", "missing closing )"),
    ("unexpected )", "unexpected )"),
    ("no argument for repetition operator", "missing argument to repetition operator"),
    ("bad repetition operator", "invalid nested repetition operator"),
    ("invalid repetition size", "invalid repeat count"),
    ("invalid character class range", "invalid character class range"),
    ("invalid named capture group", "invalid named capture"),
    ("trailing \\", "trailing backslash at end of expression"),
)
_NAMED_ALWAYS = ("trailing \\",)
"""Faults at which Go shows what is wrong even when that is nothing."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A compiled pattern: `search(bytes, position)` and the names of its groups, by number from 1."""

    compiled: Value
    test: Callable[[str], bool]
    names: tuple[str | None, ...]
    size: int

    @property
    def weight(self) -> int:
        """What a character of the text costs: large patterns may be worked off state by state."""
        return 1 + (self.size >> 5)


class Regexes:
    """The patterns that one program has used."""

    __slots__ = ("_answers", "_compiled")

    def __init__(self) -> None:
        self._compiled: dict[tuple[str, str], Regex] = {}
        self._answers: dict[tuple[str, str, str], bool] = {}

    def get(self, meter: Meter, pattern: str, flags: str) -> Regex:
        meter.read(len(pattern) + len(flags))
        found = self._compiled.get((pattern, flags))
        if found is None:
            if len(self._compiled) >= _KEPT_PATTERNS:
                self._compiled.clear()
            found = self._compiled[pattern, flags] = compile_regex(meter, pattern, flags)
            meter.grow(found.size)
            meter.step(found.size)
        return found

    def test(self, meter: Meter, pattern: str, flags: str, text: str) -> bool:
        key = (pattern, flags, text)
        answer = self._answers.get(key)
        if answer is None:
            regex = self.get(meter, pattern, flags)
            meter.work(len(text) * regex.weight)
            answer = regex.test(text)
            if len(text) + len(pattern) <= _LONGEST_KEPT:
                if len(self._answers) >= _KEPT_ANSWERS:
                    self._answers.clear()
                self._answers[key] = answer
        return answer


def compile_regex(meter: Meter, pattern: str, flags: str) -> Regex:
    """Charged by what can make it slow, before it is compiled: RE2 finds out late that a pattern is too large."""
    meter.read(len(flags))
    if flags.strip("gim"):
        raise JqError(f"unsupported regular expression flag: {quoted(meter, flags)}")
    whole = f"{'(?s)' if 'm' in flags else ''}{'(?i)' if 'i' in flags else ''}{pattern}"
    if len(pattern) > MAX_PATTERN:
        raise JqError(f"regular expression is longer than {MAX_PATTERN:,} characters")
    repeats = sum(int(count) for count in _REPEATS.findall(pattern))
    classes = len(_CLASSES.findall(pattern))
    if fault := _refused_by_go(pattern):
        raise JqError(f"invalid regular expression {quoted(meter, whole)}: error parsing regexp: {fault}")
    meter.step((len(pattern) >> 1) + (repeats >> 3) + 100 * classes + min(classes * repeats, 5000))
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        compiled = re2.compile(whole.encode("utf-8", "surrogateescape"), options)
    except re2.error as error:
        cause = error.args[0] if error.args else ""
        cause = cause.decode("utf-8", "replace") if isinstance(cause, bytes) else str(cause)
        raise JqError(f"invalid regular expression {quoted(meter, whole)}: {_in_gos_words(cause)}") from None
    return Regex(compiled, _tester(whole, compiled), _group_names(meter, pattern, compiled), compiled.programsize)


_GROUPS = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|(?P<group>\((?:\?P?<(?P<name>[^>]*)>|(?!\?)))",
    re.DOTALL,
)


def _group_names(meter: Meter, pattern: str, compiled: Value) -> tuple[str | None, ...]:
    """By number. A name that several groups have is in RE2's index only once: then the pattern itself is read."""
    meter.read(len(pattern))
    written = [found["name"] for found in _GROUPS.finditer(pattern) if found["group"]]
    if len(written) == compiled.groups and sum(name is not None for name in written) > len(compiled.groupindex):
        return tuple(written)
    names: list[str | None] = [None] * compiled.groups
    for name, number in compiled.groupindex.items():
        names[number - 1] = name.decode() if isinstance(name, bytes) else name
    return tuple(names)


_NOT_UTF8 = re.compile("[\ud800-\udfff]")
_ODD = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\(?P<escape>.)|\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|(?P<group>\(\?P?<([^>]*)>)", re.DOTALL
)
"""What has to be stepped over, or looked at, to find what RE2 takes and Go does not."""


def _refused_by_go(pattern: str) -> str | None:
    """Go has no `\\C`, which matches a byte, and wants ASCII in the names of groups and UTF-8 everywhere."""
    if "\\C" not in pattern and pattern.isascii():
        return None
    if bad := _NOT_UTF8.search(pattern):
        return f"invalid UTF-8: `{pattern[bad.start() :]}`"
    for found in _ODD.finditer(pattern):
        if found["escape"] == "C":
            return "invalid escape sequence: `\\C`"
        if found["group"] and not found[3].isascii():
            return f"invalid named capture: `{found['group']}`"
    return None


class Plain(NamedTuple):
    """A pattern that is plain text, and whether what matches begins or ends with it."""

    begins: bool
    text: str
    ends: bool


def plain_pattern(pattern: str) -> Plain | None:
    """The parts of a pattern that needs no engine.

    >>> plain_pattern("^dell"), plain_pattern("^d.ll")
    (Plain(begins=True, text='dell', ends=False), None)
    """
    plain = _PLAIN.match(pattern)
    return None if plain is None else Plain(plain[1] != "", plain[2], plain[3] != "")


def _tester(pattern: str, compiled: Value) -> Callable[[str], bool]:
    plain = plain_pattern(pattern)
    if plain is not None:
        begins, text, ends = plain
        if begins and ends:
            return text.__eq__
        if begins:
            return lambda subject: subject.startswith(text)
        if ends:
            return lambda subject: subject.endswith(text)
        return lambda subject: text in subject
    search = compiled.search
    if quick := matcher_of(pattern):
        return lambda subject: (
            (quick(subject) if subject.isascii() else search(without_surrogates(subject).encode())) is not None
        )
    return lambda subject: search(without_surrogates(subject).encode()) is not None


def _in_gos_words(cause: str) -> str:
    kind, colon, what = cause.partition(": ")
    for theirs, gos in _FAULTS:
        if kind == theirs:
            return f"error parsing regexp: {gos}{f': `{what}`' if colon or kind in _NAMED_ALWAYS else ''}"
    return f"error parsing regexp: {cause}"
