"""JSON request bodies: decoded fast, with duplicate keys found and errors worded as a Go server words them.

Called by `bodies`. The wording matters because clients and people compare it with a real kube-apiserver's.
Nothing here knows HTTP or kinds.
"""

from __future__ import annotations

import json
import re

import msgspec

from muster.hub.requests import MalformedBodyError
from muster.hub.rest.limits import check_depth
from muster.values.json import Json, JsonObject

# A text longer than this is described by the decoder's own words: walking megabytes for a nicer sentence would let one
# client hold up the others.
_WORDED = 256 * 1024

_WHITESPACE = re.compile(rb"[ \t\r\n]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(rb"[0-9]*")
# Finding nineteen digits in a row by translation and a plain search is ten times as fast as by a pattern.
_DIGITS_AS_ZERO = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_MANY_DIGITS = b"0" * 19
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_INT64 = 1 << 63
_EXACT = (1 << 53) - 1  # up to here a float holds every integer
_FRACTION = re.compile(rb"[0-9][.eE]")
_UNEXPECTED_END = "unexpected end of JSON input"


def decode_json(text: bytes) -> tuple[Json, tuple[str, ...]]:
    """The value and the paths of its duplicate keys. Raises MalformedBodyError, or StatusError when it is too deep."""
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        check_depth(None, unbounded=True)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedBodyError(_wording(text, error)) from None
    if not isinstance(value, (dict, list)):
        return value, ()
    check_depth(value, openings=text.count(b"{") + text.count(b"["))
    if _FRACTION.search(text) or _MANY_DIGITS in text.translate(_DIGITS_AS_ZERO):
        value = _as_stored_by_go(value)
    # Every key of compact JSON is followed by `":`, so a body with more of those than its own compact form has lost
    # some to duplicates. Other spellings only lead to the slow but exact way.
    if text.count(b'":') == msgspec.json.encode(value).count(b'":'):
        return value, ()
    return value, _duplicates(text)


def _wording(text: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {error.start}"
    if len(text) <= _WORDED:
        return go_syntax_error(text) or str(error)
    return str(error)


def _as_stored_by_go(value: Json) -> Json:
    """Numbers as they are after a Go server has stored them: integers beyond 64 bits are floats, `1.0` is `1`.

    No deeper than the limit on bodies, so this may recurse.
    """
    kind = value.__class__
    if kind is dict:
        return {key: _as_stored_by_go(item) for key, item in value.items()}
    if kind is list:
        return [_as_stored_by_go(item) for item in value]
    if kind is int and not -_INT64 <= value < _INT64:
        return float(value) if abs(value) < 10**308 else 1e308
    if kind is float and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value


def _duplicates(text: bytes) -> tuple[str, ...]:
    repeated: dict[int, list[str]] = {}

    def collect(pairs: list[tuple[str, Json]]) -> JsonObject:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            # `add` gives None, so a key that is new is remembered and left out.
            names = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            repeated[id(found)] = list(dict.fromkeys(names))
        return found

    try:
        tree = json.loads(text, object_pairs_hook=collect)
    except (ValueError, RecursionError):  # msgspec read it, so this is a number Python refuses for its length
        return ()
    if not repeated:
        return ()
    paths: list[str] = []
    pending: list[tuple[str, Json]] = [("", tree)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict):
            paths.extend(_member(path, name) for name in repeated.get(id(node), ()))
            pending.extend((_member(path, key), item) for key, item in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend((f"{path}[{index}]", item) for index, item in reversed(list(enumerate(node))))
    return tuple(paths)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


class _SyntaxError(Exception):
    pass


def go_syntax_error(text: bytes) -> str | None:
    """What Go's encoding/json says is wrong with a text; None when it finds nothing wrong."""
    try:
        end = _skip(text, _value(text, _skip(text, 0)))
        if end < len(text):
            return _unexpected(text, end, "after top-level value")
    except _SyntaxError as error:
        return str(error)
    return None


def _skip(text: bytes, position: int) -> int:
    found = _WHITESPACE.match(text, position)
    return found.end() if found else position


def _unexpected(text: bytes, position: int, context: str) -> str:
    if position >= len(text):
        return _UNEXPECTED_END
    return f"invalid character {_quoted(text[position])} {context}"


def _quoted(byte: int) -> str:
    """A byte as Go prints it in such a message: bytes above ASCII appear as Latin-1."""
    character = chr(byte)
    if character == "'":
        return r"'\''"
    if character == '"':
        return "'\"'"
    escapes = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\"}
    if character in escapes:
        return f"'{escapes[character]}'"
    if character.isprintable():
        return f"'{character}'"
    return f"'\\x{byte:02x}'" if byte < 0x80 else f"'\\u{byte:04x}'"


def _value(text: bytes, position: int) -> int:
    """Where the value that starts here ends. Containers are kept on a stack, so depth costs no recursion."""
    stack: list[int] = []  # the opening characters of the containers around us
    while True:
        if position >= len(text):
            raise _SyntaxError(_UNEXPECTED_END)
        first = text[position]
        if first == 0x7B:  # {
            position = _skip(text, position + 1)
            if text[position : position + 1] == b"}":
                position += 1
            else:
                stack.append(first)
                position = _key(text, position)
                continue
        elif first == 0x5B:  # [
            position = _skip(text, position + 1)
            if text[position : position + 1] == b"]":
                position += 1
            else:
                stack.append(first)
                continue
        else:
            position = _scalar(text, position)
        # After a value: close what closes, go on behind a comma.
        while True:
            if not stack:
                return position
            position = _skip(text, position)
            after = text[position : position + 1]
            in_object = stack[-1] == 0x7B
            if after == (b"}" if in_object else b"]"):
                stack.pop()
                position += 1
                continue
            if after != b",":
                context = "after object key:value pair" if in_object else "after array element"
                raise _SyntaxError(_unexpected(text, position, context))
            position = _skip(text, position + 1)
            if in_object:
                position = _key(text, position)
            break


def _key(text: bytes, position: int) -> int:
    if text[position : position + 1] != b'"':
        raise _SyntaxError(_unexpected(text, position, "looking for beginning of object key string"))
    position = _skip(text, _string(text, position))
    if text[position : position + 1] != b":":
        raise _SyntaxError(_unexpected(text, position, "after object key"))
    return _skip(text, position + 1)


def _scalar(text: bytes, position: int) -> int:
    first = text[position]
    if first == 0x22:
        return _string(text, position)
    if first == 0x2D or 0x30 <= first <= 0x39:
        return _number(text, position)
    literal = _LITERALS.get(first)
    if literal is None:
        raise _SyntaxError(_unexpected(text, position, "looking for beginning of value"))
    for offset, expected in enumerate(literal):
        if text[position + offset : position + offset + 1] != bytes([expected]):
            context = f"in literal {literal.decode()} (expecting '{chr(expected)}')"
            raise _SyntaxError(_unexpected(text, position + offset, context))
    return position + len(literal)


def _string(text: bytes, position: int) -> int:
    position += 1
    while True:
        found = _PLAIN.match(text, position)
        position = found.end() if found else position
        if position >= len(text):
            raise _SyntaxError(_UNEXPECTED_END)
        byte = text[position]
        if byte == 0x22:
            return position + 1
        if byte != 0x5C:
            raise _SyntaxError(_unexpected(text, position, "in string literal"))
        position += 1
        if position < len(text) and text[position] == 0x75:  # \u
            for _ in range(4):
                position += 1
                if text[position : position + 1] not in _HEX:
                    raise _SyntaxError(_unexpected(text, position, "in \\u hexadecimal character escape"))
        elif text[position : position + 1] not in _ESCAPES:
            raise _SyntaxError(_unexpected(text, position, "in string escape code"))
        position += 1


_HEX = frozenset(bytes([c]) for c in b"0123456789abcdefABCDEF")
_ESCAPES = frozenset(bytes([c]) for c in b'bfnrt\\/"')


def _number(text: bytes, position: int) -> int:
    if text[position] == 0x2D:
        position = _digits(text, position + 1, "in numeric literal", leading_zero=True)
    else:
        position = _digits(text, position, "in numeric literal", leading_zero=True)
    if text[position : position + 1] == b".":
        position = _digits(text, position + 1, "after decimal point in numeric literal")
    if text[position : position + 1] in (b"e", b"E"):
        position += 1
        if text[position : position + 1] in (b"+", b"-"):
            position += 1
        position = _digits(text, position, "in exponent of numeric literal")
    return position


def _digits(text: bytes, position: int, context: str, *, leading_zero: bool = False) -> int:
    if leading_zero and text[position : position + 1] == b"0":
        return position + 1
    found = _DIGITS.match(text, position)
    end = found.end() if found else position
    if end == position:
        raise _SyntaxError(_unexpected(text, position, context))
    return end
