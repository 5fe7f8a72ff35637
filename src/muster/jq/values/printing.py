"""Values to JSON text and back for callers that are outside a run: the command line, explanations, projections.

Values are graphs, so these pay like a run does, from the meter they are given or from one of their own. What was
decoded from a text is a tree, as large as its text: that has no limit here, because whoever took the text in has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.jq.budgets import Limits, Meter
from muster.jq.values import encoding, json_reading

if TYPE_CHECKING:
    from muster.jq.values.value import Value

_PRINTING: Final = Limits(steps=10_000_000, cells=10_000_000, seconds=5.0)
_DECODED: Final = Limits(steps=1 << 60, cells=1 << 60, seconds=None)


def to_json(value: Value, meter: Meter | None = None) -> str:
    """The whole value as compact JSON. Raises BudgetExceededError."""
    return encoding.to_json(meter or Meter(_PRINTING), value)


def pretty_json(value: Value, meter: Meter | None = None, indent: int = 2) -> str:
    """Indented JSON for people. Raises BudgetExceededError."""
    return encoding.pretty_json(meter or Meter(_PRINTING), value, indent)


def short_json(value: Value, longest: int) -> str:
    """The beginning of the value's JSON, for messages: visits no more of the value than it shows."""
    text = encoding.beginning(Meter(_PRINTING), value, longest)
    return text if len(text) <= longest else text[:longest] + "…"


def decoded_json(value: Value) -> str:
    """The JSON of a value that was decoded from a text, whole."""
    return encoding.to_json(Meter(_DECODED), value)


def from_json(text: str) -> Value:
    """One JSON value, nothing after it but white space. Raises InvalidJsonError."""
    return json_reading.read_whole_json(Meter(_DECODED), text)


def decode_prefix(text: str, start: int) -> tuple[Value, int]:
    """The JSON value that begins at `start` (after white space), and where it ends. Raises InvalidJsonError."""
    return json_reading.read_json(Meter(_DECODED), text, start)
