"""Strategic merge patches, for the built-in kinds. Called by the API machinery; pure.

Like a merge patch, except that lists whose items have an identity are merged item by item, and that directives
(`$patch`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…`, `$retainKeys`) say what plain data cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.hub.patches.field_sets import value_element
from muster.hub.patches.structure import ANY, ListType, MapType, deduced
from muster.values.causes import shown
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from muster.hub.patches.structure import Type

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_VALUES = "$deleteFromPrimitiveList/"
ORDER = "$setElementOrder/"
_SHOWN = 100  # characters of a directive that nobody knows


class StrategicPatchError(MusterError):
    """A directive that makes no sense where it stands."""


def strategic_patched(target: Json, patch: JsonObject, type_: Type) -> JsonObject:
    """The object with the patch merged in. Neither is changed."""
    match patch.get(PATCH):
        case "replace":
            return {key: _plain(value) for key, value in patch.items() if key != PATCH}
        case "delete":
            return {}
        case None | "merge":
            pass
        case other:
            raise StrategicPatchError(f"Unknown patch type found: {shown(other)}")
    result = dict(target) if isinstance(target, dict) else {}
    if RETAIN_KEYS in patch:
        retained = patch[RETAIN_KEYS]
        if not isinstance(retained, list) or not all(isinstance(key, str) for key in retained):
            raise StrategicPatchError("invalid patch format of retainKeys")
        kept = frozenset(retained)
        result = {key: value for key, value in result.items() if key in kept}
    for key, value in patch.items():
        if key.startswith("$"):
            _directive(result, key, value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = _patched_value(result.get(key), value, _type_of(type_, key, value))
    for key, order in patch.items():
        if key.startswith(ORDER):
            _set_order(result, key.removeprefix(ORDER), order, type_)
    return result


def _directive(result: JsonObject, key: str, value: Json) -> None:
    if key.startswith(DELETE_VALUES):
        name = key.removeprefix(DELETE_VALUES)
        if not isinstance(value, list):
            raise StrategicPatchError("invalid patch format of primitive list")
        if isinstance(result.get(name), list):
            gone = {value_element(each) for each in value}
            result[name] = [item for item in result[name] if value_element(item) not in gone]
    elif not key.startswith(ORDER) and key not in (PATCH, RETAIN_KEYS):
        raise StrategicPatchError(f"unknown directive {key[:_SHOWN]}")


def _patched_value(old: Json, value: Json, type_: Type) -> Json:
    if isinstance(value, dict):
        return strategic_patched(old, value, type_)
    if isinstance(value, list) and isinstance(type_, ListType) and isinstance(old, list):
        if type_.relation == "set" and all(not isinstance(item, dict | list) for item in value):
            known = {value_element(item) for item in old}
            return [*old, *(item for item in dict.fromkeys(value) if value_element(item) not in known)]
        if type_.relation == "map":
            return _patched_items(old, value, type_)
    return _plain(value)


def _patched_items(old: list[Json], patch: list[Json], type_: ListType) -> list[Json]:
    if any(isinstance(item, dict) and item.get(PATCH) == "replace" for item in patch):
        return [_plain(item) for item in patch if not (isinstance(item, dict) and PATCH in item)]
    # Where the items with each identity are: several may share one. What is deleted is taken out at the end.
    result: list[Json] = list(old)
    places: dict[str | None, list[int]] = {}
    for place, known in enumerate(result):
        places.setdefault(type_.item_element(known), []).append(place)
    deleted: set[int] = set()
    for item in patch:
        element = type_.item_element(item)
        if element is None:
            missing = next((key for key in type_.keys if not isinstance(item, dict) or key not in item), "")
            raise StrategicPatchError(f"map: {shown(item)} does not contain declared merge key: {missing}")
        if item.get(PATCH) == "delete":
            deleted.update(places.pop(element, ()))
        elif found := places.get(element):
            result[found[0]] = strategic_patched(result[found[0]], item, type_.element)
        else:
            places[element] = [len(result)]
            result.append(_plain(item))
    return [item for place, item in enumerate(result) if place not in deleted] if deleted else result


def _set_order(result: JsonObject, name: str, order: Json, type_: Type) -> None:
    """Items the directive names come in its order; the others keep their places after those they followed."""
    items = result.get(name)
    if not isinstance(items, list) or not isinstance(order, list):
        return
    list_type = _type_of(type_, name, items)
    identity = list_type.item_element if isinstance(list_type, ListType) and list_type.relation == "map" else repr
    wanted = {identity(item): place for place, item in enumerate(order)}
    ranked: list[tuple[int, int, Json]] = []
    rank = -1
    for place, item in enumerate(items):
        rank = wanted.get(identity(item), rank)
        ranked.append((rank, place, item))
    result[name] = [item for _, _, item in sorted(ranked, key=lambda entry: entry[:2])]


def _plain(value: Json) -> Json:
    """A value of the patch that is new to the object: without directives and nulls."""
    if isinstance(value, dict):
        return {key: _plain(below) for key, below in value.items() if below is not None and not key.startswith("$")}
    if isinstance(value, list):
        return [_plain(item) for item in value if not (isinstance(item, dict) and item.get(PATCH) == "delete")]
    return value


def _type_of(type_: Type, key: str, value: Json) -> Type:
    type_ = deduced(type_, {})
    below = type_.type_of(key) if isinstance(type_, MapType) else None
    return deduced(below or ANY, value)
