"""Values to JSON text and back for callers that are outside a run: the command line, explanations, projections.

Values are graphs, so these pay like a run does, from the meter they are given or from one of their own. What was
decoded from a text is a tree, as large as its text: that has no limit here, because whoever took the text in has one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from muster.errors import InvalidObjectError
from muster.jq.budgets import Limits, Meter
from muster.jq.values import encoding, json_reading
from muster.values.arguments import expected, unlike_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.values.value import Value

_PRINTING: Final = Limits(steps=10_000_000, cells=10_000_000, seconds=5.0)
_DECODED: Final = Limits(steps=1 << 60, cells=1 << 60, seconds=None)


def to_json(value: Value, meter: Meter | None = None) -> str:
    """The whole value as compact JSON. Raises BudgetExceededError."""
    return _encoded(encoding.to_json, value, _meter(meter))


def pretty_json(value: Value, meter: Meter | None = None, indent: int = 2) -> str:
    """Indented JSON for people. Raises BudgetExceededError."""
    _number(indent, "indent")
    return _encoded(lambda paid, each: encoding.pretty_json(paid, each, indent), value, _meter(meter))


def short_json(value: Value, longest: int) -> str:
    """The beginning of the value's JSON, for messages: visits no more of the value than it shows."""
    _number(longest, "longest")
    text = _encoded(lambda paid, each: encoding.beginning(paid, each, longest), value, Meter(_PRINTING))
    return text if len(text) <= longest else text[:longest] + "…"


def decoded_json(value: Value) -> str:
    """The JSON of a value that was decoded from a text, whole."""
    return _encoded(encoding.to_json, value, Meter(_DECODED))


def from_json(text: str) -> Value:
    """One JSON value, nothing after it but white space. Raises InvalidJsonError."""
    return json_reading.read_whole_json(Meter(_DECODED), expected(text, str, "text", "JSON as text"))


def decode_prefix(text: str, start: int) -> tuple[Value, int]:
    """The JSON value that begins at `start` (after white space), and where it ends. Raises InvalidJsonError."""
    _number(start, "start")
    return json_reading.read_json(Meter(_DECODED), expected(text, str, "text", "JSON as text"), start)


def _meter(given: Meter | None) -> Meter:
    return Meter(_PRINTING) if given is None else expected(given, Meter, "meter", "a Meter")


def _number(given: int, name: str) -> None:
    if not 0 <= expected(given, int, name, "a number") <= sys.maxsize:
        raise InvalidObjectError(name, "expected a number that is not negative, and not beyond all sizes")


def _encoded(encode: Callable[[Meter, Value], str], value: Value, meter: Meter) -> str:
    """A value that JSON has not is looked for only when writing it has failed: that costs a walk."""
    try:
        return encode(meter, value)
    except (TypeError, AttributeError) as error:
        where = unlike_json([("value", value)])
        raise InvalidObjectError("", where or f"value: JSON has no such values ({type(error).__name__})") from error
