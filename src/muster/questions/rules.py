"""What the schema of a question cannot say: of the object that comes with it, and of the page that is asked for.

The hub and observers refuse by the same rules. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.causes import invalid, required
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from muster.values.causes import Cause

_LONGEST: Final = 8  # digits of a continue token
_NAMESPACE_OF: Final = {"ClassificationPreview": "classification", "ResolutionPreview": "resolution"}
"""The field of a preview with an object that may say its namespace."""


def causes_in(kind: str, spec: JsonMapping) -> list[Cause]:
    """What is wrong with the spec of a question that fits its schema."""
    causes: list[Cause] = []
    placement = spec.get("placement")
    if isinstance(placement, dict):
        namespace = namespace_of(placement)
        if not namespace:
            causes.append(required("spec.placement.metadata.namespace", "its sets are those bound there"))
        elif kind == "FleetEvaluation" and spec.get("namespace", "") not in ("", namespace):
            causes.append(invalid("spec.namespace", spec["namespace"], "is not the placement's"))
    if kind in _NAMESPACE_OF:
        causes += _namespace_causes(kind, spec)
    token = spec.get("continue", "")
    if kind == "PlacementExplanation" and token and not _is_token(token):
        causes.append(invalid("spec.continue", token, "is not from status.metadata.continue"))
    return causes


def _namespace_causes(kind: str, spec: JsonMapping) -> list[Cause]:
    """A preview is about one namespace: the question's, or that of the object in it; not two different ones."""
    field, asked = _NAMESPACE_OF[kind], spec.get("namespace", "")
    given = spec.get(field)
    own = namespace_of(given) if isinstance(given, dict) else ""
    if asked and own and own != asked:
        return [invalid("spec.namespace", asked, f"is not the {field}'s")]
    if kind == "ResolutionPreview" and not asked and not own:
        return [required("spec.namespace", "its ConfigMaps and permissions are those there")]
    return []


def preview_namespace(kind: str, spec: JsonMapping) -> str:
    """The namespace that a preview is about; empty for all."""
    given = spec.get(_NAMESPACE_OF[kind])
    asked = spec.get("namespace", "")
    return str(asked or (namespace_of(given) if isinstance(given, dict) else ""))


def namespace_of(placement: JsonMapping) -> str:
    """Where an object is that need not be saved; empty if it does not say."""
    metadata = placement.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else ""


def _is_token(token: str) -> bool:
    return token.isascii() and token.isdigit() and len(token) <= _LONGEST
