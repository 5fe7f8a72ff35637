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

from muster.selectors.paths import GONE_WHEN_EMPTY, project
from muster.values.json import Json
from muster.values.paths import PRESENT, Where, frozen

if TYPE_CHECKING:
    from muster.selectors.paths import Path

_WHOLE = msgspec.json.Decoder()
_SHORT = 8  # bytes: 0.0, false and null are no longer than that
UNREADABLE = "unreadable"


_Kind: TypeAlias = Any
"""What msgspec takes for a type."""
_Step: TypeAlias = Any
"""A struct that `_shape` has made: one field, `step`, with the next one in it."""
Extractor: TypeAlias = Callable[[Sequence[bytes]], list[Hashable]]


def extractor(path: Path) -> Extractor:
    """A function from the JSON of objects to their projections on the path."""
    keys = [step for step in path if isinstance(step, str)]
    if not keys or len(keys) < len(path) - 1 or not all(map(can_name_a_field, keys)):
        return lambda objects: [_projected(encoded, path) for encoded in objects]
    last = path[-1]
    gone = (len(keys) - 1,) if tuple(keys) in GONE_WHEN_EMPTY else None
    if isinstance(last, Where):
        return _extractor(keys, list[msgspec.Raw], _element_finder(last, gone), path)
    if isinstance(last, str):
        return _extractor(keys, Json, _plain if gone is None else _whole(gone), path)
    if last is not PRESENT:
        return lambda objects: [_projected(encoded, path) for encoded in objects]
    return _extractor(keys, msgspec.Raw, _there if gone is None else _presence(gone), path)


def can_name_a_field(key: str) -> bool:
    """Whether msgspec takes it for the name of a field: it wants no key that JSON writes with a backslash."""
    return key.isprintable() and '"' not in key and "\\" not in key


def _extractor(keys: list[str], kind: _Kind, finish: Callable[[Json], Hashable], path: Path) -> Extractor:
    """Walk down the keys of all objects at once, then let `finish` make the projection of what is there."""
    decode_lines = msgspec.json.Decoder(_shape(keys, kind)).decode_lines
    innermost = attrgetter(".".join(["step"] * len(keys)))
    around: Callable[[bytes], _Step] | None = None
    depth = next((count for count in range(1, len(keys)) if tuple(keys[:count]) in GONE_WHEN_EMPTY), 0)
    if depth:
        around = msgspec.json.Decoder(_shape(keys[:depth], dict[str, msgspec.Raw])).decode
        innermost_around = attrgetter(".".join(["step"] * depth))

    def extract_all(objects: Sequence[bytes]) -> list[Hashable]:
        try:
            shapes = decode_lines(b"\n".join(objects))
            return [_walked(shape, encoded) for shape, encoded in zip(shapes, objects, strict=True)]
        except (msgspec.ValidationError, ValueError, RecursionError):
            # One is not shaped as the path expects, or not on one line.
            return [_projected(encoded, path) for encoded in objects]

    def _walked(shape: _Step, encoded: bytes) -> Hashable:
        try:
            value = innermost(shape)
        except AttributeError:  # the way ends before its last step
            value = msgspec.UNSET
        if type(value) is str and value:
            return value
        if value is not msgspec.UNSET:
            return finish(value)
        end = _end_of_the_way(shape)
        if around is None or end != (depth,):
            return end
        # A struct does not tell whether the map around a missing key is empty, and with that not there itself.
        return end if innermost_around(around(encoded)) else (depth - 1,)

    return extract_all


def _there(_: Json) -> Hashable:
    return True


def _whole(gone: Hashable) -> Callable[[Json], Hashable]:
    """All of it; `gone` if there is nothing in it."""
    return lambda value: _plain(value) if value else gone


def _presence(gone: Hashable) -> Callable[[Json], Hashable]:
    """What is there is there; `gone` if there is nothing in it."""

    def find(value: Json) -> Hashable:
        raw = bytes(value)
        short = len(raw) <= _SHORT or not raw[1:-1].strip()
        return gone if short and not _WHOLE.decode(raw) else True

    return find


def _end_of_the_way(shape: _Step) -> Hashable:
    level = 0
    while (shape := shape.step) is not msgspec.UNSET:
        level += 1
    return (level,)


def _projected(encoded: bytes, path: Path) -> Hashable:
    try:
        return project(_WHOLE.decode(encoded), path)
    except (msgspec.MsgspecError, RecursionError) as error:
        # Nothing is known of it, which is a value too: one object must not keep a column from being filled.
        return (UNREADABLE, str(error))


def _plain(value: Json) -> Hashable:
    return value if type(value) is str else frozen(value)


def _element_finder(element: Where, gone: Hashable) -> Callable[[list[msgspec.Raw]], Hashable]:
    """The elements in question, written as `project` writes them: the JSON they came in may say the same differently.

    An element without such a field is a ValidationError. `gone` is said of an empty list, unless it is None.
    """
    field = msgspec.defstruct("Field", [("step", str)], rename={"step": element.field}, gc=False)
    decode: Callable[[msgspec.Raw], _Step] = msgspec.json.Decoder(field).decode
    wanted = element.value

    def find(elements: list[msgspec.Raw]) -> Hashable:
        if not elements and gone is not None:
            return gone
        return frozen([_WHOLE.decode(each) for each in elements if decode(each).step == wanted])

    return find


def _shape(keys: list[str], kind: _Kind) -> type[msgspec.Struct]:
    """Nested structs with one field each: `step`, read from the key."""
    for key in reversed(keys):
        kind = msgspec.defstruct(
            "Step", [("step", kind | msgspec.UnsetType, msgspec.UNSET)], rename={"step": key}, gc=False
        )
    return kind  # type: ignore[no-any-return]  # there is at least one key
