"""The arithmetic operators of the standard library: what `+`, `-`, `*`, `/`, `%` and negation do to each type."""

from __future__ import annotations

import math
from operator import add, mul, sub
from typing import TYPE_CHECKING

from muster.cel.checking.types import BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT
from muster.cel.costs.charge import LANGUAGE, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE
from muster.cel.costs.runtime import TRAVERSAL, Price, content_size, traversal
from muster.cel.declarations import Function
from muster.cel.libraries.declare import LIST_A, call
from muster.cel.values import Duration, Timestamp, Uint, check_int, check_uint
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def add_int(a: int, b: int) -> int:
    return check_int(a + b)


def add_uint(a: int, b: int) -> Uint:
    return check_uint(a + b)


def add_list(a: Value, b: Value) -> Value:
    return [*a, *b]


def add_durations(a: Duration, b: Duration) -> Duration:
    return Duration(a.ns + b.ns)


def add_to_timestamp(moment: Timestamp, duration: Duration) -> Timestamp:
    return Timestamp(moment.ns + duration.ns, moment.offset)


def add_to_duration(duration: Duration, moment: Timestamp) -> Timestamp:
    return add_to_timestamp(moment, duration)


def subtract_int(a: int, b: int) -> int:
    return check_int(a - b)


def subtract_uint(a: int, b: int) -> Uint:
    return check_uint(a - b)


def subtract_durations(a: Duration, b: Duration) -> Duration:
    return Duration(a.ns - b.ns)


def subtract_from_timestamp(moment: Timestamp, duration: Duration) -> Timestamp:
    return Timestamp(moment.ns + check_int(-duration.ns), moment.offset)


def subtract_timestamps(a: Timestamp, b: Timestamp) -> Duration:
    return Duration(a.ns - b.ns)


def multiply_int(a: int, b: int) -> int:
    return check_int(a * b)


def multiply_uint(a: int, b: int) -> Uint:
    return check_uint(a * b)


def divide_int(a: int, b: int) -> int:
    """Rounds toward zero, as machines do; Python's own division rounds down."""
    if b == 0:
        raise EvaluationError("division by zero", FailureKind.DIVISION_BY_ZERO)
    quotient = abs(a) // abs(b)
    return check_int(quotient if (a < 0) == (b < 0) else -quotient)


def divide_uint(a: int, b: int) -> Uint:
    if b == 0:
        raise EvaluationError("division by zero", FailureKind.DIVISION_BY_ZERO)
    return Uint(int(a) // int(b))


def divide_double(a: float, b: float) -> float:
    """IEEE 754: dividing by zero gives an infinity or NaN, never an error."""
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo_int(a: int, b: int) -> int:
    """The remainder has the sign of the dividend."""
    if b == 0:
        raise EvaluationError("modulus by zero", FailureKind.MODULUS_BY_ZERO)
    if b == -1:
        check_int(-a)  # the one case in which the machine's division overflows
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


def modulo_uint(a: int, b: int) -> Uint:
    if b == 0:
        raise EvaluationError("modulus by zero", FailureKind.MODULUS_BY_ZERO)
    return Uint(int(a) % int(b))


def negate_int(a: int) -> int:
    return check_int(-a)


def negate_double(a: float) -> float:
    return -a


# --- costs


def _joined(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0]) + content_size(args[1]))


def _joined_size(_: Operand | None, args: Arguments) -> CallEstimate:
    size = args[0].known_size().plus(args[1].known_size())
    return CallEstimate(size.scaled(TRAVERSAL), size)


def _joined_lists(_: Operand | None, args: Arguments) -> CallEstimate:
    return CallEstimate(ONE, args[0].known_size().plus(args[1].known_size()))


_JOINED = {LANGUAGE: Charge(Price(_joined, inline="ceil((len({0}) + len({1})) * 0.1)"), _joined_size)}


FUNCTIONS = (
    Function(
        "_+_",
        (
            call("add_bytes", (BYTES, BYTES), BYTES, add, charges=_JOINED),
            call("add_double", (DOUBLE, DOUBLE), DOUBLE, add),
            call("add_duration_duration", (DURATION, DURATION), DURATION, add_durations),
            call("add_duration_timestamp", (DURATION, TIMESTAMP), TIMESTAMP, add_to_duration),
            call("add_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, add_to_timestamp),
            call("add_int64", (INT, INT), INT, add_int),
            call("add_list", (LIST_A, LIST_A), LIST_A, add_list, charges={LANGUAGE: Charge(estimate=_joined_lists)}),
            call("add_string", (STRING, STRING), STRING, add, charges=_JOINED),
            call("add_uint64", (UINT, UINT), UINT, add_uint),
        ),
        doc="Adds numbers, durations, or a duration to a timestamp; joins strings, bytes and lists.",
        examples={
            "1 + 2": 3,
            "22u + 33u": Uint(55),
            "'eu-' + 'west'": "eu-west",
            "[1] + [2, 3]": [1, 2, 3],
            "duration('1m') + duration('1s') == duration('61s')": True,
            "timestamp('2026-01-01T00:00:00Z') + duration('24h') == timestamp('2026-01-02T00:00:00Z')": True,
        },
    ),
    Function(
        "_-_",
        (
            call("subtract_double", (DOUBLE, DOUBLE), DOUBLE, sub),
            call("subtract_duration_duration", (DURATION, DURATION), DURATION, subtract_durations),
            call("subtract_int64", (INT, INT), INT, subtract_int),
            call("subtract_timestamp_duration", (TIMESTAMP, DURATION), TIMESTAMP, subtract_from_timestamp),
            call("subtract_timestamp_timestamp", (TIMESTAMP, TIMESTAMP), DURATION, subtract_timestamps),
            call("subtract_uint64", (UINT, UINT), UINT, subtract_uint),
        ),
        doc="Subtracts numbers, durations, or a duration from a timestamp; two timestamps give the time between them.",
        examples={
            "5 - 3": 2,
            "10.5 - 2.0": 8.5,
            "timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('24h')": True,
        },
    ),
    Function(
        "_*_",
        (
            call("multiply_double", (DOUBLE, DOUBLE), DOUBLE, mul),
            call("multiply_int64", (INT, INT), INT, multiply_int),
            call("multiply_uint64", (UINT, UINT), UINT, multiply_uint),
        ),
        doc="Multiplies two numbers of the same type.",
        examples={"-2 * 6": -12, "13u * 3u": Uint(39), "1.5 * 4.0": 6.0},
    ),
    Function(
        "_/_",
        (
            call("divide_double", (DOUBLE, DOUBLE), DOUBLE, divide_double),
            call("divide_int64", (INT, INT), INT, divide_int),
            call("divide_uint64", (UINT, UINT), UINT, divide_uint),
        ),
        doc="Divides. Whole numbers round toward zero, and dividing them by zero is an error.",
        examples={"10 / 3": 3, "-7 / 2": -3, "7.0 / 2.0": 3.5},
    ),
    Function(
        "_%_",
        (
            call("modulo_int64", (INT, INT), INT, modulo_int),
            call("modulo_uint64", (UINT, UINT), UINT, modulo_uint),
        ),
        doc="The remainder of a division; it has the sign of the first number.",
        examples={"7 % 3": 1, "-7 % 3": -1, "6u % 4u": Uint(2)},
    ),
    Function(
        "-_",
        (
            call("negate_double", (DOUBLE,), DOUBLE, negate_double),
            call("negate_int64", (INT,), INT, negate_int),
        ),
        doc="The number with the other sign.",
        examples={"-(5)": -5, "-(2.5)": -2.5},
    ),
)
