"""Reading, writing and deleting along paths. Used by the path builtins and by every assignment operator.

An `Owned` remembers the containers that one assignment has made itself, so that a long run of updates changes them in
place instead of copying an array for every element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.errors import JqError
from muster.jq.values.encoding import preview
from muster.jq.values.indexing import bounds, index
from muster.jq.values.numbers import is_number, to_int

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_LARGEST_INDEX = 0x20000000


class _Gone:
    """Marks what is to be deleted until all paths have been followed."""


GONE = _Gone()


class Owned:
    """The containers made during one assignment; kept alive here, so that identities stay unique."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[int, Value] = {}

    def __contains__(self, container: Value) -> bool:
        return id(container) in self._made

    def keep(self, container: Value) -> Value:
        self._made[id(container)] = container
        return container


def get_path(meter: Meter, value: Value, path: Value) -> Value:
    if type(path) is not list:
        raise texts.not_applicable(meter, "getpath", value, path)
    meter.work(len(path))
    at = value
    for key in path:
        if at is not None and type(at) is not list and type(at) is not dict:
            raise texts.not_applicable(meter, "getpath", value, path)
        try:
            at = index(meter, at, key)
        except JqError as error:
            raise texts.failed(meter, "getpath", value, path, cause=error.message) from None
    return at


def set_path(meter: Meter, value: Value, path: Value, new: Value, owned: Owned | None = None) -> Value:
    if type(path) is not list:
        raise texts.not_applicable(meter, "setpath", value, path)
    meter.work(8 * len(path))
    try:
        return _updated(meter, value, path, 0, new, owned if owned is not None else Owned())
    except JqError as error:
        raise texts.failed(meter, "setpath", value, path, new, cause=error.message) from None


def delete_paths(meter: Meter, value: Value, paths: Value, owned: Owned | None = None) -> Value:
    if type(paths) is not list:
        raise texts.not_applicable(meter, "delpaths", value, paths)
    if not paths:
        return value
    mine = owned if owned is not None else Owned()
    result = value
    for path in paths:
        meter.step()
        try:
            if type(path) is not list:
                raise texts.expected_array(meter, path)
            meter.work(8 * len(path))
            result = _updated(meter, result, path, 0, GONE, mine)
        except JqError as error:
            raise texts.failed(meter, "delpaths", value, paths, cause=error.message) from None
    return _swept(meter, result, mine)


def _updated(meter: Meter, value: Value, path: list[Value], depth: int, new: Value, owned: Owned) -> Value:
    if depth == len(path):
        return new
    if value is GONE:
        return value
    key = path[depth]
    if type(key) is str:
        if value is not None and type(value) is not dict:
            raise texts.expected_object(meter, value)
        return _with_key(meter, value, key, path, depth, new, owned)
    if is_number(key):
        if value is not None and type(value) is not list:
            raise texts.expected_array(meter, value)
        return _with_item(meter, value, to_int(key), path, depth, new, owned)
    if type(key) is dict:
        if value is not None and type(value) is not list:
            raise texts.expected_array(meter, value)
        return _with_slice(meter, value, key, path, depth, new, owned)
    if type(value) is list:
        raise texts.index_not_number(meter, key)
    raise texts.key_not_string(meter, key)


def _with_key(
    meter: Meter, value: dict[str, Value] | None, key: str, path: list[Value], depth: int, new: Value, owned: Owned
) -> Value:
    if new is GONE and (value is None or key not in value):
        return value
    inner = _updated(meter, None if value is None else value.get(key), path, depth + 1, new, owned)
    if value is not None and value in owned:
        meter.grow(2)
        value[key] = inner
        return value
    meter.grow(2 * len(value or ()) + 4)
    meter.work(len(value or ()))
    return owned.keep({**(value or {}), key: inner})


def _with_item(
    meter: Meter, value: list[Value] | None, at: int, path: list[Value], depth: int, new: Value, owned: Owned
) -> Value:
    size = len(value) if value is not None else 0
    position = at + size if at < 0 else at
    if new is GONE and not 0 <= position < size:
        return value
    if position < 0:
        raise JqError(f"array index should not be negative: {preview(meter, at)}")
    if position >= size and at >= _LARGEST_INDEX:
        raise JqError(f"array index too large: {preview(meter, at)}")
    current = value[position] if value is not None and position < size else None
    inner = _updated(meter, current, path, depth + 1, new, owned)
    if value is None or value not in owned:
        meter.grow(max(size, position + 1))
        meter.work(size)
        value = owned.keep(list(value or ()))
    if position >= size:
        meter.grow(position + 1 - size)
        value.extend([None] * (position + 1 - size))
    value[position] = inner
    return value


def _with_slice(
    meter: Meter,
    value: list[Value] | None,
    key: dict[str, Value],
    path: list[Value],
    depth: int,
    new: Value,
    owned: Owned,
) -> Value:
    if "start" not in key or "end" not in key:
        raise texts.expected_start_end(meter, key)
    items = value if value is not None else []
    first, last = bounds(meter, len(items), key["start"], key["end"])
    if first == last and new is GONE:
        return value
    meter.grow(last - first)
    inner = _updated(meter, items[first:last], path, depth + 1, new, owned)
    if inner is GONE:
        inner = [GONE] * (last - first)
    if type(inner) is not list:
        raise texts.expected_array(meter, inner)
    if items in owned and len(inner) == last - first:
        items[first:last] = inner
        return items
    meter.grow(len(items) + len(inner))
    meter.work(len(items))
    return owned.keep(items[:first] + inner + items[last:])


def _swept(meter: Meter, value: Value, owned: Owned) -> Value:
    """Without what is gone. Only containers of this deletion can hold marks."""
    if value is GONE:
        return None
    if value not in owned:
        return value
    meter.work(4 * len(value))
    if type(value) is dict:
        return {key: _swept(meter, item, owned) for key, item in value.items() if item is not GONE}
    return [_swept(meter, item, owned) for item in value if item is not GONE]
