"""JSON patches (RFC 6902). Called by the API machinery; pure.

The reasons of failure are kept for whoever debugs; the API answers with one general sentence, as the real server does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence


_END = ("-",)  # the pointer to behind the last item of a list
MAX_OPERATIONS = 10_000
# A patch may copy values into themselves; the size of the result is bounded like any body.
MAX_COPIED = 3 * 1024 * 1024
MAX_COPIED_VALUES = 100_000
# Items that inserting into lists and removing from them may move: ten thousand times in a list of five thousand.
MAX_MOVED = 50_000_000


class JsonPatchError(MusterError):
    """A patch that cannot be carried out on this object."""


def json_patched(document: Json, operations: Sequence[Json]) -> Json:
    """The document after all operations; it is not changed itself. Raises JsonPatchError at the first that fails."""
    document = _copy(document, _Allowance(sys.maxsize, sys.maxsize))
    # What comes from the patch is as large as the patch; what is copied within the document could double each time.
    sent, within = _Allowance(sys.maxsize, sys.maxsize), _Allowance(MAX_COPIED_VALUES, MAX_COPIED)
    moved = 0
    for operation in operations:
        if not isinstance(operation, dict):
            raise JsonPatchError("an operation must be an object")
        name = operation.get("op")
        path = _pointer(operation.get("path"), "path")
        match name:
            case "add":
                document, shifted = _add(document, path, _copy(_value(operation), sent))
                moved += shifted
            case "remove":
                document, shifted = _remove(document, path)
                moved += shifted
            case "replace":
                _get(document, path)
                document = _replace(document, path, _copy(_value(operation), sent))
            case "move":
                source = _pointer(operation.get("from"), "from")
                if source == path[: len(source)] and source != path:
                    raise JsonPatchError("a value cannot be moved into itself")
                value = _get(document, source)
                document, removed = _remove(document, source)
                document, added = _add(document, path, value)
                moved += removed + added
            case "copy":
                value = _copy(_get(document, _pointer(operation.get("from"), "from")), within)
                document, shifted = _add(document, path, value)
                moved += shifted
            case "test":
                if not _equal(_get(document, path), _value(operation)):
                    raise JsonPatchError("a tested value differs")
            case _:
                raise JsonPatchError("unknown operation")
        if moved > MAX_MOVED:
            raise JsonPatchError("the patch moves too many items of lists; replace the lists instead")
    return document


class _Allowance:
    """How much may still be copied."""

    __slots__ = ("size", "values")

    def __init__(self, values: int, size: int) -> None:
        self.values = values
        self.size = size

    def take(self, size: int) -> None:
        self.values -= 1
        self.size -= size
        if self.values < 0 or self.size < 0:
            raise JsonPatchError("the patch copies too much")


def _copy(value: Json, allowance: _Allowance) -> Json:
    """A copy, charged value by value before it is made. It does not recurse: patches can nest as deep as they like."""
    root: list[Json] = [None]
    pending: list[tuple[Json, Json, Json]] = [(value, root, 0)]
    while pending:
        source, target, place = pending.pop()
        if source.__class__ is dict:
            allowance.take(2)
            copied: Json = dict.fromkeys(source)
            pending.extend([(item, copied, key) for key, item in source.items()])
            allowance.size -= sum(map(len, source)) + 4 * len(source)
        elif source.__class__ is list:
            allowance.take(2)
            copied = [None] * len(source)
            pending.extend([(item, copied, index) for index, item in enumerate(source)])
        else:
            allowance.take(len(source) + 2 if source.__class__ is str else 4)
            copied = source
        target[place] = copied
    return root[0]


def _pointer(text: object, member: str) -> list[str]:
    """The tokens of a JSON pointer."""
    if not isinstance(text, str):
        raise JsonPatchError(f"an operation needs a {member}")
    if not text:
        return []
    if not text.startswith("/"):
        raise JsonPatchError(f"not a JSON pointer: {text!r}")
    return [token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/")]


def _value(operation: JsonObject) -> Json:
    if "value" not in operation:
        raise JsonPatchError("an operation needs a value")
    return operation["value"]


def _get(document: Json, path: Sequence[str]) -> Json:
    for token in path:
        match document:
            case dict() if token in document:
                document = document[token]
            case list():
                document = document[_index(token, len(document) - 1)]
            case _:
                raise JsonPatchError(f"nothing at {token!r}")
    return document


def _add(document: Json, path: Sequence[str], value: Json) -> tuple[Json, int]:
    """The document with the value, and how many items of a list that has moved."""
    if not path:
        return value, 0
    parent = _get(document, path[:-1])
    token = path[-1]
    match parent:
        case dict():
            parent[token] = value
        case list():
            place = len(parent) if token in _END else _index(token, len(parent))
            parent.insert(place, value)
            return document, len(parent) - place
        case _:
            raise JsonPatchError(f"nothing can be added at {token!r}")
    return document, 0


def _replace(document: Json, path: Sequence[str], value: Json) -> Json:
    if not path:
        return value
    parent = _get(document, path[:-1])
    parent[path[-1] if isinstance(parent, dict) else _index(path[-1], len(parent) - 1)] = value
    return document


def _remove(document: Json, path: Sequence[str]) -> tuple[Json, int]:
    if not path:
        raise JsonPatchError("the whole document cannot be removed")
    parent = _get(document, path[:-1])
    token = path[-1]
    match parent:
        case dict() if token in parent:
            del parent[token]
        case list():
            place = _index(token, len(parent) - 1)
            del parent[place]
            return document, len(parent) - place
        case _:
            raise JsonPatchError(f"nothing to remove at {token!r}")
    return document, 0


def _index(token: str, highest: int) -> int:
    if not token.isascii() or not token.isdigit() or (len(token) > 1 and token[0] == "0"):
        raise JsonPatchError(f"not an index: {token!r}")
    # Longer than any list can be: int() of thousands of digits is refused by Python.
    if len(token) > 10 or (index := int(token)) > highest:
        raise JsonPatchError(f"index {token} is out of range")
    return index


def _equal(left: Json, right: Json) -> bool:
    """Equality of JSON values: true is not 1, but 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
