"""JSON read as Go reads it: every number a double, and faults told in the words of encoding/json."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_SPACE = " \t\r\n"
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_NUMBER_STEPS = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?")


MAX_DEPTH = 200  # levels of lists and objects
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{}]')


class InvalidJsonError(ValueError):
    """A text that is not JSON."""


class BrokenJsonError(ValueError):
    """A text that is not JSON, and `fault_of` can tell why."""


def parse_json(text: str) -> Value:
    """The value of a JSON text; raises InvalidJsonError with Go's words."""
    try:
        return decode_json(text)
    except BrokenJsonError:
        raise InvalidJsonError(fault_of(text)) from None


def fault_of(text: str) -> str:
    """What is wrong with a text that is not JSON. Linear, but a walk over every character."""
    return _Fault(text).find()


def decode_json(text: str) -> Value:
    """The value; raises InvalidJsonError for what JSON itself would allow, BrokenJsonError for what it would not."""
    if _nests_too_deeply(text):
        raise InvalidJsonError("exceeded max depth")
    try:
        return json.loads(_whole_characters(text), parse_int=float, parse_float=_finite, parse_constant=_refuse)
    except InvalidJsonError:
        raise
    except ValueError:
        raise BrokenJsonError from None


_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.", re.DOTALL
)
_ESCAPE = len("\\ud800")


def _whole_characters(text: str) -> str:
    """The text with the replacement character for halves of surrogate pairs, as Go reads them."""
    if "\\u" not in text:
        return text
    return _ESCAPES.sub(lambda found: "\\ufffd" if len(found[0]) == _ESCAPE else found[0], text)


def _nests_too_deeply(text: str) -> bool:
    """Go allows 10,000 levels. Python's decoder recurses, and where it gives up depends on who called it."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif bracket[0] in "]}":
            depth -= 1
    return False


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise InvalidJsonError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _refuse(name: str) -> float:
    raise ValueError(name)


class _Fault:
    """Walks over a broken text up to the character that Go would stop at."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def find(self) -> str:
        expecting = "looking for beginning of value"
        closers: list[str] = []
        while True:
            self._skip_space()
            char = self._peek()
            if not char:
                return "unexpected end of JSON input"
            if expecting == "looking for beginning of value" and char in "[{":
                self._position += 1
                closers.append("]" if char == "[" else "}")
                self._skip_space()
                if self._peek() == closers[-1]:
                    expecting = self._closed(closers)
                elif char == "{":
                    expecting = "looking for beginning of object key string"
                continue
            if expecting in {"looking for beginning of value", "looking for beginning of object key string"}:
                if expecting.endswith("string") and char != '"':
                    return self._complaint(char, expecting)
                fault = self._scan_scalar(char)
                if fault:
                    return fault
                expecting = "after object key" if expecting.endswith("string") else _after_value(closers)
                continue
            if expecting == "after object key":
                if char != ":":
                    return self._complaint(char, expecting)
                self._position += 1
                expecting = "looking for beginning of value"
                continue
            if not closers:
                return self._complaint(char, "after top-level value")
            if char == ",":
                self._position += 1
                expecting = (
                    "looking for beginning of object key string"
                    if closers[-1] == "}"
                    else "looking for beginning of value"
                )
            elif char == closers[-1]:
                expecting = self._closed(closers)
            else:
                return self._complaint(char, expecting)

    def _closed(self, closers: list[str]) -> str:
        self._position += 1
        closers.pop()
        return _after_value(closers)

    def _scan_scalar(self, char: str) -> str:
        """Step over a string, number or literal; what is wrong with it, if anything."""
        if char == '"':
            return self._scan_string()
        if char == "-" or char.isdigit():
            return self._scan_number()
        word = _LITERALS.get(char)
        if word is None:
            return self._complaint(char, "looking for beginning of value")
        for index, wanted in enumerate(word):
            found = self._peek()
            if found != wanted:
                return self._complaint(found, f"in literal {word} (expecting {_quoted(wanted)})") if index else ""
            self._position += 1
        return ""

    def _scan_string(self) -> str:
        self._position += 1
        while True:
            char = self._peek()
            if not char:
                return "unexpected end of JSON input"
            if char < " ":
                return self._complaint(char, "in string literal")
            self._position += 1
            if char == '"':
                return ""
            if char == "\\":
                escape = self._peek()
                if escape == "u":
                    self._position += 1
                    for _ in range(4):
                        if self._peek() not in tuple("0123456789abcdefABCDEF"):
                            return self._complaint(self._peek(), "in \\u hexadecimal character escape")
                        self._position += 1
                elif escape in tuple('bfnrt\\/"'):
                    self._position += 1
                else:
                    return self._complaint(escape, "in string escape code")

    def _scan_number(self) -> str:
        found = _NUMBER_STEPS.match(self._text, self._position)
        number = found[0] if found else ""
        self._position += len(number)
        place = {"-": "in numeric literal", ".": "after decimal point in numeric literal"}.get(number[-1:])
        if number[-1:] in tuple("eE+") or (number[-1:] == "-" and len(number) > 1):
            place = "in exponent of numeric literal"
        return self._complaint(self._peek(), place) if place else ""

    def _skip_space(self) -> None:
        while self._peek() and self._peek() in _SPACE:
            self._position += 1

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _complaint(self, char: str, context: str) -> str:
        """Go looks at bytes, and at the end of the text as if a space stood there."""
        seen = chr(char.encode(errors="surrogatepass")[0]) if char else " "
        return f"invalid character {_quoted(seen)} {context}"


def _after_value(closers: list[str]) -> str:
    if not closers:
        return "after top-level value"
    return "after array element" if closers[-1] == "]" else "after object key:value pair"


def _quoted(char: str) -> str:
    if char == "'":
        return r"'\''"
    if char == '"':
        return "'\"'"
    shown = repr(char)[1:-1] if not char.isprintable() or char == "\\" else char
    return f"'{shown}'"
