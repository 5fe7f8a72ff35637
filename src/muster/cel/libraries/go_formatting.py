"""string.format() of versions 1 to 3, which Kubernetes still uses: numbers in English, nested values as CEL literals.

cel-go hands doubles to a locale-aware printer here, with results that nobody would design (`1,234.5`, `1.2×10⁰³`);
expressions in clusters rely on them, so they are reproduced.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.libraries.formatting import DEFAULT_PRECISION, charged, format_integer
from muster.cel.traversals import Style, written
from muster.cel.values import Duration, Timestamp, TypeValue, Uint, format_double, type_of
from muster.cel.values.numbers import int_text
from muster.cel.values.timestamps import format_duration, format_timestamp
from muster.errors import EvaluationError
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NAMED_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def localized_format(meter: Meter, template: str, args: Value) -> str:
    def clause(index: int, verb: str, precision: int | None) -> str:
        return _format_clause(meter, args[index], verb, DEFAULT_PRECISION if precision is None else precision)

    return charged(meter, template, args, clause, 0)


def refusal(verb: str, type_name: str) -> EvaluationError:
    words = {
        "s": (
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
            "durations, and timestamps"
        ),
        "d": "decimal clause can only be used on integers",
        "f": "fixed-point clause can only be used on doubles",
        "e": "scientific clause can only be used on doubles",
        "b": "only integers and bools can be formatted as binary",
        "x": "only integers, byte buffers, and strings can be formatted as hex",
        "o": "octal clause can only be used on integers",
    }
    return EvaluationError(f"{words[verb.lower()]}, was given {type_name}")


def _format_clause(meter: Meter, value: Value, verb: str, precision: int) -> str:
    match verb:
        case "s":
            return written(meter, value, _STYLE)
        case "d":
            if type(value) in {int, Uint}:
                return int_text(value)
        case "f" | "e":
            number = _NAMED_NUMBERS.get(value) if type(value) is str else value
            if type(number) is float:
                return _fixed(number, precision) if verb == "f" else _scientific(number, precision)
        case _:
            digits = format_integer(value, verb)
            if digits is not None:
                return digits
    raise refusal(verb, type_of(value).name)


def _fixed(number: float, precision: int) -> str:
    number = number or 0.0  # without the sign of a zero
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(number: float, width: int) -> str:
    """Always six digits: cel-go takes the precision for a width."""
    if not math.isfinite(number):
        return _special(number).rjust(width)
    mantissa, _, exponent = f"{number or 0.0:.6e}".partition("e")
    power = f"{'-' if exponent.startswith('-') else ''}{exponent[1:]}".translate(_SUPERSCRIPTS)
    return f"{mantissa}×10{power}".rjust(width)


def _special(number: float) -> str:
    if number != number:
        return "NaN"
    return "∞" if number > 0 else "-∞"


def _text(value: Value) -> str:
    """The value on its own: doubles as Go's %g writes them, strings bare."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return int_text(value)
        case float():
            return format_double(value)
        case bytes():
            return _decoded(value)
        case Duration():
            return format_duration(value)
        case Timestamp():
            return format_timestamp(value)
        case TypeValue():
            return value.type.name
        case _:
            raise refusal("s", type_of(value).name)


def _key(key: Value) -> str:
    if not isinstance(key, (str, int)):
        raise EvaluationError(f"no formatting function for map key of type {type_of(key).name}")
    return _nested(key)


def _nested(value: Value) -> str:
    """The value inside a list or map: as it would be written in an expression."""
    match value:
        case bool():
            return _text(value)
        case str():
            return go_quote(value)
        case bytes():
            return f"b{go_quote(_decoded(value))}"
        case float():
            return f"{value:.6f}" if math.isfinite(value) else f'"{_go_infinite(value)}"'
        case Duration():
            return f'duration("{format_duration(value)}")'
        case Timestamp():
            return f'timestamp("{format_timestamp(value)}")'
        case None | int() | TypeValue():
            return _text(value)
        case _:
            raise EvaluationError(f"no formatting function for {type_of(value).name}")


_STYLE = Style(_nested, _key, outer=_text, colon=":")


def _go_infinite(number: float) -> str:
    return "NaN" if number != number else "+Inf" if number > 0 else "-Inf"


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError(
            'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'
        ) from None
