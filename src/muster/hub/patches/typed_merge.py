"""Merging an applied configuration into an object, and taking fields out of it, by the types of its schema.

Used by apply only. Values are never changed in place: what did not change is shared with the input.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from muster.hub.patches.field_sets import FieldSet, is_member, path_text
from muster.hub.patches.structure import ANY, ListType, MapType, ScalarType, deduced
from muster.values.causes import quoted
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.hub.patches.structure import Type


def problems(value: Json, type_: Type, path: str = "") -> Iterator[str]:
    """Why a configuration does not fit its schema, in the words of the real server's typed parser."""
    type_ = deduced(type_, value)
    if value is None:
        return
    if isinstance(type_, ScalarType):
        if (complaint := _scalar_complaint(value, type_)) is not None:
            yield f"{path}: {complaint}"
    elif isinstance(type_, MapType):
        if not isinstance(value, dict):
            yield f"{path}: expected map, got &{{{_shown(value)}}}"
            return
        for key, below in sorted(value.items()):
            found = type_.type_of(key)
            if found is None:
                yield f"{path}.{key}: field not declared in schema"
                return  # one is enough to refuse this object, the real server says
            yield from problems(below, found, f"{path}.{key}")
    elif isinstance(type_, ListType):
        if not isinstance(value, list):
            yield f"{path}: expected list, got &{{{_shown(value)}}}"
            return
        yield from _list_problems(value, type_, path)


def _scalar_complaint(value: Json, type_: ScalarType) -> str | None:
    match type_.kind:
        case "string" if not isinstance(value, str):
            return f"expected string, got &value.valueUnstructured{{Value:{_go_syntax(value)}}}"
        case "boolean" if not isinstance(value, bool):
            return f"expected boolean, got &{{{_shown(value)}}}"
        case "numeric" if isinstance(value, bool) or not isinstance(value, int | float):
            return f"expected numeric (int or float), got {_go_type(value)}"
        case "" if isinstance(value, dict | list):
            return f"expected any scalar, got &{{{_shown(value)}}}"
        case _:
            return None


def _list_problems(value: list[Json], type_: ListType, path: str) -> Iterator[str]:
    if type_.relation == "atomic":
        for index, item in enumerate(value):
            yield from problems(item, type_.element, f"{path}[{index}]")
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        if (complaint := _item_complaint(item, type_)) is not None:
            yield f"{path}: element {index}: {complaint}"
            return
        element = type_.item_element(item) or ""
        if element in seen:
            yield f"{path}: duplicate entries for key {path_text((element,))}"
        seen.add(element)
        yield from problems(item, type_.element, path + path_text((element,)))


def _item_complaint(item: Json, type_: ListType) -> str | None:
    """Why an item has no identity in its list."""
    if type_.relation == "set":
        match item:
            case dict():
                return "associative list without keys has an element that's a map type"
            case list():
                return "not supported: associative list with lists as elements"
            case None:
                return "associative list without keys has an element that's an explicit null"
            case _:
                return None
    if item is None:
        return "associative list with keys may not have a null element"
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    if type_.item_element(item) is None:
        names = " ".join(f'"{key}"' for key in type_.keys)
        return (
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return None


def _shown(value: Json) -> str:
    """A value as Go prints it with %v."""
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return f"map[{' '.join(f'{key}:{_shown(below)}' for key, below in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(_shown(item) for item in value)}]"
        case None:
            return "<nil>"
        case _:
            return str(value)


def _go_syntax(value: Json) -> str:
    """A value as Go prints it with %#v."""
    match value:
        case dict():
            items = ", ".join(f"{quoted(key)}:{_go_syntax(below)}" for key, below in sorted(value.items()))
            return f"map[string]interface {{}}{{{items}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(_go_syntax(item) for item in value)}}}"
        case str():
            return quoted(value)
        case _:
            return _shown(value)


def _go_type(value: Json) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case dict():
            return "map[string]interface {}"
        case _:
            return "[]interface {}"


def merged(live: Json, config: Json, type_: Type) -> Json:
    """The live value with the configuration laid over it."""
    type_ = deduced(type_, config)
    if isinstance(type_, MapType) and not type_.atomic and isinstance(live, dict) and isinstance(config, dict):
        result = dict(live)
        for key, value in config.items():
            result[key] = merged(live[key], value, type_.type_of(key) or ANY) if key in live else value
        return result
    if (
        isinstance(type_, ListType)
        and type_.relation != "atomic"
        and isinstance(live, list)
        and isinstance(config, list)
    ):
        return _merged_lists(live, config, type_)
    return config


def _merged_lists(live: list[Json], config: list[Json], type_: ListType) -> list[Json]:
    """Items of both. Shared ones come in the configuration's order; the others stay behind their neighbours.

    Both lists are read side by side: a live item that the configuration does not name is taken where it stands, and one
    that the configuration names is waited for until the configuration has come to it.
    """
    mine = {type_.item_element(item): item for item in live}
    theirs = {type_.item_element(item): item for item in config}
    ahead = deque(mine.items())
    awaited = deque(element for element in theirs if element in mine)
    result: list[Json] = []

    def take_live() -> None:
        """Everything of the live list up to the item that the configuration comes to next."""
        while ahead and (not awaited or ahead[0][0] != awaited[0]):
            element, item = ahead.popleft()
            if element not in theirs:
                result.append(item)

    for element, item in theirs.items():
        take_live()
        if element in mine:
            awaited.popleft()
            if ahead and ahead[0][0] == element:
                ahead.popleft()
            result.append(merged(mine[element], item, type_.element))
        else:
            result.append(item)
    result.extend(item for element, item in ahead if element not in theirs)
    return result


def without(value: Json, fields: FieldSet, type_: Type) -> Json:
    """The value without the members of the set. A container that somebody still holds stays, even when it is empty."""
    type_ = deduced(type_, value)
    if isinstance(type_, MapType) and isinstance(value, dict) and not type_.atomic:
        kept: JsonObject = {}
        for key, below in value.items():
            node = fields.get(f"f:{key}")
            if node is None:
                kept[key] = below
            elif not is_member(node):
                kept[key] = without(below, node, type_.type_of(key) or ANY)
        return kept
    if isinstance(type_, ListType) and isinstance(value, list) and type_.relation != "atomic":
        items: list[Json] = []
        for item in value:
            node = fields.get(type_.item_element(item) or "")
            if node is None:
                items.append(item)
            elif not is_member(node):
                items.append(without(item, node, type_.element))
        return items
    return value


def with_named_members(fields: FieldSet, type_: Type) -> FieldSet:
    """The set, with every declared field that lies on a path to a member made a member too."""
    result: FieldSet = {}
    for element, node in fields.items():
        below: Type = ANY
        declared = False
        if isinstance(type_, MapType) and element.startswith("f:"):
            below = type_.type_of(element[2:]) or ANY
            declared = element[2:] in type_.fields
        elif isinstance(type_, ListType):
            below = type_.element
        if node:
            node = with_named_members(node, below)
            if declared:
                node = {".": {}, **node}
        result[element] = node
    return result
