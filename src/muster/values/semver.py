"""Semantic versions and ranges of them, as the Go library blang/semver v4 reads and orders them.

Kubernetes' CEL functions, OCM's selectors and operator bundles all speak this dialect. Build metadata has no say
in comparisons.
"""

from __future__ import annotations

import re
from functools import total_ordering
from typing import TYPE_CHECKING, Final

import msgspec

from muster.errors import MusterError
from muster.values.json import Json
from muster.values.quoting import go_quote
from muster.values.remembering import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_UINT64 = 2**64 - 1
_NUMBER = re.compile("[0-9]*")
NUMBERS: Final[Mapping[str, int]] = {str(number): number for number in range(1000)}  # quicker than to read them
LEADING_V: Final[Mapping[str, int]] = {**NUMBERS, **{f"v{number}": number for number in range(1000)}}
_WORD = re.compile("[0-9A-Za-z-]*")


class InvalidVersionError(MusterError):
    """A text that is no version or no range, in the words of blang/semver."""


@total_ordering
class Version(msgspec.Struct, frozen=True, eq=False):
    """major.minor.patch-pre+build. Build a version with `parse`."""

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[Json, ...]:
        """What versions are ordered by."""
        # A release comes after its pre-releases; in them numbers come before words, fewer parts before more.
        order = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.pre)
        return (self.major, self.minor, self.patch, not self.pre, order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self.compare(other) == 0

    def __lt__(self, other: Version) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(map(str, self.pre))
        if self.build:
            text += "+" + ".".join(self.build)
        return text

    def compare(self, other: Version) -> int:
        if self.major != other.major:
            return 1 if self.major > other.major else -1
        if self.minor != other.minor:
            return 1 if self.minor > other.minor else -1
        if self.patch != other.patch:
            return 1 if self.patch > other.patch else -1
        if not self.pre and not other.pre:
            return 0
        left, right = self.key, other.key
        return (left > right) - (left < right)


def plain_numbers(text: str, majors: Mapping[str, int] = NUMBERS) -> tuple[int, int, int] | None:
    """What nearly every version is: three numbers that are read as they stand. None for all others.

    >>> plain_numbers("1.30.2"), plain_numbers("v1.30.2"), plain_numbers("v1.30.2", LEADING_V)
    ((1, 30, 2), None, (1, 30, 2))
    """
    parts = text.split(".", 3)
    if len(parts) != 3:
        return None
    major, minor, patch = parts
    try:
        if len(patch) <= 3:
            return majors[major], NUMBERS[minor], NUMBERS[patch]
        # Some count their builds in it.
        if patch.isdecimal() and patch.isascii() and patch[0] != "0" and len(patch) < 18:
            return majors[major], NUMBERS[minor], int(patch)
    except KeyError:
        pass
    return None


_KNOWN_BEGINNINGS = 1024
_FAR = 10**10  # more than the last number of a version that is told by its beginning
_LONGEST_PATCH = 9  # digits


def distances(wanted: tuple[int, int, int], majors: Mapping[str, int] = NUMBERS) -> Callable[[str], int | None] | None:
    """How far a version of three plain numbers is from the wanted one: 0 if it is that, and less if it comes before.

    Many versions have few beginnings, so the two numbers of one are compared once. None for all other texts.

    >>> distance = distances((1, 30, 0))
    >>> distance("1.30.2"), distance("1.29.9") < 0, distance("1.30.0-rc.1"), distance("01.30.2")
    (2, True, None, None)
    """
    *beginning, patch = wanted
    if patch >= _FAR:
        return None
    known: dict[str, int] = {}

    def compared(head: str) -> int | None:
        major, dot, minor = head.partition(".")
        numbers = [majors.get(major), NUMBERS.get(minor)]
        if not dot or None in numbers:
            return None
        if len(known) >= _KNOWN_BEGINNINGS:
            known.clear()
        far = 0 if numbers == beginning else _FAR if numbers > beginning else -_FAR  # type: ignore[operator]
        known[head] = far - patch
        return far - patch

    def distance(text: str) -> int | None:
        head, _, last = text.rpartition(".")
        base = known.get(head)
        if base is None:
            base = compared(head)
            if base is None:
                return None
        number = NUMBERS.get(last)
        if number is None:  # some count their builds in it
            if not (3 < len(last) <= _LONGEST_PATCH and last.isdecimal() and last.isascii() and last[0] != "0"):
                return None
            number = int(last)
        return base + number

    return distance


@remembered(8192)
def parse(text: str) -> Version:
    """Read a version, strictly; raises InvalidVersionError."""
    if plain := plain_numbers(text):
        return Version(*plain)
    if not text:
        raise InvalidVersionError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise InvalidVersionError("No Major.Minor.Patch elements found")
    numbers = _number(parts[0], "Major"), _number(parts[1], "Minor")
    rest, plus, build = parts[2].partition("+")
    patch_text, dash, pre = rest.partition("-")
    return Version(
        *numbers,
        _number(patch_text, "Patch"),
        tuple(map(_pre_release, pre.split("."))) if dash else (),
        tuple(map(_build, build.split("."))) if plus else (),
    )


def parse_tolerant(text: str) -> Version:
    """Read a version that may have spaces around it, a leading v, leading zeros, or lack minor and patch."""
    return parse(_completed(text.strip(" \t\n\v\f\r\x85\xa0"), "Short"))


def parse_normalized(text: str) -> Version:
    """The same as Kubernetes does it: without forgiving spaces, and with its own words for what is wrong."""
    if plain := plain_numbers(text, LEADING_V):
        return Version(*plain)
    return parse(_completed(text, "short"))


def is_version(text: str, *, normalize: bool = False) -> bool:
    try:
        (parse_normalized if normalize else parse)(text)
    except InvalidVersionError:
        return False
    return True


def _completed(text: str, short: str) -> str:
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise InvalidVersionError(f"{short} version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_zeros(part: str) -> str:
    if not part or (len(part) == 1 and part.isascii()):  # of one byte, as Go counts
        return part
    bare = part.lstrip("0")
    return bare if bare[:1].isascii() and bare[:1].isdigit() else f"0{bare}"


def _number(text: str, name: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise InvalidVersionError(f"Invalid character(s) found in {name.lower()} number {go_quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise InvalidVersionError(f"{name} number must not contain leading zeroes {go_quote(text)}")
    return _uint64(text)


def _uint64(text: str) -> int:
    if not text:
        raise InvalidVersionError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or (number := int(text)) > MAX_UINT64:
        raise InvalidVersionError(f"strconv.ParseUint: parsing {go_quote(text)}: value out of range")
    return number


def _pre_release(text: str) -> int | str:
    if not text:
        raise InvalidVersionError("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise InvalidVersionError(f"Numeric PreRelease version must not contain leading zeroes {go_quote(text)}")
        return _uint64(text)
    if not _WORD.fullmatch(text):
        raise InvalidVersionError(f"Invalid character(s) found in prerelease {go_quote(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise InvalidVersionError("Build meta data is empty")
    if not _WORD.fullmatch(text):
        raise InvalidVersionError(f"Invalid character(s) found in build meta data {go_quote(text)}")
    return text
