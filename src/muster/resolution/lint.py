"""What is wrong, or likely to be, with the constraints and channels of catalogs, before anyone resolves with them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.forms import InvalidConstraintError, Requirement
from muster.resolution.constraints.matching import Matcher, checked_requirement
from muster.resolution.constraints.range_traps import range_traps
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.constraints.spellings import meaningless
from muster.resolution.telling.nearest import near_misses
from muster.values.json import JsonObject
from muster.values.semver_range import parse_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.catalog.catalog import Catalog


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


_Found: TypeAlias = tuple[str, Severity, Reason]
"""Where in a bundle, how bad, and what."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Where (file and line, then a JSON pointer) and what."""

    where: str
    severity: Severity
    reason: Reason
    bundle: str = ""  # that it is about

    @property
    def text(self) -> str:
        said = sentence(self.reason)
        return f"{self.bundle}: {said}" if self.bundle else said

    def __str__(self) -> str:
        return f"{self.where}: {self.severity.value}: {self.text}"

    def to_json(self) -> JsonObject:
        reason = self.reason.about(bundle=self.bundle) if self.bundle else self.reason
        return {
            "where": self.where,
            "severity": self.severity.value,
            "text": self.text,
            "reason": msgspec.to_builtins(reason),
        }


_LINE = re.compile(r":(\d+)(?=#|$)")
# Findings of the reader that a resolution lives with, but a catalog should not ship.
_ERRORS_HERE = frozenset({Code.SEVERAL_KINDS, Code.EMPTY_LIST})
_NOWHERE: Mapping[tuple[str, str], str] = {}


def lint_catalogs(
    catalogs: Sequence[Catalog],
    places: Mapping[tuple[str, str], str] = _NOWHERE,
    advance: Callable[[], None] = lambda: None,
) -> list[Finding]:
    """Every finding, sorted by place. `places` says where a bundle, by package and name, was read."""
    return sorted(dict.fromkeys(_findings(catalogs, places, advance)), key=_place)


def _place(finding: Finding) -> tuple[object, ...]:
    """Files by name, lines by number."""
    file, line, rest = _LINE.split(finding.where, maxsplit=1) if _LINE.search(finding.where) else (finding.where, 0, "")
    return (file, int(line), rest, finding.severity, finding.text)


def _findings(
    catalogs: Sequence[Catalog], places: Mapping[tuple[str, str], str], advance: Callable[[], None]
) -> Iterator[Finding]:
    for catalog in catalogs:
        for fault in catalog.faults:
            yield Finding(fault.where or catalog.key.name, Severity.ERROR, fault.reason)
        for key, broken in catalog.broken.items():
            subject = Subject(package=key.package, channel=key.channel)
            unordered = Reason(Code.CHANNEL_UNORDERED, subject, parts=(broken.reason,))
            where = places.get((key.package, f"channel {key.channel}"), catalog.key.name)
            yield Finding(where, Severity.ERROR, unordered)
    linter = _Linter(catalogs)
    seen: set[Bundle] = set()
    for catalog in catalogs:
        for entry in catalog.entries:
            if entry.bundle in seen:
                continue
            seen.add(entry.bundle)
            advance()
            where = places.get((entry.package, entry.name), f"{catalog.key.name}/{entry.name}")
            for pointer, severity, reason in linter.bundle(entry.bundle):
                yield Finding(f"{where}{'#' + pointer if pointer else ''}", severity, reason, entry.name)


class _Linter:
    def __init__(self, catalogs: Sequence[Catalog]) -> None:
        self._catalogs = catalogs
        self._matcher = Matcher()
        self._bundles = list(dict.fromkeys(e.bundle for catalog in catalogs for e in catalog.entries))
        self._known_misses: dict[c.Constraint, Reason | None] = {}

    def bundle(self, bundle: Bundle) -> Iterator[_Found]:
        read: list[tuple[str, Requirement]] = []
        for place, prop in bundle.requirements:
            pointer = f"/properties/{place}"
            if (warning := meaningless(prop)) is not None:
                yield pointer, Severity.WARNING, warning
                continue
            try:
                requirement = checked_requirement(prop, place, self._matcher)
            except InvalidConstraintError as error:
                yield error.path, Severity.ERROR, Reason(Code.CONSTRAINT_INVALID, parameters={"message": error.reason})
                continue
            if requirement is None:
                continue
            for path, reason in requirement.warnings:
                yield path, Severity.ERROR if reason.code in _ERRORS_HERE else Severity.WARNING, reason
            read.append((pointer, requirement))
            yield from self._requirement(bundle, pointer, requirement)
        yield from self._contradictions(read)

    def _requirement(self, bundle: Bundle, pointer: str, requirement: Requirement) -> Iterator[_Found]:
        constraint = requirement.constraint
        for trap in (trap for each in _ranges(constraint) for trap in range_traps(each)):
            yield pointer, Severity.WARNING, trap
        if isinstance(constraint, c.NotConstraint):
            yield pointer, Severity.WARNING, Reason(Code.TOP_LEVEL_NOT)
        elif self._matcher.check(constraint)(bundle):
            yield pointer, Severity.WARNING, Reason(Code.MEETS_ITSELF, parts=(what_is_asked(constraint),))
        elif (miss := self._miss(constraint)) is not None:
            yield pointer, Severity.WARNING, miss

    def _miss(self, constraint: c.Constraint) -> Reason | None:
        """Why nothing in the catalogs meets a constraint; None if something does."""
        if constraint not in self._known_misses:
            met = any(self._matcher.entries(constraint, catalog) for catalog in self._catalogs)
            miss = None
            if not met:
                near = near_misses(constraint, self._bundles, self._matcher, upstream=False)
                miss = Reason(Code.NOTHING_MEETS, parts=(what_is_asked(constraint), *near[:1]))
            self._known_misses[constraint] = miss
        return self._known_misses[constraint]

    def _contradictions(self, read: Sequence[tuple[str, Requirement]]) -> Iterator[_Found]:
        """Requirements of one package that no single version meets."""
        packages = [
            (pointer, requirement.constraint)
            for pointer, requirement in read
            if isinstance(requirement.constraint, c.PackageConstraint) and not requirement.optional
        ]
        often = Counter(constraint.name for _, constraint in packages)
        for name in sorted(name for name, count in often.items() if count > 1):
            members = [constraint for _, constraint in packages if constraint.name == name]
            together = c.AllConstraint(tuple(members))
            alone = all(self._miss(member) is None for member in members)
            if alone and self._miss(together) is not None:
                pointer = next(pointer for pointer, constraint in packages if constraint.name == name)
                ranges = tuple(member.version_range for member in members)
                contradict = Reason(Code.RANGES_CONTRADICT, Subject(package=name), {"ranges": ranges})
                yield pointer, Severity.ERROR, contradict


def _ranges(constraint: c.Constraint) -> Iterator[str]:
    match constraint:
        case c.PackageConstraint(version_range=text):
            parse_range(text)  # was checked before; a trap is in a range that can be read
            yield text
        case c.AllConstraint(members=members) | c.AnyConstraint(members=members) | c.NotConstraint(members=members):
            for member in members:
                yield from _ranges(member)
        case _:
            return
