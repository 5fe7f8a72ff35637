"""JSON read as Go reads it: every number a double, and faults told in the words of encoding/json."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from muster.values.json_faults import find_fault

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_Scalar: TypeAlias = bool | float | str | None
_Level1: TypeAlias = _Scalar | list[_Scalar] | dict[str, _Scalar]
_Level2: TypeAlias = _Scalar | list[_Level1] | dict[str, _Level1]
_Level3: TypeAlias = _Scalar | list[_Level2] | dict[str, _Level2]
_Level4: TypeAlias = _Scalar | list[_Level3] | dict[str, _Level3]
_Level5: TypeAlias = _Scalar | list[_Level4] | dict[str, _Level4]
_Level6: TypeAlias = _Scalar | list[_Level5] | dict[str, _Level5]
_quick = msgspec.json.Decoder(_Level6).decode
"""Documents of six levels, with every number a double. It refuses some that are JSON, and takes none that is not."""

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
    """What is wrong with a text that is not JSON. A walk over all of it, which the caller has charged."""
    fault = find_fault(text)
    return "invalid JSON" if fault is None else fault.unmarshal_words  # None: both readers would have to disagree


def decode_json(text: str) -> Value:
    """The value; raises InvalidJsonError for what JSON itself would allow, BrokenJsonError for what it would not."""
    if len(text) > MAX_DEPTH and _nests_too_deeply(text):
        raise InvalidJsonError("exceeded max depth")
    if "-0" not in text:  # which would lose its sign
        try:
            return _quick(text)
        except (ValueError, RecursionError):
            pass  # not JSON, or one of the differences below: the careful way tells
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
