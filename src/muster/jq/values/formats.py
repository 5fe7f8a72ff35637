"""The `@name` formats. resolve.py binds them for strings and filters; `format` finds them by name."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from muster.jq import error_texts as texts
from muster.jq.errors import JqError
from muster.jq.values.encoding import encode_scalar, encode_string, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&apos;", '"': "&quot;"})
_CSV = str.maketrans({'"': '""', "\0": "\\0"})
_TSV = str.maketrans({"\t": "\\t", "\r": "\\r", "\n": "\\n", "\\": "\\\\", "\0": "\\0"})
_SH = str.maketrans({"'": "'\\''", "\0": "\\0"})
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")


def _text(meter: Meter, value: Value) -> str:
    text = value if isinstance(value, str) else to_json(meter, value)
    meter.grow_text(len(text))
    return text


def _plain(meter: Meter, value: Value) -> str:
    return value if isinstance(value, str) else to_json(meter, value)


def _json(meter: Meter, value: Value) -> str:
    return to_json(meter, value)


def _html(meter: Meter, value: Value) -> str:
    text = _text(meter, value)
    meter.grow_text(5 * len(text))
    return text.translate(_HTML)


def _uri(meter: Meter, value: Value) -> str:
    data = _text(meter, value).encode("utf-8", "surrogateescape")
    meter.grow_text(3 * len(data))
    return quote(data, safe="-_.~")


def _unuri(meter: Meter, value: Value) -> str:
    text = _text(meter, value)
    meter.work(len(text))
    if fault := _BAD_PERCENT.search(text):
        raise texts.failed(meter, "@urid", value, cause=f"invalid URL escape {encode_string(fault.group())}")
    return unquote_to_bytes(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _row(meter: Meter, name: str, value: Value, separator: str, escape: Callable[[str], str], null: str = "") -> str:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, f"@{name}", value)
    cells = []
    meter.work(len(value))
    for item in value:
        if isinstance(item, list | dict):
            raise JqError(f"@{name} cannot format an array including: {texts.shown(meter, item)}")
        if isinstance(item, str):
            meter.grow_text(4 * len(item) + 16)
            cells.append(escape(item))
        else:
            meter.grow_text(16)
            text = encode_scalar(meter, item)
            cells.append(null if text == "null" else text)
    return separator.join(cells)


def _csv(meter: Meter, value: Value) -> str:
    return _row(meter, "csv", value, ",", lambda text: f'"{text.translate(_CSV)}"')


def _tsv(meter: Meter, value: Value) -> str:
    return _row(meter, "tsv", value, "\t", lambda text: text.translate(_TSV))


def _sh(meter: Meter, value: Value) -> str:
    items = value if isinstance(value, list) else [value]
    return _row(meter, "sh", items, " ", lambda text: f"'{text.translate(_SH)}'", "null")


def _base64(meter: Meter, value: Value) -> str:
    text = _text(meter, value)
    meter.grow_text(2 * len(text))
    return base64.b64encode(text.encode("utf-8", "surrogateescape")).decode("ascii")


def _unbase64(meter: Meter, value: Value) -> str:
    text = _text(meter, value).partition("=")[0]
    meter.work(len(text))
    if fault := _NOT_BASE64.search(text):
        offset = len(text[: fault.start()].encode())
        raise texts.failed(meter, "@base64d", value, cause=f"illegal base64 data at input byte {offset}")
    digits = text.replace("\r", "").replace("\n", "")
    if len(digits) % 4 == 1:
        raise texts.failed(meter, "@base64d", value, cause=f"illegal base64 data at input byte {len(digits) - 1}")
    try:
        return base64.b64decode(digits + "=" * (-len(digits) % 4)).decode("utf-8", "surrogateescape")
    except binascii.Error:
        raise texts.failed(meter, "@base64d", value, cause="illegal base64 data at input byte 0") from None


FORMATS: Mapping[str, Callable[[Meter, Value], str]] = {
    "@text": _plain,
    "@json": _json,
    "@html": _html,
    "@uri": _uri,
    "@urid": _unuri,
    "@csv": _csv,
    "@tsv": _tsv,
    "@sh": _sh,
    "@base64": _base64,
    "@base64d": _unbase64,
}


def apply_format(meter: Meter, value: Value, name: Value) -> str:
    """The `format` builtin: the format is found when it runs."""
    if not isinstance(name, str):
        raise texts.not_applicable(meter, "format", name)
    known = FORMATS.get(f"@{name}")
    if known is None:
        meter.grow_text(len(name))
        raise JqError(f"format not defined: @{name}")
    return known(meter, value)
