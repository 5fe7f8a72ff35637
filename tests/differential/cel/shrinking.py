"""Makes a program that differs as small as it gets while it still differs in the same way.

It knows nothing of the language but brackets and tokens: it takes tokens away, replaces what stands in brackets by
parts of it, and literals by plain ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TOKEN: Final = re.compile(
    r"\s*(?:[A-Za-z_][\w.]*|[0-9][\w.]*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|&&|\|\||[=!<>]=|.)", re.DOTALL
)
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_PLAIN: Final = ("1", "'a'", "true", "[]", "null", "1.5", "i", "s")
ATTEMPTS: Final = 300


def shrunk(text: str, differs: Callable[[str], bool]) -> str:
    """The smallest program found, within so many attempts."""
    left = ATTEMPTS
    again = True
    while again and left > 0:
        again = False
        for candidate in _smaller(text):
            left -= 1
            if left <= 0:
                break
            if differs(candidate):
                text, again = candidate, True
                break
    return text


def tokens_of(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _smaller(text: str) -> Iterator[str]:
    tokens = tokens_of(text)
    brackets = list(groups(tokens))
    seen = {text}
    for begin, end in sorted(brackets, key=lambda group: group[0] - group[1]):
        inner = tokens[begin + 1 : end]
        for piece in (inner, tokens[begin : end + 1]):  # the whole becomes what is in the brackets, or the bracket
            yield from _new("".join(piece), seen)
        for part in _parts(inner):
            yield from _new("".join(part), seen)
            yield from _new("".join(tokens[: begin + 1] + part + tokens[end:]), seen)
    for size in (8, 4, 3, 2, 1):
        for begin in range(len(tokens) - size + 1):
            yield from _new("".join(tokens[:begin] + tokens[begin + size :]), seen)
    for index, token in enumerate(tokens):
        if len(token.strip()) > 1 and (token.strip()[0] in "'\"" or token.strip()[0].isdigit()):
            for plain in _PLAIN:
                if len(plain) < len(token.strip()):
                    yield from _new("".join([*tokens[:index], plain, *tokens[index + 1 :]]), seen)


def _new(text: str, seen: set[str]) -> Iterator[str]:
    text = text.strip()
    if text and text not in seen:
        seen.add(text)
        yield text


def groups(tokens: list[str]) -> Iterator[tuple[int, int]]:
    opened: list[tuple[int, str]] = []
    for index, token in enumerate(tokens):
        sign = token.strip()
        if sign in _OPENING:
            opened.append((index, _OPENING[sign]))
        elif opened and sign == opened[-1][1]:
            yield opened.pop()[0], index


def _parts(tokens: list[str]) -> Iterator[list[str]]:
    """What stands between the commas."""
    depth = 0
    part: list[str] = []
    found: list[list[str]] = []
    for token in tokens:
        sign = token.strip()
        depth += (sign in _OPENING) - (sign in _OPENING.values())
        if sign == "," and depth == 0:
            found.append(part)
            part = []
        else:
            part.append(token)
    if found:
        yield from (*found, part)
