"""Where a text stops being JSON, and what Go's encoding/json says of it: the scanner of all who answer in Go's words.

Used when a fast reader has failed, whose words and limits are its own: by the hub for request bodies, by `jq` for
`fromjson` and inputs, by CEL for `parseJSON`. It walks without recursion and makes no value. Go has two readers, with
two endings: `unmarshal_words` are those of json.Unmarshal, `decoder_words` those of json.Decoder.

Whoever runs it for a user hands in `charge`, which is called for every value, every closing and every escape; what is
skipped in one piece (white space, digits, plain characters) has been charged with the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.values.quoting import go_byte

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH: Final = 10_000  # levels of lists and objects, as in Go
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS: Final = re.compile(r"[0-9]*")
_SPACES: Final = re.compile(r"[ \t\n\r]*")
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}
_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPED: Final = frozenset('"\\/bfnrtu')


class JsonFaultError(Exception):
    """The text is no JSON: where, which character stands there (none at the end), and what was being read."""

    def __init__(self, position: int, character: str, context: str, *, inside: bool = False) -> None:
        super().__init__(position, character, context)
        self.position = position
        self.character = character
        self.context = context
        self.inside = inside  # within a word, a number or an escape, which no space may break off

    @property
    def decoder_words(self) -> str:
        """As json.Decoder has it, which waits for more at the end."""
        if not self.character:
            return "unexpected EOF"
        return f"invalid character {go_byte(self.character)} {self.context}"

    @property
    def unmarshal_words(self) -> str:
        """As json.Unmarshal has it, to which the end is a space."""
        if not self.character and not self.inside:
            return "unexpected end of JSON input"
        return f"invalid character {go_byte(self.character or ' ')} {self.context}"


def _free() -> None:
    """What nobody has to pay for."""


def find_fault(text: str, charge: Callable[[], object] = _free) -> JsonFaultError | None:
    """What is wrong with a text that should be one value and nothing else."""
    scanner = _Scanner(text, 0, charge)
    try:
        scanner.value()
        scanner.skip(_SPACES)
        return scanner.fault("after top-level value") if scanner.peek() else None
    except JsonFaultError as fault:
        return fault.with_traceback(None)  # whose frames would hold it in turn: a circle with all that callers know


def end_of_value(text: str, start: int, charge: Callable[[], object] = _free) -> int:
    """Where the value ends that begins at `start`, white space before it included. Raises JsonFaultError."""
    scanner = _Scanner(text, start, charge)
    scanner.value()
    return scanner.at


class _Scanner:
    def __init__(self, text: str, position: int, charge: Callable[[], object]) -> None:
        self._text = text
        self._charge = charge
        self.at = position

    def fault(self, context: str, *, inside: bool = False) -> JsonFaultError:
        return JsonFaultError(self.at, self.peek(), context, inside=inside)

    def peek(self) -> str:
        return self._text[self.at : self.at + 1]

    def skip(self, run: re.Pattern[str]) -> None:
        found = run.match(self._text, self.at)
        if found is not None:
            self.at = found.end()

    def value(self) -> None:
        """Values without recursion: `closers` holds what every open bracket waits for."""
        closers: list[str] = []
        while True:
            self._charge()
            self.skip(_SPACES)
            character = self.peek()
            if character and character in "[{":
                if self._opened(character, closers):
                    continue
            else:
                self._scalar(character)
            if not self._continued(closers):
                return

    def _opened(self, bracket: str, closers: list[str]) -> bool:
        """Whether a value is expected behind the bracket: it may be closed at once."""
        if len(closers) >= MAX_DEPTH:
            raise self.fault("exceeded max depth")
        self.at += 1
        closers.append("]" if bracket == "[" else "}")
        self.skip(_SPACES)
        if self.peek() == closers[-1]:
            self.at += 1
            closers.pop()
            return False
        if bracket == "{":
            self._key()
        return True

    def _continued(self, closers: list[str]) -> bool:
        """After a value: close what closes; whether another value follows."""
        while closers:
            self._charge()
            self.skip(_SPACES)
            if self.peek() == closers[-1]:
                self.at += 1
                closers.pop()
                continue
            if self.peek() != ",":
                raise self.fault("after array element" if closers[-1] == "]" else "after object key:value pair")
            self.at += 1
            if closers[-1] == "}":
                self._key()
            return True
        return False

    def _key(self) -> None:
        self.skip(_SPACES)
        if self.peek() != '"':
            raise self.fault("looking for beginning of object key string")
        self._string()
        self.skip(_SPACES)
        if self.peek() != ":":
            raise self.fault("after object key")
        self.at += 1

    def _scalar(self, character: str) -> None:
        if character == '"':
            self._string()
        elif character in _LITERALS:
            self._literal(_LITERALS[character])
        elif character == "-" or self._is_digit():
            self._number()
        else:
            raise self.fault("looking for beginning of value")

    def _literal(self, word: str) -> None:
        for letter in word:
            if self.peek() != letter:
                raise self.fault(f"in literal {word} (expecting {go_byte(letter)})", inside=True)
            self.at += 1

    def _number(self) -> None:
        if self.peek() == "-":
            self.at += 1
        if self.peek() == "0":
            self.at += 1
        else:
            self._digits("in numeric literal")
        if self.peek() == ".":
            self.at += 1
            self._digits("after decimal point in numeric literal")
        if self.peek() in ("e", "E"):
            self.at += 1
            if self.peek() in ("+", "-"):
                self.at += 1
            self._digits("in exponent of numeric literal")

    def _is_digit(self) -> bool:
        character = self.peek()
        return character.isascii() and character.isdigit()

    def _digits(self, context: str) -> None:
        if not self._is_digit():
            raise self.fault(context, inside=True)
        self.skip(_DIGITS)

    def _string(self) -> None:
        self.at += 1
        while True:
            self.skip(_PLAIN)
            match self.peek():
                case '"':
                    self.at += 1
                    return
                case "\\":
                    self._charge()
                    self.at += 1
                    self._escape()
                case _:
                    raise self.fault("in string literal")

    def _escape(self) -> None:
        character = self.peek()
        if character not in _ESCAPED:
            raise self.fault("in string escape code", inside=True)
        self.at += 1
        if character == "u":
            for _ in range(4):
                if self.peek() not in _HEXADECIMAL:
                    raise self.fault("in \\u hexadecimal character escape", inside=True)
                self.at += 1
