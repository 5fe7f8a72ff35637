"""Which object some JSON is: kind, namespace, name, revision. Total: whatever the rest of the object holds.

The reflector and the feeds ask before they take an object in, so that one that cannot be read can be named. What the
fast decoder refuses (objects that nest a thousand levels deep) is taken apart by brackets, without recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from muster.values.names import place_text

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)


class Place(NamedTuple):
    """Where an object is; what is in no namespace has an empty one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return place_text(*self)


class Meta(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""  # noqa: N815 - the wire's names


class Head(msgspec.Struct, frozen=True):
    """An object's identity and revision; empty where the object does not say."""

    apiVersion: str = ""  # noqa: N815
    kind: str = ""
    metadata: Meta = Meta()

    @property
    def place(self) -> Place:
        return Place(self.metadata.namespace, self.metadata.name)

    def __str__(self) -> str:
        return str(self.place) or "an object without a name"


_HEADS: Final = msgspec.json.Decoder(Head)
_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
_META_FIELDS: Final = frozenset(Meta.__struct_fields__)


def head_of(encoded: bytes) -> Head:
    try:
        return _HEADS.decode(encoded)
    except (msgspec.MsgspecError, RecursionError):
        found = members(encoded)
        meta = {name: _text(text) for name, text in members(found.get("metadata", b"")).items() if name in _META_FIELDS}
        return Head(_text(found.get("apiVersion", b"")), _text(found.get("kind", b"")), Meta(**meta))


def members(encoded: bytes) -> dict[str, bytes]:
    """The JSON of a map's members by name; nothing for what is no map."""
    found: dict[str, bytes] = {}
    for piece in elements(encoded) if encoded[:1] == b"{" else ():
        key = _TOKEN.match(piece)
        if key is not None:
            found[_text(key[0])] = piece[key.end() :].lstrip().removeprefix(b":").lstrip()
    return found


def elements(encoded: bytes) -> Iterator[bytes]:
    """The JSON of what stands between the outermost brackets, cut at the commas."""
    depth = start = 0
    for token in _TOKEN.finditer(encoded):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth == 1:
                    start = token.end()
            case b"}" | b"]":
                depth -= 1
                if depth == 0:
                    if last := encoded[start : token.start()].strip():
                        yield last
                    return
            case b"," if depth == 1:
                yield encoded[start : token.start()].strip()
                start = token.end()


def _text(encoded: bytes) -> str:
    try:
        value: object = msgspec.json.decode(encoded)
    except (msgspec.MsgspecError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
