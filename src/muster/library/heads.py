"""The objects of files as they stand there: what each of them is, and its JSON, which is decoded if somebody asks.

For questions about large fleets, which look at few fields of most objects: to decode ten thousand clusters takes longer
than to answer. Only what is one JSON object a line is read so. Anything else, and anything that is not as it should be,
is read by `documents`, whose rules and words are the ones that count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.errors import InvalidObjectError
from muster.library.documents import is_json_line, line_objects, text_objects
from muster.library.overlays import NAMESPACED, in_namespace
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from muster.library.documents import Document
    from muster.values.json import JsonObject

_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    name: str = ""
    namespace: str = ""
    generate_name: str = ""


class _Head(msgspec.Struct, gc=False, rename="camel"):
    api_version: str
    kind: str
    metadata: _Metadata


_AT_ONCE: Final = 1 << 18  # bytes, and the rest of the last line
_HEAD: Final = msgspec.json.Decoder(_Head)


class Headed(msgspec.Struct, frozen=True, gc=False):
    """An object: where it was read, what it is, and all of it, decoded or not."""

    origin: str
    kind: str
    namespace: str
    name: str
    held: bytes | JsonObject

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
        return msgspec.structs.replace(self, namespace=namespace, held=in_namespace(self.plain(), namespace))


def read_headed(origin: str, stream: BinaryIO) -> Iterator[Headed]:
    """Every object in an open file. Raises InvalidObjectError."""
    first = stream.readline()
    if not is_json_line(first):
        yield from map(headed, text_objects(origin, first + stream.read()))
        return
    number, text = 0, first + stream.read(_AT_ONCE) + stream.readline()
    while text:
        lines = text.removesuffix(b"\n").split(b"\n")
        for line, head in zip(lines, _heads(lines, text), strict=True):
            number += 1
            if head is not None:
                metadata = head.metadata
                name = metadata.name or metadata.generate_name
                yield Headed(f"{origin}:{number}", head.kind, metadata.namespace, name, line)
            elif line.strip():
                yield from map(headed, line_objects(origin, number, line))
        text = stream.read(_AT_ONCE) + stream.readline()


def headed(document: Document) -> Headed:
    """An object that is decoded already."""
    metadata = document.object["metadata"]
    name = text_at(metadata, "name") or text_at(metadata, "generateName")
    return Headed(document.origin, document.object["kind"], metadata.get("namespace", ""), name, document.object)


def newest(objects: Iterable[Headed], namespace: str) -> list[Headed]:
    """Of several states of one object the last one, as `overlaid` has it."""
    placed = (each.placed_in(namespace) for each in objects)
    return list({(each.kind, each.namespace, each.name): each for each in placed}.values())


def _heads(lines: list[bytes], text: bytes) -> Sequence[_Head | None]:
    """What stands at the heads of ordinary objects; nothing for whatever asks for a second look."""
    try:
        found = _HEAD.decode_lines(text)
        if not text.isascii():
            text.decode()  # skipped texts are looked at by nobody else
    except _UNREADABLE:
        return _heads_of_halves(lines)
    if len(found) != len(lines):  # some are empty
        return _heads_of_halves(lines)
    return [head if _is_ordinary(head) else None for head in found]


def _heads_of_halves(lines: list[bytes]) -> Sequence[_Head | None]:
    """The same of lines one of which is not ordinary at all: that one is found, and the others are read together."""
    if len(lines) == 1:
        return [None]
    halves = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    return [head for half in halves for head in _heads(half, b"\n".join(half))]


def _is_ordinary(head: _Head) -> bool:
    named = head.metadata.name or head.metadata.generate_name
    return bool(named and head.kind and head.api_version and not head.kind.endswith("List"))
