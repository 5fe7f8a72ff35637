"""string.format() since version 4 of the strings library: clauses, and values written without a locale.

`interpolate` is shared with the older formatting and with the check of literal format strings, so that a template
is read by one parser and refused with the same words everywhere.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from muster.cel.costs.meter import spend_on_text
from muster.cel.traversals import Style, written
from muster.cel.values import Duration, Timestamp, TypeValue, Uint, format_plain, type_of
from muster.cel.values.numbers import int_text
from muster.cel.values.timestamps import format_duration, format_timestamp
from muster.errors import BudgetExceededError, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

    Clause = Callable[[int, str, int | None], str]  # index of the argument, verb, precision -> text

DEFAULT_PRECISION = 6
# Versions before 5 have no limit of their own; a result of more digits helps nobody and costs memory.
HARD_LIMIT = 1000
_DIGITS = re.compile("[0-9]*")
VERBS = "sdfebxXo"


def interpolate(template: str, count: int, clause: Clause, max_precision: int, *, checking: bool = False) -> str:
    """The template with every clause replaced by what `clause` makes of it.

    While checking, arguments that are not there are noticed after the clause is seen to be complete, as in cel-go.
    """
    pieces: list[str] = []
    position = 0
    index = 0
    while (percent := template.find("%", position)) != -1:
        pieces.append(template[position:percent])
        if template.startswith("%%", percent):
            pieces.append("%")
            position = percent + 2
            continue
        if index >= count and not checking:
            raise EvaluationError(f"index {index} out of range")
        if percent + 1 >= len(template):
            raise EvaluationError("unexpected end of string")
        if index >= count:
            raise EvaluationError(f"index {index} out of range")
        verb, precision, position = _parse_clause(template, percent + 1, max_precision)
        try:
            pieces.append(clause(index, verb, precision))
        except BudgetExceededError:
            raise
        except EvaluationError as error:
            raise EvaluationError(f"error during formatting: {error.message}") from None
        index += 1
    pieces.append(template[position:])
    return "".join(pieces)


def _parse_clause(template: str, position: int, max_precision: int) -> tuple[str, int | None, int]:
    """The verb, the precision and the position behind the clause."""
    precision: int | None = None
    if template[position] == ".":
        digits = _DIGITS.match(template, position + 1)
        text = digits[0] if digits else ""
        position += 1 + len(text)
        if position >= len(template):
            raise _bad_precision("could not find end of precision specifier")
        precision = _parse_precision(text, max_precision)
    verb = template[position]
    if verb not in VERBS:
        shown = verb if verb.isascii() else chr(verb.encode("utf-8", "surrogatepass")[0])
        raise EvaluationError(f'could not parse formatting clause: unrecognized formatting clause "{shown}"')
    return verb, precision, position + 1


def _parse_precision(text: str, max_precision: int) -> int:
    problem = "invalid syntax" if not text else "value out of range" if len(text.lstrip("0")) > 18 else ""
    if problem:
        raise _bad_precision(
            f'error while converting precision to integer: strconv.Atoi: parsing "{text[:100]}": {problem}'
        )
    precision = int(text.lstrip("0") or "0")  # Python reads no number of thousands of zeros
    limit = max_precision or HARD_LIMIT
    if precision > limit:
        raise _bad_precision(f"precision {precision} exceeds maximum allowed precision {limit}")
    return precision


def _bad_precision(reason: str) -> EvaluationError:
    return EvaluationError(f"could not parse formatting clause: error while parsing precision: {reason}")


def refusal(verb: str, type_name: str) -> EvaluationError:
    """What the clause says of a value whose type it does not take."""
    words = {
        "s": (
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
            "durations, and timestamps"
        ),
        "d": "decimal clause can only be used on ints, uints, and doubles",
        "f": "fixed-point clause can only be used on ints, uints, and doubles",
        "e": "scientific clause can only be used on ints, uints, and doubles",
        "b": "only ints, uints, and bools can be formatted as binary",
        "x": "only ints, uints, bytes, and strings can be formatted as hex",
        "o": "octal clause can only be used on ints and uints",
    }
    return EvaluationError(f"{words[verb.lower()]}, was given {type_name}")


def format_with(max_precision: int) -> Callable[[Meter, str, Value], str]:
    """The implementation of `format` with a limit on precision; 0 is the limit that memory asks for."""

    def format_text(meter: Meter, template: str, args: Value) -> str:
        def clause(index: int, verb: str, precision: int | None) -> str:
            return _format_clause(meter, args[index], verb, DEFAULT_PRECISION if precision is None else precision)

        return charged(meter, template, args, clause, max_precision)

    return format_text


def charged(meter: Meter, template: str, args: Value, clause: Clause, max_precision: int) -> str:
    """`interpolate` over values: every clause is some work, and so is what it writes."""

    def counted(index: int, verb: str, precision: int | None) -> str:
        given = args[index]
        size = 4 * len(given) if isinstance(given, (str, bytes)) else 64
        spend_on_text(meter, size + (precision or 0))
        return clause(index, verb, precision)

    spend_on_text(meter, len(template))
    return interpolate(template, len(args), counted, max_precision)


def _format_clause(meter: Meter, value: Value, verb: str, precision: int) -> str:
    if verb == "s":
        return written(meter, value, _STYLE)
    is_int = type(value) in {int, Uint}
    if verb in "dfe" and (is_int or type(value) is float):
        return _number(value, verb, precision)
    digits = format_integer(value, verb)
    if digits is None:
        raise refusal(verb, type_of(value).name)
    return digits


def _number(value: Value, verb: str, precision: int) -> str:
    if type(value) is float and not math.isfinite(value):
        return _infinite(value)
    if verb == "d":
        return format_plain(value) if type(value) is float else int_text(value)
    return f"{float(value):.{precision}{verb}}"


def format_integer(value: Value, verb: str) -> str | None:
    """%b, %x, %X and %o, the same in every version; None for a type they do not take."""
    kind = type(value)
    if verb == "b" and kind is bool:
        return "1" if value else "0"
    if verb in "xX" and kind in {str, bytes}:
        data: bytes = value.encode("utf-8", "surrogatepass") if kind is str else value
        return data.hex().upper() if verb == "X" else data.hex()
    if verb in "bxXo" and kind in {int, Uint}:
        return f"{int(value):{verb}}"
    return None


def _leaf(value: Value) -> str:
    """A plain value as %s writes it."""
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
            return format_plain(value) if math.isfinite(value) else _infinite(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case Duration():
            return format_duration(value)
        case Timestamp():
            return format_timestamp(value, utc=True)
        case TypeValue():
            return value.type.name
        case _:
            raise refusal("s", type_of(value).name)


_STYLE = Style(_leaf, _leaf)


def _infinite(value: float) -> str:
    if value != value:
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
