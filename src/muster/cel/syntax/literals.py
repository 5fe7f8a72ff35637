"""What the tokens of literals mean: numbers within their ranges, strings and bytes without quotes and escapes.

Called by the parser and by the recovery from syntax errors; raises `LiteralError` with cel-go's words.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from muster.cel.syntax import lexer
from muster.cel.values import Uint

if TYPE_CHECKING:
    from muster.cel.syntax.lexer import Token

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1

_NO_STRING = "unable to unescape string"
_NO_CHARACTER = "invalid unicode code point"
_ESCAPES = re.compile(
    r"\\(?:[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
    r"|(?P<octal>[0-3][0-7]{2})|(?P<plain>.))",
    re.DOTALL,
)
_PLAIN = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_KEYWORDS = {lexer.TRUE: True, lexer.FALSE: False, lexer.NULL: None}
_HIGHEST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


class LiteralError(ValueError):
    """A literal whose shape is right and whose value is not."""


def int_value(text: str, negative: bool) -> int:
    value = int(text, 16) if text.startswith("0x") else int(text) if len(text) <= 20 else INT_MAX + 2
    if negative:
        value = -value
    if not INT_MIN <= value <= INT_MAX:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> Uint:
    digits = text[:-1]
    value = int(digits, 16) if digits.startswith("0x") else int(digits) if len(digits) <= 20 else UINT_MAX + 1
    if value > UINT_MAX:
        raise LiteralError("invalid uint literal")
    return Uint(value)


def double_value(text: str, negative: bool) -> float:
    value = float(text)
    if math.isinf(value):
        raise LiteralError("invalid double literal")
    return -value if negative else value


def _body(text: str) -> tuple[str, bool]:
    """What stands between the quotes, with line breaks normalised, and whether it is raw."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in {'"""', "'''"} else 1
    return text[quotes:-quotes], raw


def string_value(text: str) -> str:
    body, raw = _body(text)
    if raw or "\\" not in body:
        return body

    def character(escape: re.Match[str]) -> str:
        plain = escape["plain"]
        if plain is not None:
            return _PLAIN[plain]
        if escape["octal"] is not None:
            return chr(int(escape["octal"], 8))
        code = int(escape["hex"] or escape["short"] or escape["long"], 16)
        if code > _HIGHEST_CODE_POINT or code in _SURROGATES:
            raise LiteralError(_NO_CHARACTER)
        return chr(code)

    return _ESCAPES.sub(character, body)


def bytes_value(text: str) -> bytes:
    """The bytes of a literal without its `b`: escapes of two hex or three octal digits are single bytes."""
    body, raw = _body(text)
    if raw or "\\" not in body:
        return body.encode()
    parts: list[bytes] = []
    position = 0
    for escape in _ESCAPES.finditer(body):
        parts.append(body[position : escape.start()].encode())
        position = escape.end()
        if escape["plain"] is not None:
            parts.append(_PLAIN[escape["plain"]].encode())
        elif escape["octal"] is not None:
            parts.append(bytes([int(escape["octal"], 8)]))
        elif escape["hex"] is not None:
            parts.append(bytes([int(escape["hex"], 16)]))
        else:
            raise LiteralError(_NO_STRING)
    parts.append(body[position:].encode())
    return b"".join(parts)


def literal_value(token: Token, negative: bool) -> object:
    """The value of a literal's token. KeyError when it is no token of a literal."""
    match token.kind:
        case lexer.NUM_INT:
            return int_value(token.text, negative)
        case lexer.NUM_FLOAT:
            return double_value(token.text, negative)
        case lexer.NUM_UINT:
            return uint_value(token.text)
        case lexer.STRING:
            return string_value(token.text)
        case lexer.BYTES:
            return bytes_value(token.text[1:])
        case _:
            return _KEYWORDS[token.kind]
