"""The whole check of one object, in the order of a real server. The API machinery and lint go through here.

1. `decode_problem` finds wrong types that are a 400 rather than a 422.
2. `prepare` drops nulls, fills defaults, prunes and normalizes, in place, and names unknown fields.
3. `validate_object` says what is wrong with the result, and with the change.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.api.decoding import decode_problem
from muster.api.metadata import validate_metadata, without_empty
from muster.api.resource import Verdict
from muster.values.causes import MOST_FOUND, NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID, Cause, invalid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.resource import Resource, Version

__all__ = ["decode_problem", "judged_object", "prepare", "validate_object"]


# With one of these, rules that look at the whole object cannot be trusted to find what they expect.
_BLOCKING: Final = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
NOT_CHECKED: Final = invalid(
    "<nil>",
    None,
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


def prepare(resource: Resource, version: Version, obj: JsonObject, live: JsonObject | None = None) -> list[str]:
    """Bring a decoded object into shape, in place. Returns the paths of fields that nobody knows.

    What it shares with a `live` object, which is stored, is in shape already.
    """
    unknown = version.compiled.prepare(obj, live)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        obj["metadata"] = without_empty(metadata)
    if resource.normalize is not None and (more := resource.normalize(obj)):
        unknown = sorted([*unknown, *more])
    for name, value in version.zero.items():
        if obj.get(name) is None:
            obj[name] = {} if value == {} else value
    return unknown


def validate_object(
    resource: Resource, version: Version, obj: JsonObject, old: JsonObject | None = None, subresource: str = ""
) -> list[Cause]:
    """What is wrong with a prepared object; with `old`, also with the change. Both are in the given version.

    On a status update only the status is new, and metadata was checked when it was written.
    """
    return list(judged_object(resource, version, obj, old, subresource).causes)


def judged_object(
    resource: Resource, version: Version, obj: JsonObject, old: JsonObject | None = None, subresource: str = ""
) -> Verdict:
    """The same, with the warnings that go with it."""
    if obj.get("kind") != resource.kind:
        return Verdict((invalid("kind", obj.get("kind", ""), f"must be {resource.kind}"),))
    if version.checks is None:
        return Verdict(tuple(_causes(resource, version, obj, old, subresource)))
    causes = _first_causes(resource, obj, old, subresource)
    found = version.checks.causes(obj, old, subresource, causes)
    return Verdict((*causes, *found.causes), found.warnings)


def is_blocked(causes: Iterable[Cause]) -> bool:
    """Whether an object is so wrong that rules which look at several fields are not asked."""
    return any(cause.reason in _BLOCKING for cause in causes)


def _first_causes(resource: Resource, obj: JsonObject, old: JsonObject | None, subresource: str) -> list[Cause]:
    """What is wrong with what every object has."""
    if resource.virtual or (subresource and old is not None and resource.compose is None):
        return []
    found = validate_metadata(obj, old, resource.namespaced, resource.name_problems)
    # On updates the real server checks metadata before the kind and again with it, and lists both findings.
    return found if old is None else found + found


def _causes(
    resource: Resource, version: Version, obj: JsonObject, old: JsonObject | None, subresource: str
) -> list[Cause]:
    causes = _first_causes(resource, obj, old, subresource)
    if resource.builtin:
        return causes + _own_rules(resource, obj, old, subresource)
    schema = version.compiled
    causes.extend(schema.validate(obj, old))
    if is_blocked(causes):
        return [*causes, NOT_CHECKED] if schema.has_rules else causes
    if old is not None and schema.has_rules:
        causes.extend(schema.transition(obj, old))
    if not causes:
        causes.extend(_own_rules(resource, obj, old, subresource))
    return causes


def _own_rules(resource: Resource, obj: JsonObject, old: JsonObject | None, subresource: str) -> list[Cause]:
    rules = resource.part_rules.get(subresource, resource.rules)
    if rules is None:
        return []
    found = rules(resource.to_storage(obj), None if old is None else resource.to_storage(old))
    return list(islice(found, MOST_FOUND))
