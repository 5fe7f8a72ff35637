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
    keys = [step for step in path if isinstance(step, str)]
    if not keys or len(keys) < len(path) - 1:
        return lambda encoded: project(_WHOLE.decode(encoded), path)
    last = path[-1]
    if isinstance(last, Element):
        found = _element_finder(last)
        return _extractor(keys, list[msgspec.Raw], found, path)
    if isinstance(last, str):
        return _extractor(keys, Any, _plain, path)
    return _extractor(keys, msgspec.Raw, lambda _: True, path)


def _extractor(
    keys: list[str], kind: Any, finish: Callable[[Any], Hashable], path: Path
) -> Callable[[bytes], Hashable]:
    """Walk down the keys, then let `finish` make the projection of what is there."""
    decode = msgspec.json.Decoder(_shape(keys, kind)).decode
    depth = len(keys)

    def extract(encoded: bytes) -> Hashable:
        try:
            value: Any = decode(encoded)
            for level in range(depth):
                value = value.step
                if value is msgspec.UNSET:
                    return (level,)
            return finish(value)
        except msgspec.ValidationError:  # not shaped as the path expects
            return project(_WHOLE.decode(encoded), path)

    return extract


def _plain(value: Any) -> Hashable:
    return value if type(value) is str else frozen(value)


def _element_finder(element: Element) -> Callable[[list[msgspec.Raw]], Hashable]:
    """The elements in question, as the JSON they came in. An element without such a field is a ValidationError."""
    field = msgspec.defstruct("Field", [("step", str)], rename={"step": element.field}, gc=False)
    decode: Callable[[Any], Any] = msgspec.json.Decoder(field).decode
    wanted = element.value

    def find(elements: list[msgspec.Raw]) -> Hashable:
        return b"[" + b",".join(bytes(each) for each in elements if decode(each).step == wanted) + b"]"

    return find


def _shape(keys: list[str], kind: Any) -> type[msgspec.Struct]:
    """Nested structs with one field each: `step`, read from the key."""
    for key in reversed(keys):
        kind = msgspec.defstruct(
            "Step", [("step", kind | msgspec.UnsetType, msgspec.UNSET)], rename={"step": key}, gc=False
        )
    return kind  # type: ignore[no-any-return]  # there is at least one key
