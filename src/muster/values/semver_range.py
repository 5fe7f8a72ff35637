"""Ranges of semantic versions in blang/semver's grammar: `>=1.2.0 <2.0.0 || 3.x`.

Spaces mean "and", `||` means "or", and binds weaker. The resolver asks for versions within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

from muster.values.quoting import go_quote
from muster.values.remembering import remembered
from muster.values.semver import InvalidVersionError, Version, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COMPARATORS: dict[str, Callable[[int, int], bool]] = {
    "": eq,
    "=": eq,
    "==": eq,
    ">": gt,
    ">=": ge,
    "<": lt,
    "<=": le,
    "!": ne,
    "!=": ne,
}
_INCREMENTS = {">", "<=", "", "=", "==", "!=", "!"}  # comparators that look past the last version of a wildcard
_WILDCARD_COMPARATORS = {
    ">": ">=",
    ">=": ">=",
    "<": "<",
    "<=": "<",
    "": "<",
    "=": "<",
    "==": "<",
    "!=": ">=",
    "!": ">=",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """One comparison with a version."""

    comparator: str
    version: Version

    def holds_for(self, version: Version) -> bool:
        return _COMPARATORS[self.comparator](version.compare(self.version), 0)


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Alternatives, each of them bounds that must all hold."""

    text: str
    alternatives: tuple[tuple[Bound, ...], ...]

    def __contains__(self, version: Version) -> bool:
        return any(all(bound.holds_for(version) for bound in bounds) for bounds in self.alternatives)

    def __str__(self) -> str:
        return self.text


@remembered(4096)
def parse_range(text: str) -> VersionRange:
    """Read a range; raises InvalidVersionError in the words of blang/semver."""
    alternatives = _alternatives(list(_terms(text)))
    expanded = [[part for term in terms for part in _without_wildcard(term)] for terms in alternatives]
    return VersionRange(text, tuple(tuple(map(_bound, terms)) for terms in expanded))


def _terms(text: str) -> Iterator[str]:
    """The terms between spaces. A space behind a comparator does not separate; a single character is dropped.

    The library loses one-character terms by an off-by-one, and ranges in catalogs have been accepted that way.
    """
    start = 0
    last = ""
    for index, char in enumerate(text):
        if char == " " and last not in {">", "<", "="}:
            if start < index - 1:
                yield text[start:index].replace(" ", "")
            start = index + 1
        elif char != " ":
            last = char
    if start < len(text) - 1:
        yield text[start:].replace(" ", "")


def _alternatives(terms: list[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    start = 0
    for index, term in enumerate(terms):
        if term == "||":
            if index == 0:
                raise InvalidVersionError("First element in range is '||'")
            groups.append(terms[start:index])
            start = index + 1
    if start == len(terms):
        raise InvalidVersionError("Last element in range is '||'")
    groups.append(terms[start:])
    return groups


def _split(term: str) -> tuple[str, str]:
    """The comparator and the version of a term."""
    for index, char in enumerate(term):
        if char.isdecimal():
            return term[:index].strip(), term[index:]
    raise InvalidVersionError(f"Could not get version from string: {go_quote(term)}")


def _without_wildcard(term: str) -> Iterator[str]:
    """A term with an x as one or two terms without: 1.2.x is >=1.2.0 and <1.3.0."""
    if "x" not in term:
        yield term
        return
    comparator, version = _split(term)
    lowest = version.replace(".x.x", ".x", 1).replace(".x", ".0", 1)
    if lowest.count(".") == 1:
        lowest += ".0"
    if comparator in {"", "=", "=="}:
        yield f">={lowest}"
    elif comparator in {"!=", "!"}:
        yield f"<{lowest}"
    bound = _after(lowest, version) if comparator in _INCREMENTS else lowest
    if comparator not in _WILDCARD_COMPARATORS:
        bound = lowest
    yield f"{_WILDCARD_COMPARATORS.get(comparator, '')}{bound}"


def _after(lowest: str, version: str) -> str:
    """The first version behind all that the wildcard stands for; nothing if the wildcard is not in the last place."""
    parts = lowest.split(".")
    names = version.split(".")
    place = {3: 1, 2: 0}.get(len(names)) if names[-1] == "x" else None
    if place is None or not parts[place].isascii() or not parts[place].isdigit():
        return ""
    parts[place] = str(int(parts[place]) + 1)
    return ".".join(parts)


def _bound(term: str) -> Bound:
    comparator, version = _split(term)
    whole = f"{comparator}{version}"
    if comparator not in _COMPARATORS:
        raise _unreadable(term, f"Could not parse comparator {go_quote(comparator)} in {go_quote(whole)}")
    try:
        return Bound(comparator, parse(version))
    except InvalidVersionError as error:
        raise _unreadable(term, f"Could not parse version {go_quote(version)} in {go_quote(whole)}: {error}") from None


def _unreadable(term: str, reason: str) -> InvalidVersionError:
    return InvalidVersionError(f"Could not parse Range {go_quote(term)}: {reason}")
