"""Why a clause is in the problem: each clause carries one of these, and the explanation is made of them.

`group_of` puts clauses together that people think of as one fact: all versions of a package that need the same other
package, all that provide one API. `upstream_text` gives a clause in the words of the Operator Lifecycle Manager.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from muster.resolution.constraints import forms as c
from muster.resolution.solving.clauses import Kind
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from muster.resolution.catalog.bundles import Entry
    from muster.resolution.catalog.properties import Api
    from muster.resolution.constraints.forms import Requirement
    from muster.resolution.request import Want
    from muster.resolution.solving.clauses import Clause


@dataclass(frozen=True, slots=True)
class Wanted:
    """A want exists and is met by one of its candidates; `impossible` says why it has none."""

    want: Want
    impossible: str = ""


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
    fault: str


Reason: TypeAlias = Wanted | Needs | OnePackage | OneProvider | TakesPlace | Stays | Deprecated | NotAllowed | Faulty


class Fact(NamedTuple):
    """A group of clauses as one statement: what kind, of what, and of what else."""

    kind: str
    about: str
    detail: Json = ""


def group_of(clause: Clause) -> Hashable:
    """The fact a clause belongs to."""
    reason: Reason = clause.reason
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


def upstream_text(clause: Clause, identifiers: Sequence[str]) -> str:
    """The clause as upstream prints it in an unsatisfiable core."""
    reason: Reason = clause.reason
    others = [identifiers[other] for other in clause.others]
    match reason:
        case Wanted(want=want, impossible=impossible):
            if clause.kind is Kind.MANDATORY:
                return f"subscription {want.name} exists"
            if clause.kind is Kind.PROHIBITED:
                return impossible
            if not others:
                return f"no operators found matching the criteria of subscription {want.name}"
            listed = others[0] if len(others) == 1 else f"at least one of {', '.join(others[:-1])} or {others[-1]}"
            return f"subscription {want.name} requires {listed}"
        case Needs(entry=entry, requirement=requirement):
            return f"bundle {entry.name} requires an operator {c.upstream_text(requirement.constraint)}"
        case OnePackage(package=package):
            return f"{_and(sorted(others))} originate from package {package}"
        case OneProvider(api=api):
            return f"{_and(sorted(others))} provide {api}"
        case TakesPlace():
            return f"{identifiers[clause.subject]} conflicts with {others[0]}"
        case Stays(entry=entry):
            return f"clusterserviceversion {entry.name} exists and is not referenced by a subscription"
        case Deprecated(entry=entry):
            return f"bundle {entry.identifier} is deprecated"
        case NotAllowed(entry=entry):
            return f"package: {entry.package} is not white listed"
        case Faulty(entry=entry, fault=fault):
            return f"bundle {entry.identifier}: {fault}"
        case _:
            assert_never(reason)


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
