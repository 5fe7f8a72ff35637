"""Builtins about text: searching, trimming, case, code points, and turning values into text and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.values.arithmetic import split_text
from muster.jq.values.encoding import to_json
from muster.jq.values.formats import apply_format
from muster.jq.values.json_reading import InvalidJsonError, read_json
from muster.jq.values.numbers import (
    MAX_DIGITS,
    TooManyDigitsError,
    bounded,
    is_number,
    is_number_text,
    parse_number,
    to_int,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_REPLACEMENT = 0xFFFD
FREE_TEXT = 64
"""Characters of a text that is made anew in another case for nothing."""


def to_string(meter: Meter, value: Value) -> str:
    return value if type(value) is str else to_json(meter, value)


def to_json_text(meter: Meter, value: Value) -> str:
    return to_json(meter, value)


def from_json_text(meter: Meter, value: Value) -> Value:
    if not isinstance(value, str):
        raise texts.not_applicable(meter, "fromjson", value)
    try:
        decoded, end = read_json(meter, value)
    except InvalidJsonError as fault:
        raise texts.failed(meter, "fromjson", value, cause=fault.message) from None
    if value[end:].strip(" \t\r\n"):
        raise texts.not_applicable(meter, "fromjson", value)
    return decoded


def to_number(meter: Meter, value: Value) -> Value:
    if is_number(value):
        return value
    if not isinstance(value, str):
        raise texts.not_applicable(meter, "tonumber", value)
    meter.work(len(value))
    if not is_number_text(value):
        raise texts.failed(meter, "tonumber", value, cause="invalid number")
    meter.digits(min(len(value), MAX_DIGITS) * 10 // 3)
    try:
        number = parse_number(value)
    except TooManyDigitsError:
        meter.exceeded("integer_bits")
    return bounded(meter, number) if isinstance(number, int) else number


def to_boolean(meter: Meter, value: Value) -> bool:
    if isinstance(value, bool):
        return value
    if value == "true":
        return True
    if value == "false":
        return False
    if isinstance(value, str):
        raise texts.failed(meter, "toboolean", value, cause="invalid boolean")
    raise texts.not_applicable(meter, "toboolean", value)


def _text(meter: Meter, name: str, value: Value) -> str:
    if not isinstance(value, str):
        raise texts.not_applicable(meter, name, value)
    return value


def _texts(meter: Meter, name: str, value: Value, part: Value) -> tuple[str, str]:
    if not isinstance(value, str) or not isinstance(part, str):
        raise texts.not_applicable(meter, name, value, part)
    return value, part


def starts_with(meter: Meter, value: Value, part: Value) -> bool:
    if type(value) is str and type(part) is str:
        meter.read(len(part))
        return value.startswith(part)
    raise texts.not_applicable(meter, "startswith", value, part)


def ends_with(meter: Meter, value: Value, part: Value) -> bool:
    if type(value) is str and type(part) is str:
        meter.read(len(part))
        return value.endswith(part)
    raise texts.not_applicable(meter, "endswith", value, part)


def left_trimmed(meter: Meter, value: Value, part: Value) -> str:
    text, prefix = _texts(meter, "ltrimstr", value, part)
    meter.grow_text(len(text))
    return text.removeprefix(prefix)


def right_trimmed(meter: Meter, value: Value, part: Value) -> str:
    text, suffix = _texts(meter, "rtrimstr", value, part)
    meter.grow_text(len(text))
    return text.removesuffix(suffix)


def both_trimmed(meter: Meter, value: Value, part: Value) -> str:
    text, part = _texts(meter, "trimstr", value, part)
    meter.grow_text(len(text))
    return text.removeprefix(part).removesuffix(part)


def _stripper(name: str, strip: Callable[[str], str]) -> Callable[[Meter, Value], str]:
    def stripped(meter: Meter, value: Value) -> str:
        text = _text(meter, name, value)
        meter.grow_text(len(text))
        meter.work(len(text))
        return strip(text)

    return stripped


def downcase(meter: Meter, value: Value) -> str:
    if type(value) is not str:
        raise texts.not_applicable(meter, "ascii_downcase", value)
    if len(value) > FREE_TEXT:
        meter.grow_text(len(value))
    return value.lower() if value.isascii() else value.translate(_LOWER)


def upcase(meter: Meter, value: Value) -> str:
    text = _text(meter, "ascii_upcase", value)
    if len(text) > FREE_TEXT:
        meter.grow_text(len(text))
    return text.upper() if text.isascii() else text.translate(_UPPER)


def explode(meter: Meter, value: Value) -> list[int]:
    text = _text(meter, "explode", value)
    meter.grow(len(text))
    meter.work(len(text))
    return [_REPLACEMENT if 0xD800 <= ord(character) < 0xE000 else ord(character) for character in text]


def implode(meter: Meter, value: Value) -> str:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, "implode", value)
    meter.grow(len(value))
    meter.work(len(value))
    characters = []
    for item in value:
        if not is_number(item):
            raise texts.not_applicable(meter, "implode", value)
        point = to_int(item)
        valid = 0 <= point <= 0x10FFFF and not 0xD800 <= point < 0xE000
        characters.append(chr(point) if valid else chr(_REPLACEMENT))
    return "".join(characters)


def split(meter: Meter, value: Value, separator: Value) -> list[str]:
    return split_text(meter, _text(meter, "split", value), _text(meter, "split", separator))


def byte_length(meter: Meter, value: Value) -> int:
    text = _text(meter, "utf8bytelength", value)
    meter.work(len(text))
    return len(text.encode("utf-8", "surrogateescape"))


NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("tostring", 0): to_string,
    ("tojson", 0): to_json_text,
    ("fromjson", 0): from_json_text,
    ("tonumber", 0): to_number,
    ("toboolean", 0): to_boolean,
    ("startswith", 1): starts_with,
    ("endswith", 1): ends_with,
    ("ltrimstr", 1): left_trimmed,
    ("rtrimstr", 1): right_trimmed,
    ("trimstr", 1): both_trimmed,
    ("ltrim", 0): _stripper("ltrim", lambda text: text.lstrip(_SPACE)),
    ("rtrim", 0): _stripper("rtrim", lambda text: text.rstrip(_SPACE)),
    ("trim", 0): _stripper("trim", lambda text: text.strip(_SPACE)),
    ("ascii_downcase", 0): downcase,
    ("ascii_upcase", 0): upcase,
    ("explode", 0): explode,
    ("implode", 0): implode,
    ("split", 1): split,
    ("utf8bytelength", 0): byte_length,
    ("format", 1): apply_format,
}
