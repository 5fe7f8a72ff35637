"""Reads JSON without recursion, and finds what is wrong with a text that is not JSON, in the words of Go's
encoding/json.

Used when Python's own reader failed: it has other words, and ends at about a thousand levels. Go ends at ten thousand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muster.jq.values.encoding import quote_byte
from muster.jq.values.json_reading import InvalidJsonError, read_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_WHITE = " \t\n\r"
_MAX_DEPTH = 10_000
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(r"[0-9]*")
_SPACES = re.compile(r"[ \t\n\r]*")
_LITERALS = {"t": "true", "f": "false", "n": "null"}


def first_fault(meter: Meter, text: str, start: int) -> InvalidJsonError:
    """Walks the text as a JSON scanner does and says where it stops."""
    try:
        _Scanner(meter, text, start).value()
    except InvalidJsonError as fault:
        return fault
    return InvalidJsonError("invalid JSON", start)  # both readers would have to disagree


def read_deep(meter: Meter, text: str, start: int) -> tuple[Value, int]:
    """The value that begins here, and where it ends. Raises InvalidJsonError."""
    scanner = _Scanner(meter, text, start)
    scanner.value()
    return _built(meter, text, start), scanner.at


_TOKEN = re.compile(r'[ \t\n\r,:]*([][{}]|"(?:[^"\\]|\\.)*"|[^][{}",: \t\n\r]+)', re.DOTALL)


def _built(meter: Meter, text: str, at: int) -> Value:
    """The value of a text that was scanned and is valid: every word of it goes to the innermost container."""
    top: list[Value] = []
    adders: list[Callable[[Value], None]] = [top.append]
    while not top or len(adders) > 1:
        meter.step()
        found = _TOKEN.match(text, at)
        assert found is not None  # noqa: S101 - it was scanned
        at, word = found.end(), found.group(1)
        if word in ("]", "}"):
            adders.pop()
        elif word == "[":
            items: list[Value] = []
            adders[-1](items)
            adders.append(items.append)
        elif word == "{":
            fields: dict[str, Value] = {}
            adders[-1](fields)
            adders.append(_Fields(fields).add)
        else:
            adders[-1](read_scalar(meter, word))
    return top[0]


class _Fields:
    """Takes keys and values in turn."""

    __slots__ = ("fields", "key")

    def __init__(self, fields: dict[str, Value]) -> None:
        self.fields = fields
        self.key: str | None = None

    def add(self, word: Value) -> None:
        if self.key is None:
            self.key = word
        else:
            self.fields[self.key] = word
            self.key = None


class _Scanner:
    def __init__(self, meter: Meter, text: str, position: int) -> None:
        self.meter = meter
        self.text = text
        self.at = position

    def fail(self, context: str) -> InvalidJsonError:
        if self.at >= len(self.text):
            return InvalidJsonError("unexpected EOF" if self.text.strip(_WHITE) else "EOF", self.at)
        return InvalidJsonError(f"invalid character {quote_byte(self.text[self.at])} {context}", self.at)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def white(self) -> None:
        self.skip(_SPACES)

    def skip(self, run: re.Pattern[str]) -> None:
        found = run.match(self.text, self.at)
        if found is not None:
            self.at = found.end()

    def value(self) -> None:
        """Values without recursion: `closers` holds what every open bracket waits for."""
        closers: list[str] = []
        while True:
            self.meter.step()
            self.white()
            character = self.peek()
            if character and character in "[{":
                if len(closers) >= _MAX_DEPTH:
                    raise self.fail("exceeded max depth")
                self.at += 1
                closers.append("]" if character == "[" else "}")
                self.white()
                if self.peek() == closers[-1]:
                    self.at += 1
                    closers.pop()
                else:
                    if character == "{":
                        self.key()
                    continue
            else:
                self.scalar(character)
            while closers:
                self.meter.step()
                self.white()
                if self.peek() == closers[-1]:
                    self.at += 1
                    closers.pop()
                    continue
                if self.peek() != ",":
                    raise self.fail("after array element" if closers[-1] == "]" else "after object key:value pair")
                self.at += 1
                self.white()
                if closers[-1] == "}":
                    self.key()
                break
            if not closers:
                return

    def key(self) -> None:
        self.white()
        if self.peek() != '"':
            raise self.fail("looking for beginning of object key string")
        self.string()
        self.white()
        if self.peek() != ":":
            raise self.fail("after object key")
        self.at += 1

    def scalar(self, character: str) -> None:
        if character == '"':
            self.string()
        elif character in _LITERALS and character:
            self.literal(_LITERALS[character])
        elif character == "-" or self.is_digit():
            self.number()
        else:
            raise self.fail("looking for beginning of value")

    def literal(self, word: str) -> None:
        for position, letter in enumerate(word):
            if self.peek() != letter:
                raise self.fail(f"in literal {word} (expecting {quote_byte(word[position])})")
            self.at += 1

    def number(self) -> None:
        if self.peek() == "-":
            self.at += 1
            if not self.is_digit():
                raise self.fail("in numeric literal")
        if self.peek() == "0":
            self.at += 1
        else:
            self.digits()
        if self.peek() == ".":
            self.at += 1
            if not self.is_digit():
                raise self.fail("after decimal point in numeric literal")
            self.digits()
        if self.peek() in ("e", "E"):
            self.at += 1
            if self.peek() in ("+", "-"):
                self.at += 1
            if not self.is_digit():
                raise self.fail("in exponent of numeric literal")
            self.digits()

    def is_digit(self) -> bool:
        character = self.peek()
        return character.isascii() and character.isdigit()

    def digits(self) -> None:
        self.skip(_DIGITS)

    def string(self) -> None:
        self.at += 1
        while True:
            self.skip(_PLAIN)
            character = self.peek()
            if character == '"':
                self.at += 1
                return
            if not character or character < " ":
                raise self.fail("in string literal")
            self.at += 1
            if character == "\\":
                self.meter.work(1)
                self.escape()

    def escape(self) -> None:
        character = self.peek()
        if not character or character not in '"\\/bfnrtu':
            raise self.fail("in string escape code")
        self.at += 1
        if character == "u":
            for _ in range(4):
                if not self.peek() or self.peek() not in "0123456789abcdefABCDEF":
                    raise self.fail("in \\u hexadecimal character escape")
                self.at += 1
