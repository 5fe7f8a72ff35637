"""Patterns that never leave a matcher a choice, such as `^1\\.(30|31)\\.\\d+$`: Python's own engine answers those.

RE2 takes time in proportion to the text, whatever the pattern, but each call of it from Python costs as much as two or
three hundred characters. Python's `re` is quick to call and may go back and try again, for ever. It has nothing to
try where every step follows from the next character alone: so this is the grammar of such patterns, read piece by
piece and written anew, and everything outside of it stays with RE2. What a reader has to believe:

* the pattern begins with `^`, so there is one place to start from;
* a piece that may be repeated or left out is one character, and none of those may begin what follows it;
* of alternatives none begins with another one, and they are not repeated.

Going back then fails at its first character, so all of it together takes a second look at the text and no more. Both
engines mean the same by such a pattern in a text of ASCII; for other texts nobody asks here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST = 256  # characters of a pattern
_DIGITS = frozenset("0123456789")
_WORDS = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_ANY = frozenset(map(chr, range(128))) - {"\n"}
_PIECE = re.compile(
    r"""(?:(?P<literal>[A-Za-z0-9 _:/,;=<>@#%&~!'"-]|\\[.+*?()\[\]{}^$|\\-])"""
    r"|(?P<class>\\[dw]|\.)"
    r"|\[(?P<negated>\^?)(?P<set>(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.:/ ]|\\[dw.-])+-?)\])(?P<times>[+*?]?)"
    r"""|\((?:\?:)?(?P<words>(?:[A-Za-z0-9 _:/,;=@#%&~!'"-]|\\\.)+(?:\|(?:[A-Za-z0-9 _:/,;=@#%&~!'"-]|\\\.)+)*)\)"""
)
_MEMBER = re.compile(r"(?P<first>[A-Za-z0-9])-(?P<last>[A-Za-z0-9])|\\(?P<class>[dw])|\\?(?P<one>.)")


class _Piece(NamedTuple):
    """What stands in one place: the characters it may begin with, and how it is written for Python."""

    begins: frozenset[str]
    written: str
    times: str


def matcher_of(pattern: str) -> Callable[[str], object] | None:
    """What looks for the pattern in a text of ASCII and gives None where it is not; None for most patterns.

    >>> bool(matcher_of("^v[0-9]+$")("v12")), matcher_of("^(a+)+$")
    (True, None)
    """
    if len(pattern) > _LONGEST or not pattern.startswith("^"):
        return None
    ended = pattern.endswith("$") and not pattern.endswith("\\$")
    pieces = _pieces(pattern[1 : len(pattern) - ended])
    if pieces is None or not all(_is_settled(pieces, at) for at in range(len(pieces))):
        return None
    return re.compile("".join(piece.written + piece.times for piece in pieces) + (r"\Z" if ended else "")).match


def _pieces(text: str) -> list[_Piece] | None:
    found: list[_Piece] = []
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None or text[piece.end() : piece.end() + 1] in {"+", "*", "?", "{"}:
            return None
        position = piece.end()
        if piece["words"] is not None:
            words = [word.replace("\\.", ".") for word in piece["words"].split("|")]
            if any(one.startswith(other) for at, one in enumerate(words) for to, other in enumerate(words) if at != to):
                return None
            written = f"(?:{'|'.join(map(re.escape, words))})"
            found.append(_Piece(frozenset(word[0] for word in words), written, ""))
            continue
        characters = _characters(piece)
        if not characters:
            return None
        found.append(_Piece(characters, _written(characters), piece["times"]))
    return found


def _characters(piece: re.Match[str]) -> frozenset[str]:
    if piece["literal"] is not None:
        return frozenset(piece["literal"][-1])
    if piece["class"] is not None:
        return {"\\d": _DIGITS, "\\w": _WORDS, ".": _ANY}[piece["class"]]
    members = frozenset(each for member in _MEMBER.finditer(piece["set"]) for each in _members(member))
    return (_ANY | {"\n"}) - members if piece["negated"] else members


def _members(member: re.Match[str]) -> Iterator[str]:
    if member["first"] is not None:
        yield from map(chr, range(ord(member["first"]), ord(member["last"]) + 1))
    elif member["class"] is not None:
        yield from _DIGITS if member["class"] == "d" else _WORDS
    else:
        yield member["one"]


def _written(characters: frozenset[str]) -> str:
    if len(characters) == 1:
        return re.escape(next(iter(characters)))
    return f"[{''.join(map(re.escape, sorted(characters)))}]"


def _is_settled(pieces: list[_Piece], at: int) -> bool:
    """Whether a piece that may be repeated or left out is told from what follows by its first character."""
    if not pieces[at].times:
        return True
    for following in pieces[at + 1 :]:
        if following.begins & pieces[at].begins:
            return False
        if following.times not in {"*", "?"}:
            return True
    return True
