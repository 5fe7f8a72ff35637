"""Patches as proposals: what a patch of each kind makes of the stored object. Called by `Api.patch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from muster.api.validation import prepare
from muster.hub import bodies, status
from muster.hub.heavy_work import HEAVY
from muster.hub.objects import merge_versions
from muster.hub.options import go_type
from muster.hub.patches import apply
from muster.hub.patches.json_patch import MAX_OPERATIONS, JsonPatchError, json_patched
from muster.hub.patches.last_applied import KUBECTL, LAST_APPLIED, last_applied, own_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.patches.merge import merge_patched
from muster.hub.patches.strategic import StrategicPatchError, strategic_patched
from muster.hub.replacement import Proposal
from muster.hub.requests import PatchType
from muster.values.json import Json, JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.options import Write
    from muster.hub.patches.field_sets import FieldSet
    from muster.hub.requests import Body, Decoded, Target

_FEW_OPERATIONS = 20  # of a JSON patch
_CUSTOM_TYPES = (PatchType.JSON, PatchType.MERGE, PatchType.APPLY)
_BUILTIN_TYPES = (PatchType.JSON, PatchType.MERGE, PatchType.STRATEGIC, PatchType.APPLY)


def patched(
    target: Target, kind: PatchType, body: Body, options: Write
) -> tuple[Callable[[JsonObject], Proposal], int]:
    """How a JSON, merge or strategic patch changes an object, and what that may weigh. Raises 400 and 415."""
    accepted = _BUILTIN_TYPES if target.resource.builtin else _CUSTOM_TYPES
    if kind not in accepted:
        raise status.unsupported_media_type(each.value for each in accepted)
    patch = bodies.read_patch(body)
    if kind is PatchType.JSON:
        patch = structs.replace(patch, unknown=_unknown_members(patch.value))
    change = _json_change(patch) if kind is PatchType.JSON else _merge_change(target, kind, patch)

    def propose(live: JsonObject) -> Proposal:
        if target.resource.builtin:
            live = bodies.copied(live)  # what fills in their defaults works in place
        obj, warnings = bodies.checked_result(target, change(live), live, patch, options.validation)
        bodies.check_address(target, obj)
        deprecated = (target.version.deprecated,) if target.version.deprecated else ()
        return Proposal(obj, deprecated + warnings)

    # A JSON patch can do more than its size tells: copy what is there, and move the items of lists.
    much = kind is PatchType.JSON and any(
        operation.get("op") == "copy" or place > _FEW_OPERATIONS for place, operation in enumerate(patch.value)
    )
    return propose, HEAVY if much else body.weight


_MEMBERS = frozenset({"op", "path", "from", "value"})


def _unknown_members(operations: Json) -> tuple[str, ...]:
    """What is to be said of members of operations that mean nothing."""
    if not isinstance(operations, list):
        return ()
    return tuple(
        f'json patch unknown field "[{index}].{name}"'
        for index, operation in enumerate(operations[:MAX_OPERATIONS])
        if isinstance(operation, dict)
        for name in sorted(operation.keys() - _MEMBERS)
    )


def _json_change(patch: Decoded) -> Callable[[JsonObject], Json]:
    operations = patch.value
    if not isinstance(operations, list):
        raise _undecodable(operations, "[]handlers.jsonPatchOp")
    if len(operations) > MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        raise status.StatusError(413, "RequestEntityTooLarge", f"Request entity is too large: {message}")
    for operation in operations:
        if not isinstance(operation, dict):
            raise _undecodable(operation, "handlers.jsonPatchOp")

    def change(live: JsonObject) -> Json:
        try:
            return json_patched(live, operations)
        except JsonPatchError:
            raise status.unprocessable_patch() from None

    return change


def _merge_change(target: Target, kind: PatchType, patch: Decoded) -> Callable[[JsonObject], Json]:
    value = patch.value
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise _undecodable(value, "map[string]interface {}")
    if kind is PatchType.MERGE:
        return lambda live: merge_patched(live, value)
    type_ = merge_versions(target.resource).types[target.api_version]

    def change(live: JsonObject) -> Json:
        try:
            return strategic_patched(live, value, type_)
        except StrategicPatchError as error:
            raise status.bad_request(str(error)) from None

    return change


def _undecodable(value: Json, wanted: str) -> status.StatusError:
    return status.bad_request(
        f"error decoding patch: json: cannot unmarshal {go_type(value)} into Go value of type {wanted}"
    )


def applied(
    target: Target, live: JsonObject, config: JsonObject, options: Write, now: str
) -> tuple[JsonObject, list[JsonObject]]:
    """The object with a configuration applied, and its managedFields. Raises 400, 409 and 500."""
    writer = Writer(options.manager, target.api_version, now, target.subresource)
    try:
        obj, owners = _applied(target, live, config, writer, force=options.force)
    except apply.InvalidConfigurationError as error:
        raise _untyped(target, config, str(error)) from None
    except apply.ApplyConflictError as error:
        raise _conflict(error) from None
    # The configuration is shared between attempts and the live object is compared with later: work on a copy.
    obj = bodies.copied(obj)
    metadata = obj.setdefault("metadata", {})
    metadata.setdefault("name", target.name)
    if writer.manager == KUBECTL and LAST_APPLIED in object_at(metadata, "annotations"):
        metadata["annotations"][LAST_APPLIED] = last_applied(config)
    bodies.check_address(target, obj)
    problem = bodies.embedded_problem(target, obj)
    if problem is not None:
        raise _untyped(target, config, problem)
    prepare(target.resource, target.version, obj)
    return obj, owners


def _untyped(target: Target, config: JsonObject, why: str) -> status.StatusError:
    metadata = config.get("metadata", {})
    address = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    subject = f"{address}; {target.api_version}, Kind={target.resource.kind}"
    return status.internal(f"failed to create typed patch object ({subject}): {why}")


def _applied(
    target: Target, live: JsonObject, config: JsonObject, writer: Writer, *, force: bool
) -> tuple[JsonObject, list[JsonObject]]:
    """kubectl may take over what it has applied itself, from the client's side, and nobody has changed since."""
    versions = merge_versions(target.resource)
    ignored = _not_written(target)
    unclaimed = dict(target.resource.reset.get(target.subresource, {}))
    try:
        return apply.applied(live, config, versions, writer, force=force, ignored=ignored, unclaimed=unclaimed)
    except apply.ApplyConflictError as error:
        if writer.manager != KUBECTL:
            raise
        own = own_fields(live, versions.types[writer.api_version])
        left = [conflict for conflict in error.conflicts if conflict.path not in own]
        if left:
            raise apply.ApplyConflictError(left) from None
        return apply.applied(live, config, versions, writer, force=True, ignored=ignored, unclaimed=unclaimed)


def _not_written(target: Target) -> FieldSet:
    """The fields that this endpoint leaves alone, whatever a configuration says."""
    if target.resource.compose is not None:
        return {}  # it is put back later
    if target.subresource == "status":
        return {"f:metadata": {}, "f:spec": {}}
    return {"f:status": {}} if target.version.status else {}


def _conflict(error: apply.ApplyConflictError) -> status.StatusError:
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {each.manager}", "field": each.path}
        for each in error.conflicts[: status.MOST_LISTED]
    ]
    return status.StatusError(409, "Conflict", str(error), {"causes": causes})
