"""OpenAPI structural schemas, compiled once into closures: pruning, defaulting, validation, transition rules.

Called for every write. The semantics and the texts are those of a Kubernetes server for custom resources. A schema
describes a whole object; `apiVersion`, `kind` and `metadata` belong to every object and need not be listed.

    compiled = compile_schema(schema)
    unknown = compiled.prepare(obj)     # in place: nulls dropped, defaults filled, unknown fields removed and named
    causes = compiled.validate(obj)     # what is wrong, [] if nothing
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from muster.api.schema.checks import compile_check, located
from muster.api.schema.lists import compile_lists
from muster.api.schema.object_meta import OBJECT_META
from muster.api.schema.shape import compile_shape
from muster.api.schema.transitions import compile_transitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api.schema.checks import Check
    from muster.api.schema.shape import Shape
    from muster.api.schema.transitions import Transition
    from muster.values.causes import Cause

__all__ = ["CompiledSchema", "compile_schema"]

_STRING = {"type": "string"}


class CompiledSchema:
    """One schema, ready to use. Each part is compiled when it is first asked for."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        properties = {"apiVersion": _STRING, "kind": _STRING} | dict(schema.get("properties", {}))
        self._checked = dict(schema) | {"properties": properties}
        self._shaped = dict(schema) | {"properties": properties | {"metadata": OBJECT_META}}

    @cached_property
    def _check(self) -> Check | None:
        return compile_check(self._checked)

    @cached_property
    def _lists(self) -> Check | None:
        return compile_lists(self._checked)

    @cached_property
    def _transitions(self) -> Transition | None:
        return compile_transitions(self._checked)

    @cached_property
    def _prepare(self) -> Shape | None:
        return compile_shape(self._shaped, prune=True, fill=True)

    @cached_property
    def _prune(self) -> Shape | None:
        return compile_shape(self._shaped, prune=True, fill=False)

    @cached_property
    def _fill(self) -> Shape | None:
        return compile_shape(self._shaped, prune=False, fill=True)

    def prepare(self, obj: dict[str, Any]) -> list[str]:
        """Drop nulls, fill defaults and prune, in place and in one pass. Returns the paths of unknown fields."""
        return _unknown(self._prepare, obj)

    def prune(self, obj: dict[str, Any]) -> list[str]:
        """Remove unknown fields in place. Returns their paths, sorted."""
        return _unknown(self._prune, obj)

    def default(self, obj: dict[str, Any]) -> dict[str, Any]:
        """Fill defaults in place, after dropping nulls where null is not a value. Returns the object."""
        _unknown(self._fill, obj)
        return obj

    @property
    def has_rules(self) -> bool:
        return self._transitions is not None

    def validate(self, obj: dict[str, Any], old: dict[str, Any] | None = None) -> list[Cause]:
        """What is wrong with the object by itself. On an update, what was wrong before is tolerated."""
        causes = located(self._check, obj)
        duplicates = located(self._lists, obj)
        if old is not None:
            if causes:
                before = set(located(self._check, old))
                causes = [cause for cause in causes if cause not in before]
            if duplicates and located(self._lists, old):
                duplicates = []
        return causes + duplicates

    def transition(self, obj: dict[str, Any], old: dict[str, Any]) -> list[Cause]:
        """What may not change from one state to the next: `x-kubernetes-validations` that speak of oldSelf."""
        causes: list[Cause] = []
        if self._transitions is not None:
            self._transitions(obj, old, "", causes)
        return causes


def compile_schema(schema: Mapping[str, Any]) -> CompiledSchema:
    return CompiledSchema(schema)


def _unknown(shape: Shape | None, obj: dict[str, Any]) -> list[str]:
    found = shape(obj) if shape is not None else None
    return sorted(path.removeprefix(".") for path in found) if found else []
