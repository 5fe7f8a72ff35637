"""Several states of one object, and where an object is that does not say it: how files are laid over one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.values.json import JsonObject

NAMESPACED: Final = frozenset({"Placement", "PlacementDecision", "ManagedClusterSetBinding", "AddOnPlacementScore"})


def overlaid(objects: Iterable[JsonObject], namespace: str) -> list[JsonObject]:
    """Of several states of one object the last one: files count more than what a server has."""
    newest = {}
    for obj in objects:
        placed = in_namespace(obj, namespace)
        metadata = placed["metadata"]
        name = text_at(metadata, "name") or text_at(metadata, "generateName")
        newest[placed.get("kind", ""), metadata.get("namespace", ""), name] = placed
    return list(newest.values())


def in_namespace(obj: JsonObject, namespace: str) -> JsonObject:
    """The object, in the namespace where it would be if it names none."""
    if obj.get("kind") not in NAMESPACED or obj["metadata"].get("namespace"):
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}
