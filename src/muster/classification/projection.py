"""What queries can see of an inventory, as short keys: equal keys, equal outcomes.

A query declares the paths that it reads; the key of an inventory is what it holds at those paths. Results are kept
under keys, and a key that did not change says that a change of the inventory does not concern the query. Several
queries look at the same inventory, so each path is encoded once for all of them.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from muster.jq import ReadPath, Where, project, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

Key: TypeAlias = tuple[bytes, ...]

_LONGEST_PART = 48
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class InventoryView(dict[ReadPath, bytes]):
    """One inventory, looked at by several queries: what it holds by path, encoded when it is first asked for."""

    __slots__ = ("_encoded", "_value")

    def __init__(self, encoded: bytes) -> None:
        super().__init__()
        self._encoded = encoded
        self._value: Any = None

    @property
    def value(self) -> Any:
        if self._value is None:
            self._value = _decode(self._encoded)
        return self._value

    def __missing__(self, path: ReadPath) -> bytes:
        self[path] = part = _part(path, self.value)
        return part

    def key(self, paths: Sequence[ReadPath]) -> Key:
        """What the inventory holds at some paths."""
        return tuple([self[path] for path in paths])


def _part(path: ReadPath, value: Any) -> bytes:
    """What a value holds at a path, encoded; a long text as its digest."""
    depth = 0
    for step in path:
        if type(step) is not str:
            return _short(_other(path, depth, value))
        if type(value) is not dict:
            break
        if step not in value:
            return b"-%d" % depth  # absent, which is not null
        value = value[step]
        depth += 1
    return _short([depth, value])


def _other(path: ReadPath, depth: int, value: Any) -> Any:
    """The steps that are not names: members chosen by a field are picked here, the rest is the language's business."""
    step = path[depth]
    if isinstance(step, Where) and depth == len(path) - 1 and type(value) is list:
        return [depth, [each for each in value if type(each) is not dict or each.get(step.field) in (step.value, None)]]
    return [-depth, project(path[depth:], value)]


def _short(seen: Any) -> bytes:
    try:
        encoded = _encode(seen)
    except OverflowError:  # an integer beyond 64 bits
        encoded = to_json(seen).encode()
    return encoded if len(encoded) <= _LONGEST_PART else blake2b(encoded, digest_size=16).digest()
