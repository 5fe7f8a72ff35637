"""JSON patches (RFC 6902). Called by the API machinery; pure.

The reasons of failure are kept for whoever debugs; the API answers with one general sentence, as the real server does.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Sequence

_END = ("-",)  # the pointer to behind the last item of a list
MAX_OPERATIONS = 10_000
# A patch may copy values into themselves; the size of the result is bounded like any body.
MAX_COPIED = 3 * 1024 * 1024


class JsonPatchError(MusterError):
    """A patch that cannot be carried out on this object."""


def json_patched(document: Any, operations: Sequence[Any]) -> Any:
    """The document after all operations; it is not changed itself. Raises JsonPatchError at the first that fails."""
    document = copy.deepcopy(document)
    copied = 0
    for operation in operations:
        if not isinstance(operation, dict):
            raise JsonPatchError("an operation must be an object")
        name = operation.get("op")
        path = _pointer(operation.get("path"), "path")
        match name:
            case "add":
                document = _add(document, path, copy.deepcopy(_value(operation)))
            case "remove":
                document = _remove(document, path)
            case "replace":
                _get(document, path)
                document = _replace(document, path, copy.deepcopy(_value(operation)))
            case "move":
                source = _pointer(operation.get("from"), "from")
                if source == path[: len(source)] and source != path:
                    raise JsonPatchError("a value cannot be moved into itself")
                value = _get(document, source)
                document = _add(_remove(document, source), path, value)
            case "copy":
                value = copy.deepcopy(_get(document, _pointer(operation.get("from"), "from")))
                copied += len(repr(value))
                if copied > MAX_COPIED:
                    raise JsonPatchError("the patch copies too much")
                document = _add(document, path, value)
            case "test":
                if not _equal(_get(document, path), _value(operation)):
                    raise JsonPatchError(f"testing path {operation.get('path')} failed")
            case _:
                raise JsonPatchError(f"unknown operation {name!r}")
    return document


def _pointer(text: object, member: str) -> list[str]:
    """The tokens of a JSON pointer."""
    if not isinstance(text, str):
        raise JsonPatchError(f"an operation needs a {member}")
    if not text:
        return []
    if not text.startswith("/"):
        raise JsonPatchError(f"not a JSON pointer: {text!r}")
    return [token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/")]


def _value(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise JsonPatchError("an operation needs a value")
    return operation["value"]


def _get(document: Any, path: Sequence[str]) -> Any:
    for token in path:
        match document:
            case dict() if token in document:
                document = document[token]
            case list():
                document = document[_index(token, len(document) - 1)]
            case _:
                raise JsonPatchError(f"nothing at {token!r}")
    return document


def _add(document: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    token = path[-1]
    match parent:
        case dict():
            parent[token] = value
        case list():
            parent.insert(len(parent) if token in _END else _index(token, len(parent)), value)
        case _:
            raise JsonPatchError(f"nothing can be added at {token!r}")
    return document


def _replace(document: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    parent[path[-1] if isinstance(parent, dict) else _index(path[-1], len(parent) - 1)] = value
    return document


def _remove(document: Any, path: Sequence[str]) -> Any:
    if not path:
        raise JsonPatchError("the whole document cannot be removed")
    parent = _get(document, path[:-1])
    token = path[-1]
    match parent:
        case dict() if token in parent:
            del parent[token]
        case list():
            del parent[_index(token, len(parent) - 1)]
        case _:
            raise JsonPatchError(f"nothing to remove at {token!r}")
    return document


def _index(token: str, highest: int) -> int:
    if not token.isascii() or not token.isdigit() or (len(token) > 1 and token[0] == "0"):
        raise JsonPatchError(f"not an index: {token!r}")
    # Longer than any list can be: int() of thousands of digits is refused by Python.
    if len(token) > 10 or (index := int(token)) > highest:
        raise JsonPatchError(f"index {token} is out of range")
    return index


def _equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: true is not 1, but 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
