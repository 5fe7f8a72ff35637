"""The value at a path, straight from an object's JSON, without decoding the rest of it.

A path becomes a nest of msgspec structs that names only the fields on the way; everything else is skipped by the
decoder. Where an object is not shaped as the path expects, the whole object is decoded and `project` decides, so
that both ways always agree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from muster.selectors.paths import Element, frozen, project

if TYPE_CHECKING:
    from muster.selectors.paths import Path

_WHOLE = msgspec.json.Decoder()


Extractor: TypeAlias = Callable[[Sequence[bytes]], list[Hashable]]


def extractor(path: Path) -> Extractor:
    """A function from the JSON of objects to their projections on the path."""
    keys = [step for step in path if isinstance(step, str)]
    if not keys or len(keys) < len(path) - 1:
        return lambda objects: [_projected(encoded, path) for encoded in objects]
    last = path[-1]
    if isinstance(last, Element):
        return _extractor(keys, list[msgspec.Raw], _element_finder(last), path)
    if isinstance(last, str):
        return _extractor(keys, Any, _plain, path)
    return _extractor(keys, msgspec.Raw, lambda _: True, path)


def _extractor(keys: list[str], kind: Any, finish: Callable[[Any], Hashable], path: Path) -> Extractor:
    """Walk down the keys of all objects at once, then let `finish` make the projection of what is there."""
    decode_lines = msgspec.json.Decoder(_shape(keys, kind)).decode_lines
    innermost = attrgetter(".".join(["step"] * len(keys)))

    def extract_all(objects: Sequence[bytes]) -> list[Hashable]:
        try:
            return [_walked(shape) for shape in decode_lines(b"\n".join(objects))]
        except msgspec.ValidationError:  # one of them is not shaped as the path expects
            return [_projected(encoded, path) for encoded in objects]

    def _walked(shape: Any) -> Hashable:
        try:
            value = innermost(shape)
        except AttributeError:  # the way ends before its last step
            value = msgspec.UNSET
        if type(value) is str:
            return value
        return finish(value) if value is not msgspec.UNSET else _end_of_the_way(shape)

    return extract_all


def _end_of_the_way(shape: Any) -> Hashable:
    level = 0
    while (shape := shape.step) is not msgspec.UNSET:
        level += 1
    return (level,)


def _projected(encoded: bytes, path: Path) -> Hashable:
    return project(_WHOLE.decode(encoded), path)


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
