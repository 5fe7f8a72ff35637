"""Values to JSON text, as gojq writes it. Used by builtins and error sentences; printing.py has what those outside a
run call, json_reading.py the way back.

Objects come out with sorted keys, integers in full, floats in the shortest form that reads back. Bytes that are not
UTF-8 (from `@base64d`) live in strings as lone surrogates and come out as U+FFFD.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_MAX_FLOAT = 1.7976931348623157e308
_SURROGATES = re.compile("[\ud800-\udfff]")
_OPENERS = ("[", "{")
_BIG = 1 << 4096  # below this CPython prints an integer at once; above, digits are taken apart first


def to_json(meter: Meter, value: Value) -> str:
    """The whole value as compact JSON, charged before it grows."""
    parts: list[str] = []
    try:
        _write(meter, value, parts)
    except RecursionError:
        parts = []
        _write_deep(meter, value, parts)
    return "".join(parts)


def _write_deep(meter: Meter, value: Value, parts: list[str]) -> None:
    """As `_write`, for values that are nested deeper than Python's stack: a level is an iterator and two brackets."""
    closers: list[str] = []
    waiting: list[Iterator[Value]] = [iter((value,))]
    while waiting:
        for member in waiting[-1]:
            if parts and parts[-1] not in _OPENERS:
                parts.append(",")
            item = member
            if closers and closers[-1] == "}":
                key, item = member
                parts.append(encode_string(key) + ":")
            if item and isinstance(item, list | dict):
                _charge_container(meter, item)
                parts.append("[" if isinstance(item, list) else "{")
                closers.append("]" if isinstance(item, list) else "}")
                waiting.append(_members(meter, item))
                break
            _write(meter, item, parts)
        else:
            waiting.pop()
            if closers:
                parts.append(closers.pop())


def _members(meter: Meter, container: Value) -> Iterator[Value]:
    """Elements, or pairs of a key and its value."""
    if isinstance(container, list):
        return iter(container)
    meter.work(len(container))
    return iter([(key, container[key]) for key in sorted(container)])


def _charge_container(meter: Meter, container: Value) -> None:
    """Elements, and the text of keys: one object may stand in many places."""
    size = len(container)
    if type(container) is dict:
        meter.grow(size + (sum(map(len, container)) >> 3))
    meter.grow(size + 1)
    meter.step(size)


def _labelled(meter: Meter, container: Value, longest: int | None = None) -> Iterator[tuple[str, Value]]:
    """Members with what stands before them; of keys at most so many characters."""
    if isinstance(container, list):
        for position, item in enumerate(container):
            yield ("," if position else ""), item
        return
    meter.work(len(container))
    for position, key in enumerate(sorted(container)):
        yield f"{',' if position else ''}{encode_string(key[:longest])}:", container[key]


def _write(meter: Meter, value: Value, parts: list[str]) -> None:
    kind = type(value)
    if kind is str:
        meter.grow_text(len(value))
        parts.append(encode_string(value))
    elif kind is list:
        _charge_container(meter, value)
        separator = "["
        for item in value:
            parts.append(separator)
            _write(meter, item, parts)
            separator = ","
        parts.append("]" if value else "[]")
    elif kind is dict:
        _charge_container(meter, value)
        separator = "{"
        for key in sorted(value):
            parts.append(separator)
            parts.append(encode_string(key))
            parts.append(":")
            _write(meter, value[key], parts)
            separator = ","
        parts.append("}" if value else "{}")
    else:
        parts.append(encode_scalar(meter, value))


