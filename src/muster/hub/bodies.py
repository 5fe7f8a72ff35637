"""From a body to an object of the kind that was asked for: decoded, checked for its type, pruned and defaulted.

Called by the writing verbs after authorization. Each refusal is worded as the real server words it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.metadata import metadata_warnings
from muster.api.schema import fresh
from muster.api.validation import decode_problem, prepare
from muster.hub import status
from muster.hub.objects import MAX_DEPTH, is_too_deep
from muster.hub.options import IGNORE, STRICT, go_type
from muster.hub.requests import MalformedBodyError
from muster.values.causes import Cause, invalid
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.resource import Version
    from muster.hub.requests import Body, Decoded, Target

_SUMMARY = 30  # how much of a body an error message repeats


def read_object(target: Target, body: Body, validation: str) -> tuple[JsonObject, tuple[str, ...]]:
    """The object a create or update sends, and warnings about what it contains. Raises 400 and 422."""
    kind = target.resource.kind
    try:
        decoded = body.read()
    except MalformedBodyError as error:
        why = f"couldn't get version/kind; json parse error: {error.reason}"
        raise _unrecognized(kind, why, body.text) from None
    obj = decoded.value
    if not isinstance(obj, dict):
        why = (
            "couldn't get version/kind; json parse error: json: cannot unmarshal "
            f'{go_type(obj)} into Go value of type struct {{ APIVersion string "json:\\"apiVersion,omitempty\\""; '
            'Kind string "json:\\"kind,omitempty\\"" }'
        )
        raise _unrecognized(kind, why, decoded.text)
    _check_type(target, obj, decoded, validation)
    problem = _type_problem(target, obj)
    if problem is not None:
        raise _unhandled(target, problem)
    unknown = prepare(target.resource, target.version, obj)
    complaints = _complaints(unknown, decoded.duplicates)
    if complaints and validation == STRICT:
        raise _unhandled(target, f"strict decoding error: {status.listed(complaints)}")
    repeated = _without_repeated_owners(obj, "")
    return obj, repeated if validation == IGNORE else complaints + repeated


def read_patch(body: Body) -> Decoded:
    """The body of a JSON, merge or strategic patch."""
    try:
        return body.read()
    except MalformedBodyError as error:
        raise status.bad_request(f"error decoding patch: {error.reason}") from None


def read_whole(target: Target, body: Body, validation: str) -> tuple[JsonObject, tuple[str, ...]]:
    """The object that a create or update sends, at the address it is sent to, and warnings."""
    obj, warnings = read_object(target, body, validation)
    check_address(target, obj)
    return obj, warnings


def read_configuration(target: Target, body: Body, validation: str) -> tuple[JsonObject, tuple[str, ...]]:
    """The configuration of an apply patch."""
    try:
        decoded = body.read()
    except MalformedBodyError as error:
        raise status.bad_request(f"error decoding patch: {error.reason}") from None
    config = decoded.value
    if not isinstance(config, dict):
        raise status.bad_request(
            f"error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
            f"{go_type(config)} into Go value of type map[string]interface {{}}"
        )
    complaints = _complaints((), decoded.duplicates)
    if complaints and validation == STRICT:
        raise status.bad_request(f"error strict decoding patch: {status.listed(complaints)}")
    api_version, kind = _text(config.get("apiVersion")), _text(config.get("kind"))
    if api_version != target.api_version or kind != target.resource.kind:
        group, _, version = api_version.rpartition("/")
        raise status.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    if not isinstance(config.get("metadata", {}), dict):
        raise status.bad_request(f"metadata: expected an object, got {go_type(config['metadata'])}")
    if config.get("metadata", {}).get("managedFields") is not None:
        raise status.bad_request("metadata.managedFields must be nil")
    return config, () if validation == IGNORE else complaints


def checked_result(
    target: Target, obj: Json, live: JsonObject, patch: Decoded, validation: str
) -> tuple[JsonObject, tuple[str, ...]]:
    """What a patch made of an object, as if it had been sent: pruned, defaulted, with warnings. Raises 400 and 422.

    What it shares with the live object was checked when that was stored.
    """
    if isinstance(obj, list) and is_too_deep({"": obj}):
        raise _bad_patch(patch.text, f"exceeded max depth of {MAX_DEPTH}")
    if not isinstance(obj, dict):
        raise _bad_patch(
            _json(obj), f"json: cannot unmarshal {go_type(obj)} into Go value of type map[string]interface {{}}"
        )
    if target.resource.builtin or target.resource.convert is not None:
        live = {}  # these are always made anew
    if is_too_deep(fresh(obj, live)):
        raise _bad_patch(patch.text, f"exceeded max depth of {MAX_DEPTH}")
    _check_type(target, obj, patch, IGNORE)
    if obj["metadata"] is live.get("metadata"):
        problem = embedded_problem(target, fresh(obj, live))
    else:
        problem = _type_problem(target, fresh(obj, live))
    if problem is not None:
        raise _bad_patch(_json(obj), problem)
    text = _json(obj) if validation == STRICT else ""
    complaints = patch.unknown + _complaints(prepare(target.resource, target.version, obj, live), patch.duplicates)
    if complaints and validation == STRICT:
        raise _bad_patch(text, f"strict decoding error: {status.listed(complaints)}")
    obj["metadata"] = dict(obj["metadata"])  # ours from here on, also where the patch has nothing to say about it
    repeated = _without_repeated_owners(obj, " after mutating admission happens")
    return obj, repeated if validation == IGNORE else complaints + repeated


def _check_type(target: Target, obj: JsonObject, decoded: Decoded, validation: str) -> None:
    """apiVersion and kind must be those of the target. Built-in kinds may leave them out."""
    resource = target.resource
    api_version, kind = _text(obj.get("apiVersion")), _text(obj.get("kind"))
    if resource.builtin:
        api_version, kind = api_version or target.api_version, kind or resource.kind
        obj["apiVersion"], obj["kind"] = api_version, kind
    if not kind or not api_version:
        missing = "Kind" if not kind else "apiVersion"
        text = status.shortened(decoded.text or _json(obj))
        raise _unrecognized(resource.kind, f"Object '{missing}' is missing in '{text}'", text)
    if api_version != target.api_version:
        expected = f"the expected API version ({target.api_version})"
        error = status.bad_request(f"the API version in the data ({api_version}) does not match {expected}")
        if _version_of(target, api_version) is None and validation != IGNORE:
            # A version without a schema has no known fields; the real server warns before it refuses.
            error.warnings = _complaints(sorted(set(obj) - {"apiVersion", "kind", "metadata"}), decoded.duplicates)
        raise error
    if kind != resource.kind:
        name = obj.get("metadata", {}).get("name", "") if isinstance(obj.get("metadata"), dict) else ""
        if resource.builtin:
            raise status.bad_request(
                f'{kind} in version "{target.version.name}" cannot be handled as a {resource.kind}: '
                f"converting ({kind}) to ({resource.kind}): unknown conversion"
            )
        raise status.invalid(resource.group, kind, _text(name), [invalid("kind", kind, f"must be {resource.kind}")])
    if not isinstance(obj.setdefault("metadata", {}), dict):
        problem = (
            f"json: cannot unmarshal {go_type(obj['metadata'])} into Go struct field .metadata of type v1.ObjectMeta"
        )
        if obj["metadata"] is not None:
            raise _unhandled(target, problem)
        obj["metadata"] = {}


class _PlainMetadata(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """What the metadata of most new objects consists of."""

    name: str = ""
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: list[str] = []


def _type_problem(target: Target, obj: JsonObject) -> str | None:
    """Why the object cannot even be decoded. Plain metadata of a custom kind is seen to be right at a glance."""
    if not target.resource.builtin:
        try:
            msgspec.convert(obj["metadata"], _PlainMetadata)
        except msgspec.ValidationError:
            pass  # something else is in it, or something is wrong: look closely
        else:
            return embedded_problem(target, obj)
    problem = decode_problem(target.resource, target.version, obj)
    return problem if problem is not None else embedded_problem(target, obj)


def embedded_problem(target: Target, obj: JsonObject) -> str | None:
    """What Go could not have decoded in the part of an object that is more than its schema says."""
    checks = target.version.checks
    return None if checks is None else checks.embedded_problem(obj)


def check_address(target: Target, obj: JsonObject) -> None:
    """The name and namespace in an object must be those of the URL; what is missing is filled in. Raises 400."""
    metadata = obj["metadata"]
    if target.name:
        name = metadata.get("name")
        if not name:
            raise status.bad_request(
                f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
            )
        if name != target.name:
            raise status.bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({target.name})"
            )
    if not target.resource.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace") not in (None, "", target.namespace):
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = target.namespace


def metadata_advice(target: Target, obj: JsonObject, old: JsonObject | None) -> tuple[str, ...]:
    """Warnings about metadata that is allowed and unwise. Built-in kinds get none on a real server."""
    return () if target.resource.builtin else tuple(metadata_warnings(obj, old))


def _without_repeated_owners(obj: JsonObject, when: str) -> tuple[str, ...]:
    """Drop owner references that say the same twice, in place. Returns the real server's warning about it."""
    references = obj["metadata"].get("ownerReferences")
    if not references or len(references) < 2:
        return ()
    known: dict[bytes, Json] = {}
    repeated: list[str] = []
    for reference in references:
        identity = msgspec.json.encode(reference, order="sorted")
        if identity in known:
            repeated.append(reference.get("uid", ""))
        else:
            known[identity] = reference
    if not repeated:
        return ()
    obj["metadata"]["ownerReferences"] = list(known.values())
    return (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, "
        "and may reject such requests as early as 1.24; please fix your requests; "
        f"duplicate UID(s) observed: {status.listed(repeated)}",
    )


