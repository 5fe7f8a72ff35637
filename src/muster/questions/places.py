"""Where in an expression the caret is, and what is spoken of there: a path into a cluster, read off the tokens.

The text may be begun only: there is no tree of it. `completing` says what can stand there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.cel.syntax import lexer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.syntax.lexer import Token

CLUSTER: Final = "managedCluster"
EACH: Final = "*"  # the step from a list or map to one of its elements
_QUOTES: Final = ("'", '"')
_ITERATING: Final = frozenset(
    {"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList", "transformMap", "transformMapEntry"}
)
_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NAMES: Final = (lexer.IDENTIFIER, lexer.IN, lexer.TRUE, lexer.FALSE, lexer.NULL)
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A name is begun; `of` is the path it is looked up in, if it follows a dot (None: in something unknown)."""

    begin: int
    end: int
    begun: str
    is_member: bool = False
    of: Path | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A text is begun. `of` is what it is compared with, or with `is_key` what it is a key of.

    `beside` is what else is asked of the same element: {"name": "id"} in `c.name == "id" && c.value == "`.
    """

    begin: int
    end: int
    begun: str
    quote: str
    of: Path | None = None
    is_key: bool = False
    beside: tuple[tuple[str, str], ...] = ()


def place_of(text: str, position: int) -> Word | Literal:
    """What is begun at the caret."""
    tokens, unrecognized = lexer.tokenize(text[:position])
    before = tokens[:-1]  # without the end
    if unrecognized and unrecognized[-1].text[:1] in _QUOTES and _reaches(unrecognized[-1].text, text, position):
        return _literal(text, position, before, unrecognized[-1].start)
    begin = position
    if unrecognized and unrecognized[-1].text[:1] == "`":  # an escaped name that has not ended
        begin = unrecognized[-1].start
    elif before and before[-1].kind in _NAMES and before[-1].start + len(before[-1].text) == position:
        begin = before.pop().start
    end = position
    while end < len(text) and text[end] in _WORD:
        end += 1
    begun = text[begin:position]
    optional = len(before) > 1 and before[-1].kind == lexer.QUESTIONMARK and before[-2].kind == lexer.DOT
    if optional or (before and before[-1].kind == lexer.DOT):
        return Word(begin, end, begun, is_member=True, of=_operand(before, len(before) - 2 - optional))
    return Word(begin, end, begun)


def _reaches(half: str, text: str, position: int) -> bool:
    return text[:position].endswith(half)


def _literal(text: str, position: int, before: Sequence[Token], start: int) -> Literal:
    quote = text[start]
    end = position
    while end < len(text) and text[end] not in (quote, "\n"):
        end += 1
    begin, begun = start + 1, text[start + 1 : position]
    last = before[-1].kind if before else lexer.EOF
    at = len(before) - 1
    if last in (lexer.EQUALS, lexer.NOT_EQUALS):
        return Literal(begin, end, begun, quote, _operand(before, at - 1), beside=_beside(before, at - 1))
    if last in (lexer.LBRACKET, lexer.COMMA):
        while at >= 1 and before[at].kind == lexer.COMMA and before[at - 1].kind == lexer.STRING:
            at -= 2  # the elements that are there
        if before[at].kind == lexer.LBRACKET and at and before[at - 1].kind == lexer.IN:
            return Literal(begin, end, begun, quote, _operand(before, at - 2), beside=_beside(before, at - 2))
        if last == lexer.LBRACKET:
            return Literal(begin, end, begun, quote, _operand(before, at - 1), is_key=True)
    if (
        last == lexer.LPAREN
        and at >= 2
        and before[at - 1].kind == lexer.IDENTIFIER
        and before[at - 2].kind == lexer.DOT
    ):
        return Literal(begin, end, begun, quote, _operand(before, at - 3), beside=_beside(before, at - 3))
    return Literal(begin, end, begun, quote)


def _operand(tokens: Sequence[Token], at: int) -> Path | None:
    """The path that ends with this token; None if it leads from anything but the cluster."""
    steps: list[str] = []
    while at >= 0:
        token = tokens[at]
        if token.kind in (lexer.IDENTIFIER, lexer.ESC_IDENTIFIER):
            at -= 1
            if at >= 0 and tokens[at].kind == lexer.QUESTIONMARK and at >= 1 and tokens[at - 1].kind == lexer.DOT:
                at -= 1
            if at >= 0 and tokens[at].kind == lexer.DOT:
                steps.append(token.text.strip("`"))
                at -= 1
                continue
            root = _root(tokens, token.text, at)
            return None if root is None else (*root, *reversed(steps))
        if token.kind != lexer.RBRACKET or at < 2:
            return None
        key, opening = tokens[at - 1], at - 2
        if tokens[opening].kind == lexer.QUESTIONMARK:
            opening -= 1
        if opening < 0 or tokens[opening].kind != lexer.LBRACKET:
            return None
        if key.kind == lexer.STRING:
            steps.append(_unquoted(key.text))
        elif key.kind == lexer.NUM_INT:
            steps.append(EACH)
        else:
            return None
        at = opening - 1
    return None


def _root(tokens: Sequence[Token], name: str, before: int) -> Path | None:
    """What a name stands for: the cluster, or an element of what a comprehension goes through."""
    if name == CLUSTER:
        return ()
    for at in range(before, 2, -1):
        is_variable = tokens[at].text == name and tokens[at].kind == lexer.IDENTIFIER
        if is_variable and tokens[at - 1].kind == lexer.LPAREN and tokens[at - 2].text in _ITERATING:
            if tokens[at - 3].kind != lexer.DOT:
                return None
            of = _operand(tokens[: at - 3], at - 4)
            return None if of is None else (*of, EACH)
    return None


def _beside(tokens: Sequence[Token], at: int) -> tuple[tuple[str, str], ...]:
    """Comparisons of other fields of the same element with texts."""
    if at < 2 or tokens[at - 1].kind != lexer.DOT or tokens[at - 2].kind != lexer.IDENTIFIER:
        return ()
    variable = tokens[at - 2].text
    return tuple(
        (tokens[number + 2].text, _unquoted(tokens[number + 4].text))
        for number in range(at - 4)
        if tokens[number].text == variable
        and tokens[number + 1].kind == lexer.DOT
        and tokens[number + 3].kind == lexer.EQUALS
        and tokens[number + 4].kind == lexer.STRING
    )


def _unquoted(text: str) -> str:
    """What an ordinary text literal says; one with escapes is of no use here."""
    return text[1:-1] if len(text) > 1 else ""
