"""The objects of files as they stand there: what each of them is, and its JSON, which is decoded if somebody asks.

For questions about large fleets, which look at few fields of most objects: to decode ten thousand clusters takes longer
than to answer. The one pass that finds what an object is also finds where a fleet's columns are filled from (`Shape`).
Only what is one JSON object a line is read so. Anything else, and anything that is not as it should be, is read by
`documents`, whose rules and words are the ones that count.
"""

from __future__ import annotations

from itertools import count, repeat
from typing import TYPE_CHECKING, Final

import msgspec

from muster.errors import InvalidObjectError
from muster.fleet.shapes import Shape
from muster.library.documents import is_json_line, line_objects, text_objects
from muster.library.overlays import NAMESPACED, in_namespace
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from muster.library.documents import Document
    from muster.values.json import JsonObject

_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Identity(msgspec.Struct, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    generate_name: str = ""


class _Head(msgspec.Struct, gc=False, rename="camel"):
    """As much of an object as it takes to say what it is, however its other parts are written."""

    api_version: str
    kind: str
    metadata: _Identity


_AT_ONCE: Final = 1 << 20  # bytes, and the rest of the last line
_SHAPE: Final = msgspec.json.Decoder(Shape)
_HEAD: Final = msgspec.json.Decoder(_Head)


class Headed(msgspec.Struct, gc=False):
    """An object: where it was read, what it is, and all of it, decoded or not."""

    file: str
    line: int  # 0 where `file` says all
    kind: str
    namespace: str
    name: str
    held: bytes | JsonObject
    shape: Shape | None = None

    @property
    def origin(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def plain(self) -> JsonObject:
        """Raises InvalidObjectError for what only a whole look shows: a number that is too large for anybody."""
        if not isinstance(self.held, bytes):
            return self.held
        try:
            found: JsonObject = msgspec.json.decode(self.held)
        except _UNREADABLE as error:
            raise InvalidObjectError(self.origin, f"not valid JSON: {error}") from error
        return found

    def encoded(self) -> bytes:
        return self.held if isinstance(self.held, bytes) else msgspec.json.encode(self.held)

    def placed_in(self, namespace: str) -> Headed:
        """The same, in the namespace where it would be if it names none."""
        if self.namespace or self.kind not in NAMESPACED:
            return self
        held = in_namespace(self.plain(), namespace)
        return msgspec.structs.replace(self, namespace=namespace, held=held, shape=None)


def read_headed(origin: str, stream: BinaryIO) -> Iterator[Headed]:
    """Every object in an open file. Raises InvalidObjectError."""
    first = stream.readline()
    if not is_json_line(first):
        yield from map(headed, text_objects(origin, first + stream.read()))
        return
    number, lines = 1, [first, *stream.readlines(_AT_ONCE)]
    while lines:
        yield from _headed_lines(origin, number, lines)
        number += len(lines)
        lines = stream.readlines(_AT_ONCE)


def _headed_lines(origin: str, first: int, lines: list[bytes]) -> Iterable[Headed]:
    try:
        found = list(map(_SHAPE.decode, lines))
        if not all(map(bytes.isascii, lines)):
            b"".join(lines).decode()  # skipped texts are looked at by nobody else
    except _UNREADABLE:
        return _odd_lines(origin, first, lines)
    kinds, names = [each.kind for each in found], list(map(_name_in, found))
    if not (all(names) and all(map(_is_ordinary, set(kinds))) and all(each.api_version for each in found)):
        return _odd_lines(origin, first, lines)
    namespaces = [each.metadata.namespace for each in found]
    return map(Headed, repeat(origin), count(first), kinds, namespaces, names, lines, found)


def _odd_lines(origin: str, first: int, lines: list[bytes]) -> Iterator[Headed]:
    """Some of which are not as usual."""
    for number, line in enumerate(lines, start=first):
        head = _head(line)
        if head is None:
            if line.strip():
                yield from map(headed, line_objects(origin, number, line))
        else:
            shape = head if isinstance(head, Shape) else None
            yield Headed(origin, number, head.kind, head.metadata.namespace, _name_in(head), line, shape)


def _head(line: bytes) -> Shape | _Head | None:
    """What stands at the head of an ordinary object; nothing for whatever asks for a second look."""
    for decoder in (_SHAPE, _HEAD):
        try:
            found: Shape | _Head = decoder.decode(line)
            line.decode()
        except _UNREADABLE:
            continue
        return found if _name_in(found) and _is_ordinary(found.kind) and found.api_version else None
    return None


def headed(document: Document) -> Headed:
    """An object that is decoded already."""
    metadata = document.object["metadata"]
    name = text_at(metadata, "name") or text_at(metadata, "generateName")
    return Headed(document.origin, 0, document.object["kind"], metadata.get("namespace", ""), name, document.object)


def newest(objects: Iterable[Headed], namespace: str) -> list[Headed]:
    """Of several states of one object the last one, as `overlaid` has it."""
    placed = (each if each.namespace else each.placed_in(namespace) for each in objects)
    return list({(each.kind, each.namespace, each.name): each for each in placed}.values())


def _name_in(head: Shape | _Head) -> str:
    metadata = head.metadata
    name = metadata.name
    return name if type(name) is str and name else metadata.generate_name


def _is_ordinary(kind: str) -> bool:
    return bool(kind) and not kind.endswith("List")
