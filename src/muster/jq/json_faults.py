"""Finds what is wrong with a text that is not JSON, in the words of Go's encoding/json. Used when decoding failed."""

from __future__ import annotations

from muster.jq.encoding import InvalidJsonError, quote_character

_WHITE = " \t\n\r"
_MAX_DEPTH = 10_000
_LITERALS = {"t": "true", "f": "false", "n": "null"}


def first_fault(text: str, start: int) -> InvalidJsonError:
    """Walks the text as a JSON scanner does and says where it stops."""
    try:
        _Scanner(text, start).value()
    except InvalidJsonError as fault:
        return fault
    return InvalidJsonError("exceeded max depth", start)


class _Scanner:
    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.at = position

    def fail(self, context: str) -> InvalidJsonError:
        if self.at >= len(self.text):
            return InvalidJsonError("unexpected EOF" if self.text.strip(_WHITE) else "EOF", self.at)
        return InvalidJsonError(f"invalid character {quote_character(self.text[self.at])} {context}", self.at)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def white(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _WHITE:
            self.at += 1

    def value(self) -> None:
        """Values without recursion: `closers` holds what every open bracket waits for."""
        closers: list[str] = []
        while True:
            self.white()
            character = self.peek()
            if character and character in "[{":
                self.at += 1
                if len(closers) >= _MAX_DEPTH:
                    raise InvalidJsonError("exceeded max depth", self.at)
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
        elif character == "-" or character.isdigit():
            self.number()
        else:
            raise self.fail("looking for beginning of value")

    def literal(self, word: str) -> None:
        for position, letter in enumerate(word):
            if self.peek() != letter:
                raise self.fail(f"in literal {word} (expecting {quote_character(word[position])})")
            self.at += 1

    def number(self) -> None:
        if self.peek() == "-":
            self.at += 1
            if not self.peek().isdigit():
                raise self.fail("in numeric literal")
        if self.peek() == "0":
            self.at += 1
        else:
            self.digits()
        if self.peek() == ".":
            self.at += 1
            if not self.peek().isdigit():
                raise self.fail("after decimal point in numeric literal")
            self.digits()
        if self.peek() in ("e", "E"):
            self.at += 1
            if self.peek() in ("+", "-"):
                self.at += 1
            if not self.peek().isdigit():
                raise self.fail("in exponent of numeric literal")
            self.digits()

    def digits(self) -> None:
        while self.peek().isdigit():
            self.at += 1

    def string(self) -> None:
        self.at += 1
        while True:
            character = self.peek()
            if character == '"':
                self.at += 1
                return
            if not character or character < " ":
                raise self.fail("in string literal")
            self.at += 1
            if character == "\\":
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
