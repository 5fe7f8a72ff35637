"""The options of requests, checked once and for all callers, with the refusals of a real server.

Called by the verbs before anything else happens. What comes out is typed and sure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from muster.hub import status
from muster.hub.requests import DeleteOptions, MalformedBodyError
from muster.values.causes import Cause, forbidden, invalid, not_supported, required, shown, too_long
from muster.values.json import Json, JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.requests import Body, ListOptions, WatchOptions, WriteOptions

STRICT, WARN, IGNORE = "Strict", "Warn", "Ignore"
EXACT, NOT_OLDER = "Exact", "NotOlderThan"
_MANAGER_BYTES = 128
_POLICIES = ("Foreground", "Background", "Orphan", "nil")


@dataclass(frozen=True, slots=True)
class Write:
    """Options of create, update and patch, checked."""

    dry_run: bool
    manager: str
    validation: str
    force: bool


@lru_cache(maxsize=1024)  # clients send the same few again and again
def write_options(kind: str, options: WriteOptions, *, applying: bool = False) -> Write:
    """`kind` is CreateOptions, UpdateOptions or PatchOptions. Raises 422 with everything that is wrong."""
    causes: list[Cause] = []
    if kind == "PatchOptions":
        if applying and not options.field_manager:
            causes.append(required("fieldManager", "is required for apply patch"))
        if not applying and options.force is not None:
            causes.append(forbidden("force", "may not be specified for non-apply patch"))
    causes += _manager(options.field_manager)
    causes += _dry_run(options.dry_run)
    if options.field_validation not in ("", IGNORE, STRICT, WARN):
        causes.append(not_supported("fieldValidation", options.field_validation, ("", IGNORE, STRICT, WARN)))
    _refuse(kind, causes)
    return Write(
        bool(options.dry_run),
        options.field_manager or _manager_of(options.user_agent),
        options.field_validation or WARN,
        bool(options.force),
    )


def delete_options(options: DeleteOptions, body: Body | None) -> DeleteOptions:
    """The options of a delete, those in the body before those of the query, checked."""
    if body is not None:
        options = _from_body(options, body)
    causes = [*_dry_run(options.dry_run)]
    policy = options.propagation_policy
    if policy is not None and options.orphan_dependents is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(invalid("propagationPolicy", policy, detail))
    if policy is not None and policy not in _POLICIES[:3]:
        causes.append(not_supported("propagationPolicy", policy, _POLICIES))
    _refuse("DeleteOptions", causes)
    return options


def _from_body(options: DeleteOptions, body: Body) -> DeleteOptions:
    try:
        value = body.read().value
    except MalformedBodyError as error:
        raise status.bad_request(f"couldn't get version/kind; json parse error: {error.reason}") from None
    if value is None:
        return options
    if not isinstance(value, dict) or value.get("kind", "DeleteOptions") != "DeleteOptions":
        raise status.bad_request("decoded object cannot be converted to DeleteOptions")
    preconditions = object_at(value, "preconditions")
    found: JsonObject = {
        "dry_run": tuple(value["dryRun"]) if _is_strings(value.get("dryRun")) else None,
        "grace_period_seconds": _checked(value, "gracePeriodSeconds", int),
        "propagation_policy": _checked(value, "propagationPolicy", str),
        "orphan_dependents": _checked(value, "orphanDependents", bool),
        "uid": _checked(preconditions, "uid", str),
        "resource_version": _checked(preconditions, "resourceVersion", str),
    }
    return replace(options, **{name: given for name, given in found.items() if given is not None})


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _checked(value: Json, name: str, kind: type) -> Json:
    found = value.get(name) if isinstance(value, dict) else None
    if found is not None and (not isinstance(found, kind) or (kind is int and isinstance(found, bool))):
        raise status.bad_request(
            'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: '
            f"json: cannot unmarshal {go_type(found)} into Go struct field DeleteOptions.{name}"
        )
    return found


def go_type(value: object) -> str:
    """What Go's JSON decoder calls a value in its complaints."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def list_options(options: ListOptions) -> None:
    """Refuse combinations that a list does not allow."""
    causes: list[Cause] = []
    match_ = options.resource_version_match
    if match_:
        where = "resourceVersionMatch"
        if not options.resource_version:
            causes.append(forbidden(where, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if options.continue_token:
            causes.append(forbidden(where, "resourceVersionMatch is forbidden when continue is provided"))
        if match_ not in (EXACT, NOT_OLDER):
            causes.append(not_supported(where, match_, (EXACT, NOT_OLDER, "")))
        if match_ == EXACT and options.resource_version == "0":
            causes.append(forbidden(where, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if options.send_initial_events is not None:
        causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    _refuse("ListOptions", causes)


def watch_options(options: WatchOptions) -> WatchOptions:
    """The options of a watch with their defaults. A watch from nothing, or from 0, begins with what exists."""
    if (
        options.send_initial_events is None
        and not options.resource_version_match
        and options.resource_version in ("", "0")
    ):
        options = replace(options, send_initial_events=True, resource_version_match=NOT_OLDER)
    causes: list[Cause] = []
    match_ = options.resource_version_match
    where = "resourceVersionMatch"
    if options.send_initial_events is not None and match_ != NOT_OLDER:
        detail = f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER}"
        causes.append(forbidden(where, detail))
    if match_:
        if options.send_initial_events is None:
            detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            causes.append(forbidden(where, detail))
        if match_ != NOT_OLDER:
            causes.append(not_supported(where, match_, (NOT_OLDER,)))
        if options.continue_token:
            causes.append(forbidden(where, "resourceVersionMatch is forbidden when continue is provided"))
    _refuse("ListOptions", causes)
    return options


def revision(text: str) -> int:
    """A resourceVersion as a number; empty is 0."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        problem = "invalid syntax"
    elif len(text) > 20 or int(text) >= 2**64:
        problem = "value out of range"
    else:
        return int(text)
    sentence = f"strconv.ParseUint: parsing {shown(text)}: {problem}"
    raise status.internal(f"resourceVersion: Invalid value: {shown(text)}: {sentence}")


def _dry_run(values: Sequence[str]) -> list[Cause]:
    if all(value == "All" for value in values):
        return []
    return [not_supported("dryRun", list(values), ("All",))]


def _manager(name: str) -> list[Cause]:
    causes: list[Cause] = []
    if len(name.encode()) > _MANAGER_BYTES:
        causes.append(too_long("fieldManager", _MANAGER_BYTES))
    at = 0
    for character in name:
        if not character.isprintable():
            where = f"invalid character U+{ord(character):04X} (at position {at})"
            causes.append(invalid("fieldManager", name, where))
        at += len(character.encode())
    return causes


def _manager_of(user_agent: str) -> str:
    """The program a request came from: what stands before the slash of its user agent."""
    printable = "".join(character for character in user_agent.partition("/")[0] if character.isprintable())
    return printable.encode()[:_MANAGER_BYTES].decode(errors="ignore") or "unknown"


def _refuse(kind: str, causes: list[Cause]) -> None:
    if causes:
        raise status.invalid("meta.k8s.io", kind, "", causes)
