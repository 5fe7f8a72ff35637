"""Makes a query that shows a difference smaller while it still shows one. Works on words, so that it shrinks refused
queries too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.differential.jq.generator import Case
from tests.differential.jq.grammar import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_TRIES: Final = 300


def shrunk(case: Case, still: Callable[[Case], bool]) -> Case:
    """The smallest case found for which `still` holds."""
    tries = _MOST_TRIES
    for value in _smaller_inputs(case.input):
        if tries > 0 and still(Case(case.query, value, case.zone)):
            case = Case(case.query, value, case.zone)
            break
        tries -= 1
    improved = True
    while improved and tries > 0:
        improved = False
        for query in _smaller(case.query):
            tries -= 1
            if tries <= 0:
                break
            if still(Case(query, case.input, case.zone)):
                case, improved = Case(query, case.input, case.zone), True
                break
    return case


def _smaller_inputs(value: Any) -> Iterator[Any]:
    if value is not None:
        yield None
    if isinstance(value, dict):
        for key in value:
            yield {key: value[key]}


def _smaller(query: str) -> Iterator[str]:
    words = tokens(query)
    size = len(words)
    for start, end in _groups(words):
        yield _text([*words[:start], *words[start + 1 : end], *words[end + 1 :]])
        yield _text([*words[:start], "1", *words[end + 1 :]])
        yield _text(words[start + 1 : end])
    width = size // 2
    while width:
        for start in range(0, size, width):
            yield _text([*words[:start], *words[start + width :]])
        width //= 2
    for at, word in enumerate(words):
        for simple in (".", "1", '"a"', "null"):
            if len(word) > len(simple):
                yield _text([*words[:at], simple, *words[at + 1 :]])
        if word.startswith('"') and len(word) > 3:
            for piece in _shorter(word):
                yield _text([*words[:at], piece, *words[at + 1 :]])


def _shorter(word: str) -> Iterator[str]:
    """A text with a piece left out, when it still is one."""
    for start in range(1, len(word) - 1):
        candidate = word[:start] + word[start + 1 :]
        try:
            json.loads(candidate)
        except ValueError:
            continue
        yield candidate


def _groups(words: list[str]) -> Iterator[tuple[int, int]]:
    """Where brackets open and close."""
    open_at: list[int] = []
    for at, word in enumerate(words):
        if word in "([{":
            open_at.append(at)
        elif word in ")]}" and open_at:
            yield open_at.pop(), at


def _text(words: list[str]) -> str:
    return " ".join(words).replace(" .", ".").replace("| .", "|.") if words else "."
