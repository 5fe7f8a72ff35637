"""OpenAPI structural schemas, compiled once into closures: pruning, defaulting, validation, transition rules.

Called for every write. The semantics and the texts are those of a Kubernetes server for custom resources. A schema
describes a whole object; `apiVersion`, `kind` and `metadata` belong to every object and need not be listed.

    compiled = compile_schema(schema)
    unknown = compiled.prepare(obj)     # in place: nulls dropped, defaults filled, unknown fields removed and named
    causes = compiled.validate(obj)     # what is wrong, [] if nothing
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from muster.api.schema.checks import compile_check, located
from muster.api.schema.lists import compile_lists
from muster.api.schema.object_meta import OBJECT_META
from muster.api.schema.shape import compile_shape
from muster.api.schema.transitions import compile_transitions
from muster.values.causes import MOST_FOUND
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.api.schema.scalars import Check
    from muster.api.schema.shape import Shape
    from muster.api.schema.transitions import Transition
    from muster.values.causes import Cause

__all__ = ["CompiledSchema", "compile_schema", "fresh"]

_STRING = {"type": "string"}
_HIDDEN = 0  # has no fields, so that shapes leave it alone


class CompiledSchema:
    """One schema, ready to use. Each part is compiled when it is first asked for."""

    def __init__(self, schema: JsonMapping, *, zero_items: bool = False) -> None:
        self._zero_items = zero_items
        properties = {"apiVersion": _STRING, "kind": _STRING} | dict(schema.get("properties", {}))
        self._checked = dict(schema) | {"properties": properties}
        self._required = frozenset(schema.get("required", ()))
        self._shaped = dict(schema) | {"properties": properties | {"metadata": OBJECT_META}}

    @cached_property
    def _check(self) -> Check | None:
        return compile_check(self._checked)

    @cached_property
    def _check_given(self) -> Check | None:
        """The check of an object of which only some fields, and of these only some fields, are shown."""
        relaxed = {name: _relaxed(child) for name, child in self._checked["properties"].items()}
        return compile_check(_relaxed(self._checked) | {"properties": relaxed})

    @cached_property
    def _required_below(self) -> Mapping[str, frozenset[str]]:
        """What that check does not ask for, by field."""
        properties = self._checked["properties"].items()
        return {name: frozenset(child["required"]) for name, child in properties if child.get("required")}

    def _demands(self, obj: JsonObject) -> Iterator[tuple[frozenset[str], JsonMapping]]:
        """Which names must be there, and where."""
        yield self._required, obj
        for name, names in self._required_below.items():
            if isinstance(below := obj.get(name), dict):
                yield names, below

    @cached_property
    def _lists(self) -> Check | None:
        return compile_lists(self._checked)

    @cached_property
    def _transitions(self) -> Transition | None:
        return compile_transitions(self._checked)

    @cached_property
    def _prepare(self) -> Shape | None:
        return compile_shape(self._shaped, prune=True, fill=True, zero=self._zero_items)

    @cached_property
    def _prune(self) -> Shape | None:
        return compile_shape(self._shaped, prune=True, fill=False)

    @cached_property
    def _fill(self) -> Shape | None:
        return compile_shape(self._shaped, prune=False, fill=True, zero=self._zero_items)

    def warm(self) -> None:
        """Compile what every object needs now, not when the first one comes."""
        _ = self._prepare, self._prune

    def prepare(self, obj: JsonObject, live: JsonMapping | None = None) -> list[str]:
        """Drop nulls, fill defaults and prune, in place and in one pass. Returns the paths of unknown fields.

        Fields that are the very same as in `live`, which was prepared before, are not looked at again.
        """
        if live is None:
            return _unknown(self._prepare, obj)
        hidden = _hidden(obj, live)
        try:
            return _unknown(self._prepare, obj)
        finally:
            for part, fields in hidden:
                part.update(fields)

    def prune(self, obj: JsonObject) -> list[str]:
        """Remove unknown fields in place. Returns their paths, sorted."""
        return _unknown(self._prune, obj)

    def default(self, obj: JsonObject) -> JsonObject:
        """Fill defaults in place, after dropping nulls where null is not a value. Returns the object."""
        _unknown(self._fill, obj)
        return obj

    @property
    def has_rules(self) -> bool:
        return self._transitions is not None

    def validate(self, obj: JsonObject, old: JsonObject | None = None) -> list[Cause]:
        """What is wrong with the object by itself. On an update, what was wrong before is tolerated.

        Fields that are the very same as in `old` are not looked at again.
        """
        new = obj
        if old is not None and all(names <= part.keys() for names, part in self._demands(obj)):
            new = fresh(obj, old)
            causes = located(self._check_given, new)
        else:
            causes = located(self._check, obj)
        duplicates = located(self._lists, new)
        if old is not None:
            # So many that not all were looked for: then nobody can say which of them are old.
            if causes and len(causes) < MOST_FOUND:
                before = set(located(self._check, old))
                causes = [cause for cause in causes if cause not in before]
            if duplicates and located(self._lists, old):
                duplicates = []
        return causes + duplicates

    def transition(self, obj: JsonObject, old: JsonObject) -> list[Cause]:
        """What may not change from one state to the next: `x-kubernetes-validations` that speak of oldSelf."""
        causes: list[Cause] = []
        if self._transitions is not None:
            self._transitions(obj, old, "", causes)
        return causes


def compile_schema(schema: JsonMapping, *, zero_items: bool = False) -> CompiledSchema:
    """With `zero_items` a null item of a list is the zero value of its type, as it is in metadata of every kind."""
    return CompiledSchema(schema, zero_items=zero_items)


def fresh(obj: JsonMapping, live: JsonMapping) -> JsonObject:
    """An object without fields, and fields of fields, that are the very same in another."""
    found: JsonObject = {}
    for name, value in obj.items():
        before = live.get(name)
        if value is before and name in live:
            continue
        if value.__class__ is dict and before.__class__ is dict:
            value = {key: each for key, each in value.items() if each is not before.get(key) or key not in before}
        found[name] = value
    return found


def _hidden(obj: JsonObject, live: JsonMapping) -> list[tuple[JsonObject, JsonObject]]:
    """Put away what is the very same in another object. Returns what was put away, and where it belongs."""
    hidden = []
    parts = [(obj, live)]
    for name, value in obj.items():
        before = live.get(name)
        if value is not before and value.__class__ is dict and before.__class__ is dict:
            parts.append((value, before))
    for part, before in parts:
        same = {name: value for name, value in part.items() if value is not None and value is before.get(name)}
        part.update(dict.fromkeys(same, _HIDDEN))
        hidden.append((part, same))
    return hidden


def _relaxed(schema: JsonMapping) -> JsonObject:
    return dict(schema) | {"required": ()}


def _unknown(shape: Shape | None, obj: JsonObject) -> list[str]:
    found = shape(obj) if shape is not None else None
    return sorted(path.removeprefix(".") for path in found) if found else []
