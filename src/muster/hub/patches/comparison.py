"""What changed between two states of an object, as sets of field paths. The ground of field ownership.

Used by managed_fields (who touched what) and apply (what an applier owns, what conflicts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muster.hub.patches.field_sets import SELF, FieldSet
from muster.hub.patches.structure import ANY, ListType, MapType, ScalarType, deduced
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from muster.hub.patches.structure import Type


class Comparison(NamedTuple):
    """Three sets without common paths."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet


def compare(old: JsonObject, new: JsonObject, type_: MapType) -> Comparison:
    """What became of each field. Containers that came or went count beside what is in them."""
    comparison = Comparison({}, {}, {})
    _compare_maps(old, new, type_, comparison)
    return comparison


def whole(value: Json, type_: Type) -> FieldSet:
    """The node of a value that came or went as a whole: itself and everything in it."""
    if type_.__class__ is ScalarType:
        return {}
    type_ = deduced(type_, value)
    if isinstance(type_, MapType):
        if type_.atomic or not value or not isinstance(value, dict):
            return {}
        node: FieldSet = {} if type_.always else {SELF: {}}
        fields, others, skipped = type_.fields, type_.element or ANY, type_.skipped
        for key, below in value.items():
            if key not in skipped:
                # Most values are scalars: they are spared the call.
                found = fields.get(key, others)
                node[f"f:{key}"] = {} if found.__class__ is ScalarType else whole(below, found)
        return node
    if isinstance(type_, ListType) and type_.relation != "atomic" and value and isinstance(value, list):
        node = {SELF: {}}
        for item in value:
            element = type_.item_element(item)
            if element is not None:
                node[element] = whole(item, type_.element)
        return node
    return {}


def applied_fields(config: JsonObject, type_: MapType) -> FieldSet:
    """What an applied configuration claims: its leaves, the items of its lists, and the keys of its open maps."""
    fields: FieldSet = {}
    for key, value in config.items():
        if key in type_.skipped:
            continue
        node = _claimed(value, type_.type_of(key) or ANY)
        if key not in type_.fields:
            fields[f"f:{key}"] = _as_member(node)
        elif node is not None:
            fields[f"f:{key}"] = node
    return fields


def _claimed(value: Json, type_: Type) -> FieldSet | None:
    """The node of a value in an applied configuration; None if nothing in it can be owned."""
    type_ = deduced(type_, value)
    if value is None:
        return {}
    if isinstance(type_, MapType):
        if type_.atomic or not isinstance(value, dict) or not value:
            return {}
        return applied_fields(value, type_) or None
    if isinstance(type_, ListType) and type_.relation != "atomic" and isinstance(value, list):
        items: FieldSet = {}
        for item in value:
            element = type_.item_element(item)
            if element is not None:
                items[element] = _as_member(_claimed(item, type_.element))
        return items or None
    return {}


def _as_member(node: FieldSet | None) -> FieldSet:
    return {SELF: {}, **node} if node else {}


def _compare_maps(old: JsonObject, new: JsonObject, type_: MapType, result: Comparison) -> None:
    for key, value in new.items():
        if value is old.get(key, ANY) or key in type_.skipped:
            continue
        if key not in old:
            result.added[f"f:{key}"] = whole(value, type_.type_of(key) or ANY)
        elif old[key] != value:
            _compare_values(f"f:{key}", old[key], value, type_.type_of(key) or ANY, result)
    if old.keys() <= new.keys():
        return
    for key, value in old.items():
        if key not in new and key not in type_.skipped:
            result.removed[f"f:{key}"] = whole(value, type_.type_of(key) or ANY)


def _compare_values(element: str, old: Json, new: Json, type_: Type, result: Comparison) -> None:
    """Two different values of the same field or item."""
    kind = deduced(type_, new if new is not None else old)
    below = Comparison({}, {}, {})
    if isinstance(kind, MapType) and not kind.atomic and _are(dict, old, new):
        _compare_maps(old or {}, new or {}, kind, below)
    elif isinstance(kind, ListType) and kind.relation != "atomic" and _are(list, old, new):
        _compare_lists(old or [], new or [], kind, below)
    else:
        result.modified[element] = {}
        return
    if not (below.added or below.modified or below.removed):
        if not old and not new:
            result.modified[element] = {}  # null became empty, or the other way round
        return
    for target, changed in zip(result, below, strict=True):
        if changed:
            target[element] = changed


def _compare_lists(old: list[Json], new: list[Json], type_: ListType, result: Comparison) -> None:
    before = {type_.item_element(item): item for item in old}
    after = {type_.item_element(item): item for item in new}
    for element, item in after.items():
        if element is None:
            continue
        if element not in before:
            result.added[element] = whole(item, type_.element)
        elif before[element] != item:
            _compare_values(element, before[element], item, type_.element, result)
    for element, item in before.items():
        if element is not None and element not in after:
            result.removed[element] = whole(item, type_.element)


def _are(kind: type, old: Json, new: Json) -> bool:
    """Whether both are of a kind; null stands for an empty one."""
    return (old is None or isinstance(old, kind)) and (new is None or isinstance(new, kind))
