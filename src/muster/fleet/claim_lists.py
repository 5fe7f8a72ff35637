"""A scanner of many lists of claims at once: `[{"name":"a","value":"b"},{"name":"c","value":"d"}]`, one on each line.

Where no text holds a backslash, quotes say where every text begins and ends. In lists as encoders write them eight
quotes make a claim, and the bytes around them can be only those above; numpy checks that they are. What is written in
any other way, with other fields, spaces or escapes, is not for this scanner and is said to be so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUOTES: Final = 8  # of a claim
_TO_NEXT: Final = 4  # from the last quote of a claim to the first of the next: `},{`
_TO_NEXT_LINE: Final = 6  # and where a line ends in between: `}]`, the end, `[{`
_THREE: Final = 0xFFFFFF  # bytes of a word
_BEFORE: Final = b"\n"
_AFTER: Final = b"\n       "


class OtherwiseWrittenError(ValueError):
    """The lists are JSON, perhaps, but not in the form that is scanned."""


@dataclass(frozen=True, slots=True)
class ClaimLists:
    """What has been scanned: where claims stand, and of which lists."""

    _text: bytes
    _quotes: NDArray[np.intp]  # those of a claim in a row of eight
    _list_of: NDArray[np.intp]

    def named(self, name: bytes) -> tuple[list[int], list[bytes]]:
        """The claims of this name (its bytes in JSON): the numbers of their lists, and the JSON of each."""
        quotes, size, text = self._quotes, len(name), self._text
        found = np.flatnonzero(quotes[:, 3] - quotes[:, 2] == size + 1)
        if size and len(found):
            texts = sliding_window_view(np.frombuffer(text, dtype=np.uint8), size)[quotes[found, 2] + 1]
            found = found[(texts == np.frombuffer(name, dtype=np.uint8)).all(axis=1)]
        begins, ends = (quotes[found, 0] - 1).tolist(), (quotes[found, 7] + 2).tolist()
        return self._list_of[found].tolist(), [text[begin:end] for begin, end in zip(begins, ends, strict=True)]


def scan(lists: bytes, count: int) -> ClaimLists:
    """This many lists, none of them empty, one on each line. Raises OtherwiseWrittenError."""
    text = _BEFORE + lists + _AFTER  # so that no place that is looked at lies outside
    data = np.frombuffer(text, dtype=np.uint8)
    places = np.flatnonzero(data == ord('"'))
    if b"\\" in lists or not len(places) or len(places) % _QUOTES:
        raise OtherwiseWrittenError
    quotes = places.reshape(-1, _QUOTES)
    last = quotes[:, 7]
    gaps = quotes[1:, 0] - last[:-1]
    new_line = gaps == _TO_NEXT_LINE
    # Where a quote stands, no other byte does: places inside of what is compared need no comparing.
    as_expected = (
        text.startswith(_BEFORE + b'[{"')
        and text.endswith(b'"}]' + _AFTER)
        and _all(_words(text, 8)[quotes[:, 0]] == _word(b'"name":"'))
        and _all(_words(text, 8)[quotes[:, 3]] == _word(b'","value'))
        and _all(_words(text, 4)[quotes[:, 5]] & _THREE == _word(b'":"\0'))
        and _all(new_line | (gaps == _TO_NEXT))
        and _all(_words(text, 4)[last[:-1][~new_line]] == _word(b'"},{'))
        and _all(_words(text, 4)[last[:-1][new_line]] == _word(b'"}]\n'))
        and _all(_words(text, 4)[last[:-1][new_line] + 3] == _word(b'\n[{"'))
        and int(new_line.sum()) == count - 1
    )
    if not as_expected:
        raise OtherwiseWrittenError
    list_of = np.concatenate((np.zeros(1, dtype=np.intp), np.cumsum(new_line, dtype=np.intp)))
    return ClaimLists(text, quotes, list_of)


def _words(text: bytes, size: int) -> NDArray[np.unsignedinteger]:
    """The word that begins at each byte."""
    return np.ndarray(len(text) - size + 1, dtype=f"<u{size}", buffer=text, strides=(1,))


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")


def _all(found: NDArray[np.bool_]) -> bool:
    return bool(found.all())