def _version_of(target: Target, api_version: str) -> Version | None:
    group, _, version = api_version.rpartition("/")
    return target.resource.version(version) if group == target.resource.group else None


def _complaints(unknown: Sequence[str], duplicates: Sequence[str]) -> tuple[str, ...]:
    return (
        # Of YAML the reader itself complains.
        *(path if path.startswith("yaml: ") else f'duplicate field "{path}"' for path in duplicates),
        *(f'unknown field "{path}"' for path in unknown),
    )


def _unrecognized(kind: str, why: str, text: str) -> status.StatusError:
    raw = text.encode()
    summary = text if len(raw) <= _SUMMARY else raw[:_SUMMARY].decode(errors="ignore") + " ..."
    return status.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {why} ({summary or '<empty>'})"
    )


def _unhandled(target: Target, problem: str) -> status.StatusError:
    kind = target.resource.kind
    return status.bad_request(f'{kind} in version "{target.version.name}" cannot be handled as a {kind}: {problem}')


def _bad_patch(value: str, problem: str) -> status.StatusError:
    cause = invalid("patch", value, problem)
    return status.invalid("", "", "", [Cause(cause.reason, cause.field, cause.message)])


def _json(value: Json) -> str:
    """A value as the real server quotes it: Go writes the keys of maps in order."""
    return msgspec.json.encode(value, order="sorted").decode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def copied(obj: JsonObject) -> JsonObject:
    """A deep copy."""
    copy: JsonObject = msgspec.json.decode(msgspec.json.encode(obj))
    return copy