def encode_scalar(meter: Meter, value: Value) -> str:
    """Null, a boolean or a number. A long integer is charged before it becomes digits."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        meter.digits(value.bit_length())
        return encode_integer(value)
    return encode_float(value)


def encode_integer(value: int) -> str:
    """Decimal digits; CPython refuses to print very long integers at once, so they are halved."""
    if -_BIG < value < _BIG:
        return str(value)
    if value < 0:
        return "-" + encode_integer(-value)
    digits = max(int(value.bit_length() * 0.30103) // 2, 1)
    high, low = divmod(value, 10**digits)
    return encode_integer(high) + encode_integer(low).zfill(digits)


def encode_float(value: float) -> str:
    """As JavaScript writes numbers; not-a-number is null, infinities are the largest number."""
    if value != value:
        return "null"
    value = min(max(value, -_MAX_FLOAT), _MAX_FLOAT)
    size = abs(value)
    if size == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if size < 1e15 and value == int(value):
        return str(int(value))
    text = repr(value)
    if "e" not in text:
        return text.removesuffix(".0")
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    power = int(exponent)
    if size < 1e-6 or size >= 1e21:
        return f"{mantissa}e{power}" if power < 0 else f"{mantissa}e+{power:02}"
    if power < 0:
        return f"{value:.{len(mantissa.partition('.')[2]) - power}f}"
    whole, _, fraction = mantissa.partition(".")
    return whole + fraction.ljust(power, "0")


def encode_string(text: str) -> str:
    encoded = json.dumps(text, ensure_ascii=False)
    if "\x7f" in encoded:
        encoded = encoded.replace("\x7f", "\\u007f")
    return encoded if encoded.isascii() else _SURROGATES.sub("\\\\ufffd", encoded)


def pretty_json(meter: Meter, value: Value, indent: int = 2) -> str:
    """Indented JSON for people."""
    parts: list[str] = []
    try:
        _write_pretty(meter, value, parts, "\n", " " * indent)
    except RecursionError:
        return to_json(meter, value)  # nobody reads an indentation of a thousand levels
    return "".join(parts)


def _write_pretty(meter: Meter, value: Value, parts: list[str], newline: str, indent: str) -> None:
    if not value or not isinstance(value, list | dict):
        _write(meter, value, parts)
        return
    meter.grow(len(value) * (len(newline) >> 3))
    _charge_container(meter, value)
    inner = newline + indent
    if isinstance(value, list):
        separator = "["
        for item in value:
            parts.append(separator + inner)
            _write_pretty(meter, item, parts, inner, indent)
            separator = ","
        parts.append(newline + "]")
        return
    separator = "{"
    for key in sorted(value):
        parts.append(f"{separator}{inner}{encode_string(key)}: ")
        _write_pretty(meter, value[key], parts, inner, indent)
        separator = ","
    parts.append(newline + "}")


# ── previews ────────────────────────────────────────────────────────────────

_PREVIEW = 30
_PREVIEW_STEPS = 4  # errors take microseconds, and a loop can make one in every turn
_TRAILERS: dict[Value, bytes] = {str: b' ..."', list: b" ...]", dict: b" ...}"}


def preview(meter: Meter, value: Value) -> str:
    """The beginning of the value's JSON, at most 30 bytes, as error sentences show it."""
    meter.step(_PREVIEW_STEPS)
    text = beginning(meter, value, _PREVIEW + 2)
    trailer = _TRAILERS.get(type(value), b" ...")
    if text.isascii():
        return text if len(text) <= _PREVIEW else text[: _PREVIEW - len(trailer)] + trailer.decode()
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    if len(data) <= _PREVIEW:
        return text
    del data[_PREVIEW + 2 :]
    while len(data) > _PREVIEW - len(trailer):
        del data[-_last_rune(data) :]
    return (bytes(data) + trailer).decode("utf-8", "replace")


def beginning(meter: Meter, value: Value, size: int) -> str:
    """Of the value's JSON the first characters, somewhat more than asked for; all of it when it is not longer.

    However large the value, no more of it is visited than is shown; only the keys of an object are all looked at.
    """
    parts: list[str] = []
    written = 0
    closers: list[str] = []
    waiting: list[Iterator[tuple[str, Value]]] = [iter((("", value),))]
    while waiting and written <= size:
        meter.step()
        for label, item in waiting[-1]:
            inside = bool(item) and isinstance(item, list | dict)
            if inside:
                text = "[" if isinstance(item, list) else "{"
                closers.append("]" if isinstance(item, list) else "}")
                waiting.append(_labelled(meter, item, size))
            else:
                text = _scalar_beginning(meter, item, size)
            parts += (label, text)
            written += len(label) + len(text)
            if inside or written > size:
                break
        else:
            waiting.pop()
            if closers:
                parts.append(closers.pop())
                written += 1
    return "".join(parts)


def _scalar_beginning(meter: Meter, value: Value, size: int) -> str:
    if isinstance(value, str):
        text = encode_string(value[:size])
        return text if len(value) <= size else text[:-1]
    if isinstance(value, list | dict):
        return "[]" if isinstance(value, list) else "{}"
    return encode_scalar(meter, value)


def _last_rune(data: bytearray) -> int:
    for size in range(1, min(4, len(data)) + 1):
        try:
            data[-size:].decode()
        except UnicodeDecodeError:
            continue
        return size
    return 1


# ── reading ─────────────────────────────────────────────────────────────────


def without_surrogates(text: str) -> str:
    """Text as Go reads it: an escape that is half a pair becomes U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


_GO_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def quote_as_go(text: str) -> str:
    """A text as Go's %q shows it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_go_escape, text))}"'


def _go_escape(character: str) -> str:
    code = ord(character)
    if character in _GO_ESCAPES:
        return _GO_ESCAPES[character]
    if character.isprintable():
        return character
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
