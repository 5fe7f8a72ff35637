"""Questions as a server takes them in: defaulted, checked by the schema and the rules of their kind, or refused.

For observers that answer without a server; the hub does the same to every object that it is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import fleet_explanations, fleet_outlooks
from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.errors import ApiError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from muster.values.causes import Cause

_PLAIN: Final = {
    "PlacementExplanation": (PlacementExplanationSpec, fleet_explanations.rules),
    "ClusterExplanation": (ClusterExplanationSpec, fleet_outlooks.rules),
    "SetExplanation": (SetExplanationSpec, fleet_outlooks.rules),
}
_BAD_REQUEST, _NOT_FOUND, _INVALID = 400, 404, 422


def checked_spec(kind: str, spec: msgspec.Struct | JsonMapping) -> tuple[JsonObject, tuple[str, ...]]:
    """The spec of a question, and warnings about fields that nobody knows. Raises ApiError."""
    if isinstance(spec, msgspec.Struct):
        told: JsonObject = msgspec.to_builtins(spec)
        if _is_plain(kind, told):
            return told, ()
        spec = told
    from muster.api.fleet_parts import GROUP, VERSION, question_of
    from muster.api.validation import prepare, validate_object
    from muster.questions.rules import causes_in

    resource = question_of(kind)
    if resource is None:
        raise ApiError(_NOT_FOUND, "NotFound", f"there is no question of kind {kind!r}")
    own = msgspec.json.decode(msgspec.json.encode(spec))  # what is filled in and taken out is none of the asker's
    obj: JsonObject = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {}, "spec": own}
    version = resource.storage_version
    unknown = prepare(resource, version, obj)
    if causes := validate_object(resource, version, obj) or causes_in(kind, obj["spec"]):
        raise _invalid(kind, GROUP, "", causes)
    return obj["spec"], tuple(f'unknown field "{path}"' for path in unknown)


def _is_plain(kind: str, spec: JsonMapping) -> bool:
    """Whether it comes from a struct and is within the bounds of that struct: its schema, which takes longer to make
    than to answer, is made of the same and would say nothing else."""
    if kind not in _PLAIN or spec.get("placement") is not None or spec.get("continue"):
        return False
    struct, rules = _PLAIN[kind]
    try:
        msgspec.convert(spec, struct)
    except msgspec.ValidationError:
        return False
    return not rules({"spec": dict(spec)}, None)


def checked_placement(given: JsonMapping, now: datetime) -> tuple[JsonObject, tuple[str, ...]]:
    """A placement as it would be stored, and warnings. Raises ApiError, as a create would."""
    from muster.admission.placement import checked
    from muster.admission.write import CREATE, Asker, Write
    from muster.api.placement import PLACEMENT
    from muster.api.validation import prepare, validate_object
    from muster.selectors.cel import CelLimits

    version = PLACEMENT.storage_version
    typed = {"apiVersion": f"{PLACEMENT.group}/{version.name}", "kind": PLACEMENT.kind, **given}
    obj: JsonObject = {**typed, "metadata": {"name": "unsaved", **given["metadata"]}}
    obj["metadata"].pop("deletionTimestamp", None)  # nobody creates what is being deleted
    if unknown := prepare(PLACEMENT, version, obj):
        shown = ", ".join(f'unknown field "{path}"' for path in unknown)
        text = f'Placement in version "{version.name}" cannot be handled as a Placement: strict decoding error: {shown}'
        raise ApiError(_BAD_REQUEST, "BadRequest", text)
    name, namespace = obj["metadata"]["name"], obj["metadata"]["namespace"]
    if causes := validate_object(PLACEMENT, version, obj):
        raise _invalid(PLACEMENT.kind, PLACEMENT.group, name, causes)
    write = Write(
        CREATE,
        PLACEMENT.key,
        version.name,
        namespace,
        name,
        subresource="",
        asker=Asker(""),
        old=None,
        new=obj,
        dry_run=True,
        now=now,
    )
    found = checked(write, CelLimits(), refuse=False)
    if found.refusal is not None:
        raise _invalid(PLACEMENT.kind, PLACEMENT.group, name, found.refusal.causes)
    return obj, found.warnings


def _invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    sentences = list(dict.fromkeys(str(cause) for cause in causes))
    text = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    return ApiError(_INVALID, "Invalid", f'{kind}.{group} "{name}" is invalid: {text}', kind, name)
