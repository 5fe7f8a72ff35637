"""A scanner of many lists of claims at once, as encoders write them: `[{"name":"a","value":"b"},{…},{…}]`.

Where no text holds a backslash, every quote begins or ends a text, so that `","value":"` stands nowhere else in JSON
than where it means that. numpy looks at the braces that open: each must begin a claim, the first one of a list or one
right behind another. If there are as many values as claims, and no more quotes than these make, then nothing else is in
the lists: an element of another form would bring texts of its own, or end in another way. Whatever is written
differently, with other fields, spaces or escapes, is not for this scanner and is said to be so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msgspec import Raw
    from numpy.typing import NDArray

_FIRST: Final = b'[{"name":"'
_VALUE: Final = b'","value":"'
_QUOTES: Final = 8  # of a claim
_WORD: Final = 8  # bytes that are compared at once


class OtherwiseWrittenError(ValueError):
    """The lists are JSON, perhaps, but not in the form that is scanned."""


def claims_named(name: bytes, lists: Sequence[Raw | bytes]) -> tuple[NDArray[np.intp], list[bytes]]:
    """The claims of this name (its bytes in JSON): the numbers of their lists in ascending order, and the JSON of each.

    Raises OtherwiseWrittenError.
    """
    begin = _FIRST[1:] + name + b'"'
    # A list that is cut off stands behind the last one: every claim has a next brace, and no place lies outside.
    text = b"\n".join((*lists, _FIRST.ljust(len(begin) + 2 * _WORD)))
    data, words = np.frombuffer(text, dtype=np.uint8), _pieces(text, "<u8", _WORD)
    braces = np.flatnonzero(data == ord("{"))
    begins_list = words[braces - 5] == _word(b'"}]\n[{"n')
    claims = len(braces) - 1
    as_expected = (
        text.startswith(_FIRST)
        and b"\\" not in text
        and bool((words[braces + 1] == _word(b'"name":"')).all())
        and bool((begins_list | (words[braces - 3] == _word(b'"},{"nam')))[1:].all())
        and int(np.count_nonzero(begins_list)) == len(lists)
        and text.count(_VALUE) == claims
        and int(np.count_nonzero(data == ord('"'))) == _QUOTES * claims + _FIRST.count(b'"')
    )
    if not as_expected:
        raise OtherwiseWrittenError
    found = np.flatnonzero(data[braces + (len(begin) - 1)] == ord('"'))
    found = found[_pieces(text, f"S{len(begin)}", len(begin))[braces[found]] == begin]
    ends = braces[found + 1] - np.where(begins_list[found + 1], len("]\n["), len(","))
    places = zip(braces[found].tolist(), ends.tolist(), strict=True)
    return np.cumsum(begins_list)[found], [text[start:end] for start, end in places]


def _pieces(text: bytes, kind: str, size: int) -> NDArray[np.generic]:
    """What begins at each byte."""
    return np.ndarray(len(text) - size + 1, dtype=kind, buffer=text, strides=(1,))


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")
