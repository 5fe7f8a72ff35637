"""Why a clause is in the problem: each clause carries one of these, and the explanation is made of them.

`group_of` puts clauses together that people think of as one fact: all versions of a package that need the same other
package, all that provide one API. What people and programs are told of them is made in `telling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from muster.resolution.constraints import forms as c
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Hashable

    from muster import reasons as told
    from muster.resolution.catalog.bundles import Entry
    from muster.resolution.catalog.properties import Api
    from muster.resolution.constraints.forms import Requirement
    from muster.resolution.request import Want
    from muster.resolution.solving.clauses import Clause


@dataclass(frozen=True, slots=True)
class Wanted:
    """A want exists and is met by one of its candidates; `impossible` says why it has none."""

    want: Want
    impossible: told.Reason | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """A bundle requires another one."""

    entry: Entry
    requirement: Requirement


@dataclass(frozen=True, slots=True)
class OnePackage:
    """Only one bundle of a package may be there."""

    package: str


@dataclass(frozen=True, slots=True)
class OneProvider:
    """Only one bundle that provides an API may be there."""

    api: Api


@dataclass(frozen=True, slots=True)
class TakesPlace:
    """An update takes the place of the installed bundle."""

    entry: Entry
    current: Entry


@dataclass(frozen=True, slots=True)
class Stays:
    """An installed bundle that no want owns stays."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Deprecated:
    entry: Entry


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The package is not among those that may be installed."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Faulty:
    """A bundle that cannot be used, because something in it cannot be read."""

    entry: Entry
    pointer: str  # to the part of the bundle
    message: str


ClauseReason: TypeAlias = (
    Wanted | Needs | OnePackage | OneProvider | TakesPlace | Stays | Deprecated | NotAllowed | Faulty
)


class Fact(NamedTuple):
    """A group of clauses as one statement: what kind, of what, and of what else."""

    kind: str
    about: str
    detail: Json = ""


def group_of(clause: Clause) -> Hashable:
    """The fact a clause belongs to."""
    reason: ClauseReason = clause.reason
    match reason:
        case Wanted(want=want):
            return Fact("want", want.name)
        case Needs(entry=entry, requirement=requirement):
            return Fact("needs", family(entry), target(requirement.constraint))
        case OnePackage(package=package):
            return Fact("one-package", package)
        case OneProvider(api=api):
            return Fact("one-provider", str(api), api)
        case TakesPlace(current=current):
            return Fact("takes-place", current.name)
        case Stays(entry=entry):
            return Fact("stays", entry.name)
        case Deprecated(entry=entry):
            return Fact("deprecated", family(entry))
        case NotAllowed(entry=entry):
            return Fact("not-allowed", family(entry))
        case Faulty(entry=entry):
            return Fact("faulty", family(entry))
        case _:
            assert_never(reason)


def family(entry: Entry) -> str:
    """What people call all versions of a bundle: its package."""
    return entry.package or entry.name


def target(constraint: c.Constraint) -> Hashable:
    """What a requirement is about: for a package its name, so that versions with different ranges are one fact."""
    return ("package", constraint.name) if isinstance(constraint, c.PackageConstraint) else constraint
