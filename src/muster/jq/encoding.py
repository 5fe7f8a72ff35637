"""Values to JSON text and back, as gojq writes and reads it. Used by builtins, error sentences and the command line.

Objects come out with sorted keys, integers in full, floats in the shortest form that reads back. Bytes that are not
UTF-8 (from `@base64d`) live in strings as lone surrogates and come out as U+FFFD.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from muster.jq.numbers import parse_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.jq.budgets import Meter

_MAX_FLOAT = 1.7976931348623157e308
_SURROGATES = re.compile("[\ud800-\udfff]")
_BIG = 1 << 4096  # below this CPython prints an integer at once; above, digits are taken apart first


def to_json(value: Any, meter: Meter | None = None) -> str:
    """The whole value as compact JSON, charged to the meter before it grows."""
    parts: list[str] = []
    try:
        _write(value, parts, meter)
    except RecursionError:
        parts = []
        _write_deep(value, parts, meter)
    return "".join(parts)


def _write_deep(value: Any, parts: list[str], meter: Meter | None) -> None:
    """As `_write`, for values that are nested deeper than Python's stack."""
    closers: list[str] = []
    waiting: list[Iterator[tuple[str, Any]]] = [iter((("", value),))]
    while waiting:
        for label, item in waiting[-1]:
            parts.append(label)
            if item and isinstance(item, list | dict):
                if meter is not None:
                    meter.grow(2 * len(item) + 1)
                    meter.step(len(item))
                parts.append("[" if isinstance(item, list) else "{")
                closers.append("]" if isinstance(item, list) else "}")
                waiting.append(_labelled(item))
                break
            _write(item, parts, meter)
        else:
            waiting.pop()
            if closers:
                parts.append(closers.pop())


def _labelled(container: Any) -> Iterator[tuple[str, Any]]:
    """Members with what stands before them."""
    if isinstance(container, list):
        for position, item in enumerate(container):
            yield ("," if position else ""), item
        return
    for position, key in enumerate(sorted(container)):
        yield f"{',' if position else ''}{encode_string(key)}:", container[key]


def _write(value: Any, parts: list[str], meter: Meter | None) -> None:
    kind = type(value)
    if kind is str:
        if meter is not None:
            meter.grow_text(len(value))
        parts.append(encode_string(value))
    elif kind is list:
        if meter is not None:
            meter.grow(len(value) + 1)
            meter.step(len(value))
        separator = "["
        for item in value:
            parts.append(separator)
            _write(item, parts, meter)
            separator = ","
        parts.append("]" if value else "[]")
    elif kind is dict:
        if meter is not None:
            meter.grow(2 * len(value) + 1)
            meter.step(len(value))
        separator = "{"
        for key in sorted(value):
            parts.append(separator)
            parts.append(encode_string(key))
            parts.append(":")
            _write(value[key], parts, meter)
            separator = ","
        parts.append("}" if value else "{}")
    else:
        parts.append(encode_scalar(value))


def encode_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
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


def pretty_json(value: Any, meter: Meter | None = None, indent: int = 2) -> str:
    """Indented JSON for people."""
    parts: list[str] = []
    try:
        _write_pretty(value, parts, "\n", " " * indent, meter)
    except RecursionError:
        return to_json(value, meter)  # nobody reads an indentation of a thousand levels
    return "".join(parts)


def _write_pretty(value: Any, parts: list[str], newline: str, indent: str, meter: Meter | None) -> None:
    if not value or not isinstance(value, list | dict):
        _write(value, parts, meter)
        return
    if meter is not None:
        meter.grow(len(value) * (1 + (len(newline) >> 3)))
        meter.step(len(value))
    inner = newline + indent
    if isinstance(value, list):
        separator = "["
        for item in value:
            parts.append(separator + inner)
            _write_pretty(item, parts, inner, indent, meter)
            separator = ","
        parts.append(newline + "]")
        return
    separator = "{"
    for key in sorted(value):
        parts.append(f"{separator}{inner}{encode_string(key)}: ")
        _write_pretty(value[key], parts, inner, indent, meter)
        separator = ","
    parts.append(newline + "}")


