"""The value at a path, straight from an object's JSON, without decoding the rest of it.

A path becomes a nest of msgspec structs that names only the fields on the way; everything else is skipped by the
decoder. Where an object is not shaped as the path expects, the whole object is decoded and `project` decides, so
that both ways always agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.selectors.paths import Element, frozen, project

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from muster.selectors.paths import Path

_WHOLE = msgspec.json.Decoder()


def extractor(path: Path) -> Callable[[bytes], Hashable]:
    """A function from an object's JSON to its projection on the path."""
    keys = path[:-1] if path and isinstance(path[-1], Element) else path
    if not keys or any(isinstance(step, Element) for step in keys):
        return lambda encoded: project(_WHOLE.decode(encoded), path)
    decode = msgspec.json.Decoder(_shape([str(step) for step in keys])).decode
    depth = len(keys)
    rest = path[depth:]

    def extract(encoded: bytes) -> Hashable:
        try:
            value: Any = decode(encoded)
        except msgspec.ValidationError:
            return project(_WHOLE.decode(encoded), path)
        for level in range(depth):
            value = value.step
            if value is msgspec.UNSET:
                return (level,)
        return value if type(value) is str and not rest else _deeper(value, rest, depth)

    return extract


def _deeper(value: Any, rest: Path, depth: int) -> Hashable:
    """What `project` would say of the whole path, when the value after `depth` steps is known."""
    if rest and type(value) is not list:
        return (depth, frozen(value))
    return project(value, rest)


def _shape(keys: list[str]) -> type[msgspec.Struct]:
    """Nested structs with one field each: `step`, read from the key."""
    kind: Any = Any
    for key in reversed(keys):
        kind = msgspec.defstruct(
            "Step", [("step", kind | msgspec.UnsetType, msgspec.UNSET)], rename={"step": key}, gc=False
        )
    return kind  # type: ignore[no-any-return]  # the loop ran at least once
