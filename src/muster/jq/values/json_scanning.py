"""What is wrong with a text that is not JSON, and the value of one that nests deeply.

Used when Python's own reader failed: it has other words than Go, and ends at about a thousand levels. Go ends at ten
thousand. The scanner is that of `values.json_faults`, with every step of it charged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from muster.jq.values.json_reading import InvalidJsonError, read_scalar
from muster.values.json_faults import JsonFaultError, end_of_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


def first_fault(meter: Meter, text: str, start: int) -> InvalidJsonError:
    """Walks the text as a JSON scanner does and says where it stops."""
    try:
        end_of_value(text, start, meter.step)
    except JsonFaultError as fault:
        return _worded(meter, fault, text)
    return InvalidJsonError("invalid JSON", start)  # both readers would have to disagree


def read_deep(meter: Meter, text: str, start: int) -> tuple[Value, int]:
    """The value that begins here, and where it ends. Raises InvalidJsonError."""
    try:
        end = end_of_value(text, start, meter.step)
    except JsonFaultError as fault:
        raise _worded(meter, fault, text) from None
    return _built(meter, text, start), end


def _worded(meter: Meter, fault: JsonFaultError, text: str) -> InvalidJsonError:
    """A text of white space alone has no value at all, which Go's decoder tells from one that breaks off."""
    meter.work(len(text))
    return InvalidJsonError(fault.decoder_words if text.strip(" \t\n\r") else "EOF", fault.position)


_TOKEN = re.compile(r'[ \t\n\r,:]*([][{}]|"(?:[^"\\]|\\.)*"|[^][{}",: \t\n\r]+)', re.DOTALL)


def _built(meter: Meter, text: str, at: int) -> Value:
    """The value of a text that was scanned and is valid: every word of it goes to the innermost container."""
    top: list[Value] = []
    adders: list[Callable[[Value], None]] = [top.append]
    while not top or len(adders) > 1:
        meter.step()
        found = _TOKEN.match(text, at)
        assert found is not None  # noqa: S101 - it was scanned
        at, word = found.end(), found.group(1)
        if word in ("]", "}"):
            adders.pop()
        elif word == "[":
            items: list[Value] = []
            adders[-1](items)
            adders.append(items.append)
        elif word == "{":
            fields: dict[str, Value] = {}
            adders[-1](fields)
            adders.append(_Fields(fields).add)
        else:
            adders[-1](read_scalar(meter, word))
    return top[0]


class _Fields:
    """Takes keys and values in turn."""

    __slots__ = ("fields", "key")

    def __init__(self, fields: dict[str, Value]) -> None:
        self.fields = fields
        self.key: str | None = None

    def add(self, word: Value) -> None:
        if self.key is None:
            self.key = word
        else:
            self.fields[self.key] = word
            self.key = None
