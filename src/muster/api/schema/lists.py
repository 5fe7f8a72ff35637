"""Lists that are sets or maps (`x-kubernetes-list-type`): no element, or no key, may come twice."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

from muster.values.causes import MOST_FOUND, Cause, duplicate, invalid
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.api.schema.scalars import Check, Problem


def compile_lists(schema: JsonMapping) -> Check | None:
    """The check of one node; None when there is no such list below it."""
    properties: JsonMapping = schema.get("properties", {})
    children = {name: check for name, child in properties.items() if (check := compile_lists(child)) is not None}
    additional = schema.get("additionalProperties")
    every = compile_lists(additional) if isinstance(additional, dict) else None
    if children or every:
        return _object(children, every)
    item = compile_lists(schema["items"]) if "items" in schema else None
    match schema.get("x-kubernetes-list-type"):
        case "set":
            return _array(lambda items: _twice(items, items), item)
        case "map":
            keys = tuple(schema["x-kubernetes-list-map-keys"])
            return _array(lambda items: _same_keys(items, keys), item)
        case _:
            return _array(lambda _: iter(()), item) if item is not None else None


def _object(children: Mapping[str, Check], every: Check | None) -> Check:
    def check_object(value: Json) -> list[Problem] | None:
        if type(value) is not dict:
            return None
        problems: list[Problem] | None = None
        for name, each in value.items():
            check = children.get(name, every)
            if check is not None and (found := check(each)):
                problems = problems or []
                problems.extend((f".{name}{path}", make) for path, make in found)
                if len(problems) >= MOST_FOUND:
                    break
        return problems

    return check_object


def _array(repeated: Callable[[list[Json]], Iterator[Problem]], item: Check | None) -> Check:
    def check_array(value: Json) -> list[Problem] | None:
        if type(value) is not list:
            return None
        problems = list(islice(repeated(value), MOST_FOUND)) if value else []
        if item is not None:
            for index, each in enumerate(value):
                if len(problems) >= MOST_FOUND:
                    break
                problems.extend((f"[{index}]{path}", make) for path, make in item(each) or ())
        return problems or None

    return check_array


def _twice(items: Sequence[Json], shown: Sequence[Json]) -> Iterator[Problem]:
    """Each value that comes again, once, at its second place."""
    if len(items) <= 1:
        return
    times: dict[str, int] = {}
    for index, each in enumerate(items):
        key = each if type(each) is str else json.dumps(each, sort_keys=True)
        times[key] = times.get(key, 0) + 1
        if times[key] == 2:
            yield f"[{index}]", _duplicate(shown[index])


def _same_keys(items: Sequence[Json], keys: tuple[str, ...]) -> Iterator[Problem]:
    for index, each in enumerate(items):
        if each is not None and type(each) is not dict:
            yield f"[{index}]", _not_an_object(each)
            return
    if len(items) <= 1:
        return
    if len(keys) == 1:
        (name,) = keys
        values = [each.get(name) if each else None for each in items]
        if all(type(value) is str for value in values) and len(set(values)) == len(values):
            return
    found = [{name: each[name] for name in keys if name in each} if each else {} for each in items]
    yield from _twice(found, found)


def _duplicate(value: Json) -> Callable[[str], Cause]:
    return lambda path: duplicate(path, value)


def _not_an_object(value: Json) -> Callable[[str], Cause]:
    return lambda path: invalid(path, value, "must be an object for an array of list-type map")
