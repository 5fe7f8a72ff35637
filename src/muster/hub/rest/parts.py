"""Bodies of answers in parts, made while they are sent: a slow reader holds one part, not a copy of the whole.

Lists, watches and every large answer go through `packed`. The stored bytes of objects are shared by all who read them:
small ones are joined, large ones are cut, never copied whole.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from muster.hub.pace import SLICE
from muster.hub.rest.yaml_text import encode_yaml
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


PART = 64 * 1024  # what a client that does not read makes us keep for it


@dataclass(frozen=True, slots=True)
class StreamedBody:
    """A body that is made while it is sent. `holds` is how much of the store it keeps alive until then.

    `length` is known where nothing has to be rendered. `slow`: rendering a piece is too much work for the loop.
    """

    pieces: Iterable[bytes]
    holds: int
    length: int | None = None
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or a table: its own fields, and many items under one more. Each item is JSON, made when it is needed."""

    head: JsonObject
    member: str  # "items", or "rows" of a table
    items: Iterable[bytes]

    def length(self, count: int, size: int) -> int:
        """How long `json` is with so many items of so many bytes."""
        return sum(map(len, replace(self, items=()).json())) + size + max(count - 1, 0)

    def json(self) -> Iterator[bytes]:
        yield msgspec.json.encode(self.head)[:-1] + f',"{self.member}":['.encode()
        separator = b""
        for item in self.items:
            if separator:
                yield separator
            separator = b","
            yield item
        yield b"]}\n"

    def indented(self) -> Iterator[bytes]:
        """As `msgspec.json.format` would indent the whole. Strings in JSON have no line breaks of their own."""
        yield msgspec.json.format(msgspec.json.encode(self.head), indent=2)[:-2] + f',\n  "{self.member}": ['.encode()
        separator = b"\n    "
        for item in self.items:
            yield separator + msgspec.json.format(item, indent=2).replace(b"\n", b"\n    ")
            separator = b",\n    "
        yield b"]\n}\n" if separator == b"\n    " else b"\n  ]\n}\n"

    def yaml(self) -> Iterator[bytes]:
        """As `encode_yaml` would write the whole: keys sorted, items not indented."""
        before = {name: value for name, value in self.head.items() if name < self.member}
        after = {name: value for name, value in self.head.items() if name > self.member}
        start = (encode_yaml(before) if before else b"") + self.member.encode()
        for item in self.items:
            if start:
                yield start + b":\n"
            start = b""
            yield encode_yaml([msgspec.json.decode(item)])
        yield (start + b": []\n" if start else b"") + (encode_yaml(after) if after else b"")


def packed(pieces: Iterable[bytes]) -> Iterator[bytes | memoryview]:
    """The pieces in parts of about PART bytes, or of what a few milliseconds have made."""
    small: list[bytes] = []
    size = 0
    due = time.perf_counter() + SLICE
    for piece in pieces:
        if len(piece) > PART:
            if small:
                yield b"".join(small)
                small, size = [], 0
            view = memoryview(piece)
            for start in range(0, len(piece), PART):
                yield view[start : start + PART]
            due = time.perf_counter() + SLICE
            continue
        small.append(piece)
        size += len(piece)
        if size >= PART or time.perf_counter() >= due:
            yield b"".join(small)
            small, size = [], 0
            due = time.perf_counter() + SLICE
    if small:
        yield b"".join(small)
