"""Text to tokens, as gojq's lexer sees it. The parser asks for one token at a time, because strings nest queries.

Names, numbers and operators are ASCII; any other character is a token of its own, which no rule of the grammar takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from muster.jq.values.encoding import without_surrogates

KEYWORDS = frozenset(
    (
        "or", "and", "module", "import", "include", "def", "as", "label", "break", "null", "true", "false", "if",
        "then", "elif", "else", "end", "try", "catch", "reduce", "foreach",
    )
)  # fmt: skip

_OPERATOR = re.compile(r"\?//|//=|[|+*/%=!<>-]=|//|[=<>|?+*/%-]")

_SPACE = re.compile(r"[ \t\r\n]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)?")
_FIELD = re.compile(r"\.[A-Za-z_][A-Za-z_0-9]*")
_FORMAT = re.compile(r"@[A-Za-z_0-9]+")
_DIGITS = "0123456789"
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_ESCAPES = {'"': '"', "/": "/", "\\": "\\", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "0123456789abcdefABCDEF"
_SURROGATE_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is a keyword or operator itself, or one of: name, number, field, variable, format, string, string-start,
    string-query, string-end, eof, invalid, invalid-escape, unterminated, character. `value` is what strings mean."""

    kind: str
    text: str
    start: int
    end: int
    value: str = ""


class Lexer:
    """Reads tokens on demand; `in_string` says that the next token is a piece of a string with queries in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.in_string = False

    def next(self) -> Token:
        if self.in_string and self.at < len(self.text):
            return self._string_piece(self.at)
        self._skip_space()
        text, start = self.text, self.at
        if start >= len(text):
            return Token("eof", "", start, start)
        character = text[start]
        if character in _LETTERS:
            return self._name(start)
        if character in _DIGITS:
            return self._number(start, dotted=False)
        if character == ".":
            return self._dot(start)
        if character == "$" and text[start + 1 : start + 2] and text[start + 1] in _LETTERS:
            found = _NAME.match(text, start + 1)
            assert found is not None  # noqa: S101 - its first letter was just seen
            return self._take("variable", start, found.end())
        if character == "@" and (found := _FORMAT.match(text, start)):
            return self._take("format", start, found.end())
        if character == '"':
            return self._string_piece(start + 1)
        if found := _OPERATOR.match(text, start):
            return self._take(found.group(), start, found.end())
        return self._take(character if character in "()[]{}:;,!" else "character", start, start + 1)

    def _take(self, kind: str, start: int, end: int, value: str = "") -> Token:
        self.at = end
        return Token(kind, self.text[start:end], start, end, value)

    def _skip_space(self) -> None:
        while True:
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif self.text.startswith("#", self.at):
                self._skip_comment()
            else:
                return

    def _skip_comment(self) -> None:
        """To the end of the line, unless the line break is escaped."""
        text = self.text
        while self.at < len(text) and text[self.at] not in "\n\r":
            if text[self.at] == "\\":
                following = text[self.at + 1 : self.at + 3]
                if following == "\r\n":
                    self.at += 3
                    continue
                self.at += 2 if following[:1] in ("\\", "\n", "\r") and following else 1
                continue
            self.at += 1

    def _name(self, start: int) -> Token:
        found = _NAME.match(self.text, start)
        assert found is not None  # noqa: S101 - its first letter was just seen
        word = found.group()
        return self._take(word if word in KEYWORDS else "name", start, found.end())

    def _dot(self, start: int) -> Token:
        following = self.text[start + 1 : start + 2]
        if following == ".":
            return self._take("..", start, start + 2)
        if found := _FIELD.match(self.text, start):
            return self._take("field", start, found.end())
        if following and following in _DIGITS:
            return self._number(start, dotted=True)
        return self._take(".", start, start + 1)

    def _number(self, start: int, *, dotted: bool) -> Token:
        """Digits, a fraction, an exponent; a letter or second dot behind them spoils the token."""
        text, at = self.text, start + 1
        while at < len(text):
            character = text[at]
            if character in _DIGITS:
                at += 1
            elif character == ".":
                at += 1
                if dotted:
                    return self._take("invalid", start, at)
                dotted = True
            elif character in "eE":
                return self._exponent(start, at + 1)
            elif character in _LETTERS:
                return self._take("invalid", start, at + 1)
            else:
                break
        return self._take("number", start, at)

    def _exponent(self, start: int, at: int) -> Token:
        text = self.text
        if text[at : at + 1] in ("+", "-"):
            at += 1
        digits = at
        while at < len(text) and text[at] in _DIGITS:
            at += 1
        if at < len(text) and text[at] in _LETTERS:
            return self._take("invalid", start, at + 1)
        return self._take("number" if at > digits else "invalid", start, at)

    def _string_piece(self, at: int) -> Token:
        """From the quote (or from inside a string) to the next quote, `\\(` or the end."""
        text = self.text
        begin = at if self.in_string else at - 1
        value: list[str] = []
        while at < len(text):
            character = text[at]
            if character == '"':
                if not self.in_string:
                    return self._take("string", begin, at + 1, _joined(value))
                if at > begin:
                    return self._take("string", begin, at, _joined(value))
                self.in_string = False
                return self._take("string-end", at, at + 1)
            if character != "\\":
                value.append(character)
                at += 1
                continue
            at += 1
            escape = text[at : at + 1]
            if escape == "(":
                return self._interpolation(begin, at, value)
            if escape == "u":
                size = 1
                while size <= 4 and text[at + size : at + size + 1] and text[at + size] in _HEX:
                    size += 1
                if size <= 4:
                    return self._take("invalid-escape", at - 1, min(at + size, len(text)))
                value.append(chr(int(text[at + 1 : at + 5], 16)))
                at += 5
            elif escape in _ESCAPES and escape:
                value.append(_ESCAPES[escape])
                at += 1
            elif escape:
                return self._take("invalid-escape", at - 1, at + 1)
        self.at = len(text)
        return Token("unterminated", "", len(text), len(text))

    def _interpolation(self, begin: int, at: int, value: list[str]) -> Token:
        if not self.in_string:  # the first one: read the string again, piece by piece
            self.in_string = True
            return self._take("string-start", begin, begin + 1)
        if at - 1 == begin:
            self.in_string = False
            return self._take("string-query", begin, at + 1)
        return self._take("string", begin, at - 1, _joined(value))


def _joined(pieces: list[str]) -> str:
    text = "".join(pieces)
    if text.isascii():
        return text
    paired = _SURROGATE_PAIR.sub(
        lambda pair: chr(0x10000 + ((ord(pair[1]) - 0xD800) << 10) + (ord(pair[2]) - 0xDC00)), text
    )
    return without_surrogates(paired)
