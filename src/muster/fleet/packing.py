"""Objects that nobody looks at, packed one by one: most of what one of them says stands in others too.

A few of them are the dictionary for all others (zlib's preset dictionary), so that each is packed and read alone. How
large an object was is noted with it: reading it never takes more room than that. Knows no rows.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK: Final = b"\0"  # no JSON begins with it
_HEAD: Final = 5  # bytes: the mark, and how large the object was
_LEVEL: Final = 3
_WINDOW: Final = 15  # of 32 KiB: for the dictionary, and for what is packed
_MEMORY: Final = 6  # zlib's: a copy of its state is made for each object
_DICTIONARY: Final = 2**14
_EXAMPLES: Final = 6


def is_packed(stored: bytes) -> bool:
    """Whether this is an object that was packed, and not JSON."""
    return stored.startswith(_MARK)


class Packing:
    """A dictionary, and what is packed with it."""

    def __init__(self, some: Sequence[bytes]) -> None:
        """With a dictionary from these objects."""
        examples = some[:: max(len(some) // _EXAMPLES, 1)][:_EXAMPLES]
        self._dictionary = b"".join(each[: _DICTIONARY // _EXAMPLES] for each in examples)
        self._begun = zlib.compressobj(
            _LEVEL, zlib.DEFLATED, -_WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, self._dictionary
        )

    def pack(self, encoded: bytes) -> bytes:
        packer = self._begun.copy()
        size = len(encoded).to_bytes(_HEAD - 1, "little")
        return b"".join((_MARK, size, packer.compress(encoded), packer.flush()))

    def unpack(self, packed: bytes) -> bytes:
        size = int.from_bytes(packed[1:_HEAD], "little")
        # Of nothing there is nothing; to zlib, 0 would mean as much as comes.
        return zlib.decompressobj(-_WINDOW, self._dictionary).decompress(packed[_HEAD:], max(size, 1))
