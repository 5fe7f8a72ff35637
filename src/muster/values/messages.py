"""Texts that fit: messages of conditions and events within the limits of every server, lists with "and N more".

Whatever writes a condition or an event takes its message through here, so that no name, expression or error text of a
user makes an object that no server takes. Texts are cut between characters, never inside one.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_CONDITION_BYTES: Final = 32_768
MOST_REASON_BYTES: Final = 1_024
MOST_EVENT_BYTES: Final = 1_024
_CUT: Final = "…"
_MOST_LISTED: Final = 100
_MOST_LISTED_BYTES: Final = 8_192


def fitting(text: str, most: int, end: str = _CUT) -> str:
    """The text within so many bytes of UTF-8; what is cut off is told by `end`."""
    if len(text) * 4 <= most:  # no character has more bytes
        return text if text.isascii() else _encodable(text)
    encoded = text[: most + 1].encode("utf-8", "replace")
    if len(encoded) <= most and len(text) <= most:
        return _encodable(text)
    room = max(most - len(end.encode()), 0)
    return encoded[:room].decode("utf-8", "ignore") + end


def _encodable(text: str) -> str:
    """Without halves of characters, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def condition_message(text: str) -> str:
    return fitting(text, MOST_CONDITION_BYTES)


def condition_reason(text: str) -> str:
    return fitting(text, MOST_REASON_BYTES, "")


def event_message(text: str) -> str:
    return fitting(text, MOST_EVENT_BYTES, "......")


def listed(
    items: Collection[str], separator: str = ", ", most: int = _MOST_LISTED, room: int = _MOST_LISTED_BYTES
) -> str:
    """The items one after the other, as many as fit into a number and into bytes, and how many more there are.

        >>> listed(["a", "b", "c"])
        'a, b, c'
        >>> listed(["a", "b", "c"], most=2)
        'a, b and 1 more'

    One item that is too long by itself is cut.
    """
    shown: list[str] = []
    left = room
    for item in islice(items, most):
        text = fitting(item, room)
        size = len(text.encode()) + len(separator)
        if shown and size > left:
            break
        shown.append(text)
        left -= size
    more = len(items) - len(shown)
    joined = separator.join(shown)
    if not more:
        return joined
    return f"{joined} and {more} more" if joined else f"{more}"
