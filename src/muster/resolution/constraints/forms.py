"""The normal form of a constraint: what every spelling becomes, what the matcher reads and what is printed back.

A constraint says something of one bundle. A requirement is a constraint that some bundle of the answer must meet,
with where it was written. Two constraints that ask for the same are equal, whatever their messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from muster.reasons import Reason
    from muster.resolution.catalog.properties import Api


class InvalidConstraintError(InvalidObjectError):
    """A constraint that cannot be read, with a JSON pointer to the part at fault."""


class EmptyConstraintError(InvalidConstraintError):
    """OLM's reading: one without a kind. It converts what stands before it first, and may find another fault there."""

    def __init__(self, reason: str, before: tuple[Constraint, ...]) -> None:
        self.before = before
        super().__init__("", reason)


@dataclass(frozen=True, slots=True)
class CelConstraint:
    """A CEL rule over the properties of the bundle."""

    rule: str
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PackageConstraint:
    name: str
    version_range: str
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ApiConstraint:
    """The bundle provides the API."""

    api: Api
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LabelConstraint:
    label: str
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PropertyConstraint:
    """Some property has this type and this JSON value, which is kept as text so that constraints can be compared."""

    name: str
    value_text: str
    message: str | None = field(default=None, compare=False)

    @property
    def value(self) -> Json:
        return json.loads(self.value_text)


@dataclass(frozen=True, slots=True)
class AllConstraint:
    members: tuple[Constraint, ...]
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AnyConstraint:
    members: tuple[Constraint, ...]
    message: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NotConstraint:
    """None of the members holds for the bundle that is looked for."""

    members: tuple[Constraint, ...]
    message: str | None = field(default=None, compare=False)


Constraint: TypeAlias = (
    CelConstraint
    | PackageConstraint
    | ApiConstraint
    | LabelConstraint
    | PropertyConstraint
    | AllConstraint
    | AnyConstraint
    | NotConstraint
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a requirement was written: the place among the bundle's properties, and in which of the spellings."""

    index: int
    syntax: str

    @property
    def pointer(self) -> str:
        return f"/properties/{self.index}"

    def written(self, path: str) -> str:
        """Where a part of the normal form stands in the bundle: some spellings have fewer levels."""
        if self.syntax in ("specification", "short"):
            path = path.removeprefix("/cel")
        elif self.syntax == "legacy":
            path = path.removeprefix("/package")
        return f"{self.pointer}/value{path}"


class Warned(NamedTuple):
    """What deserves a warning in a requirement that can be read: where, as a JSON pointer, and why."""

    pointer: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Requirement:
    """A constraint that some bundle must meet; an optional one is met if that changes nothing else."""

    constraint: Constraint
    optional: bool = False
    origin: Origin = field(default=Origin(0, ""), compare=False)
    warnings: tuple[Warned, ...] = field(default=(), compare=False)


def value_text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def normal_form(requirement: Requirement) -> JsonObject:
    """The requirement with its kind said aloud, as `muster resolve constraints` prints it."""
    return _kinded(requirement.constraint) | {"action": {"id": "require", "optional": requirement.optional}}


def _kinded(constraint: Constraint) -> JsonObject:
    kind, content = _content(constraint, _kinded)
    return {"kind": kind, kind: content, "message": constraint.message}


def shipped_form(requirement: Requirement) -> JsonObject:
    """The requirement as a value of olm.constraint in the spelling that was shipped."""
    action = {"action": {"id": "require", "optional": True}} if requirement.optional else {}
    return _shipped(requirement.constraint) | action


def _shipped(constraint: Constraint) -> JsonObject:
    kind, content = _content(constraint, _shipped)
    message = {} if constraint.message is None else {"failureMessage": constraint.message}
    return message | {kind: content}


def _content(constraint: Constraint, nested: Json) -> tuple[str, JsonObject]:
    match constraint:
        case CelConstraint(rule=rule):
            return "cel", {"rule": rule}
        case PackageConstraint(name=name, version_range=wanted):
            return "package", {"packageName": name, "versionRange": wanted}
        case ApiConstraint(api=api):
            return "gvk", {"group": api.group, "version": api.version, "kind": api.kind}
        case LabelConstraint(label=label):
            return "label", {"label": label}
        case PropertyConstraint(name=name):
            return "propertyEquals", {"name": name, "value": constraint.value}
        case AllConstraint(members=members):
            return "all", {"constraints": [nested(member) for member in members]}
        case AnyConstraint(members=members):
            return "any", {"constraints": [nested(member) for member in members]}
        case NotConstraint(members=members):
            return "not", {"constraints": [nested(member) for member in members]}
        case _:
            assert_never(constraint)


def messages(constraint: Constraint) -> list[str]:
    """The authors' messages, outermost first."""
    own = [constraint.message] if constraint.message else []
    if isinstance(constraint, AllConstraint | AnyConstraint | NotConstraint):
        return own + [text for member in constraint.members for text in messages(member)]
    return own