# ── previews ────────────────────────────────────────────────────────────────

_PREVIEW = 30
_TRAILERS: dict[Any, bytes] = {str: b' ..."', list: b" ...]", dict: b" ...}"}


def preview(value: Any) -> str:
    """The beginning of the value's JSON, at most 30 bytes, as error sentences show it."""
    data = bytearray()
    _write_preview(value, data)
    if len(data) <= _PREVIEW:
        return data.decode("utf-8", "replace")
    del data[_PREVIEW + 2 :]
    trailer = _TRAILERS.get(type(value), b" ...")
    while len(data) > _PREVIEW - len(trailer):
        del data[-_last_rune(data) :]
    return (bytes(data) + trailer).decode("utf-8", "replace")


def _write_preview(value: Any, data: bytearray) -> None:
    if len(data) > _PREVIEW:
        return
    if isinstance(value, list):
        data += b"["
        for position, item in enumerate(value):
            if len(data) > _PREVIEW:
                return
            if position:
                data += b","
            _write_preview(item, data)
        data += b"]"
    elif isinstance(value, dict):
        data += b"{"
        for position, key in enumerate(sorted(value)):
            if len(data) > _PREVIEW:
                return
            if position:
                data += b","
            _write_preview(key, data)
            data += b":"
            _write_preview(value[key], data)
        data += b"}"
    elif isinstance(value, str):
        data += encode_string(value[: _PREVIEW + 2]).encode()
        if len(value) > _PREVIEW + 2:
            del data[-1]
    else:
        data += encode_scalar(value).encode()


def _last_rune(data: bytearray) -> int:
    for size in range(1, min(4, len(data)) + 1):
        try:
            data[-size:].decode()
        except UnicodeDecodeError:
            continue
        return size
    return 1


# ── reading ─────────────────────────────────────────────────────────────────


def replace_lone_surrogates(value: Any) -> Any:
    """Text as Go reads it: an escape that is half a pair becomes U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [replace_lone_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_lone_surrogates(key): replace_lone_surrogates(item) for key, item in value.items()}
    return value


class InvalidJsonError(ValueError):
    """Text that is not one JSON value: Go's sentence for the first thing that is wrong, and where."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(message)


def _reject_constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_reject_constant, parse_int=parse_integer)
_WHITE = " \t\n\r"


def from_json(text: str) -> Any:
    """One JSON value, nothing after it but white space."""
    value, end = decode_prefix(text, 0)
    rest = text[end:].lstrip(_WHITE)
    if rest:
        raise InvalidJsonError(
            f"invalid character {quote_character(rest[0])} after top-level value", len(text) - len(rest)
        )
    return value


def decode_prefix(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins at `start` (after white space), and where it ends."""
    while start < len(text) and text[start] in _WHITE:
        start += 1
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise _fault(text, start) from error
    if type(value) in (int, float) and _breaks_off(text[start:end], text[end : end + 1]):
        raise _fault(text, start)
    return (replace_lone_surrogates(value) if "\\u" in text or not text.isascii() else value), end


def _breaks_off(number: str, following: str) -> bool:
    """Whether a number goes on behind what could be read of it: `1.`, `1e`."""
    has_exponent = "e" in number or "E" in number
    return (following == "." and "." not in number and not has_exponent) or (
        following in ("e", "E") and not has_exponent
    )


def _fault(text: str, start: int) -> InvalidJsonError:
    """Found by a scanner of our own, which is loaded only when something is wrong."""
    from muster.jq.json_faults import first_fault

    return first_fault(text, start)


def quote_character(character: str) -> str:
    """A character as Go's %q-like quoting in JSON errors shows it."""
    if character == "'":
        return "'\\''"
    if character == '"':
        return "'\"'"
    return f"'{encode_string(character)[1:-1]}'"
