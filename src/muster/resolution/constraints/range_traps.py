"""Version ranges that mean something else than they seem to, in the dialect of blang/semver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.reasons import Code, Reason
from muster.values.semver import parse
from muster.values.semver_range import VersionRange, parse_range

if TYPE_CHECKING:
    from collections.abc import Iterator

_HYPHEN: Final = re.compile(r"\S\s+-\s+\S")
_NEGATED_WILDCARD: Final = re.compile(r"!=?\s*[0-9]+(\.[0-9x]+)*\.x")
_RELEASE_BOUND: Final = re.compile(r"<\s*([0-9]+\.[0-9]+\.[0-9]+)(?![0-9A-Za-z.+-])")
_PROBES: Final = tuple(
    parse(f"{major}.{minor}.{patch}") for major in range(12) for minor in (0, 1, 5, 20) for patch in (0, 1, 9)
)


def range_traps(text: str) -> Iterator[Reason]:
    """What people are likely to misread in a range that can be read."""
    parsed = parse_range(text)
    if _HYPHEN.search(text):
        yield Reason(Code.RANGE_HYPHEN, parameters={"range": text})
    if _NEGATED_WILDCARD.search(text) and _matches_nothing(parsed):
        yield Reason(Code.RANGE_EMPTY, parameters={"range": text})
    for bound in _RELEASE_BOUND.findall(text):
        pre = parse(f"{bound}-0")
        if pre in parsed:
            yield Reason(Code.RANGE_HAS_PRERELEASES, parameters={"range": text, "version": bound})


def _matches_nothing(wanted: VersionRange) -> bool:
    return not any(version in wanted for version in _PROBES)
