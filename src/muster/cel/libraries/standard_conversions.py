"""The conversions of the standard library: int(), uint(), double(), string(), bytes(), bool(), timestamp(), … ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, type_of_type
from muster.cel.costs.charge import LANGUAGE, Charge
from muster.cel.costs.formulas import FIRST_WALKED
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import Range, wrapped
from muster.cel.costs.runtime import TRAVERSAL
from muster.cel.declarations import Function
from muster.cel.libraries.declare import A, call
from muster.cel.values import TypeValue, Uint, format_double, type_of
from muster.cel.values import conversions as to
from muster.cel.values.timestamps import format_duration, format_timestamp

if TYPE_CHECKING:
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def type_value(value: Value) -> TypeValue:
    return TypeValue(type_of(value))


def _encoded(_: Operand | None, args: Arguments) -> CallEstimate:
    size = args[0].known_size()
    return CallEstimate(size.scaled(TRAVERSAL), Range(size.min, wrapped(size.max * 4)))


def _decoded(_: Operand | None, args: Arguments) -> CallEstimate:
    size = args[0].known_size()
    return CallEstimate(size.scaled(TRAVERSAL), Range(size.min // 4, size.max))


_TO_BYTES = {LANGUAGE: Charge(FIRST_WALKED, _encoded)}
_FROM_BYTES = {LANGUAGE: Charge(FIRST_WALKED, _decoded)}


FUNCTIONS = (
    Function(
        "type",
        (call("type", (A,), type_of_type(A), type_value),),
        doc="The type of a value.",
        examples={"type(1) == int": True, "type('a') == string": True, "type([]) == list": True},
    ),
    Function(
        "bool",
        (call("bool_to_bool", (BOOL,), BOOL, to.identity), call("string_to_bool", (STRING,), BOOL, to.string_to_bool)),
        doc="Reads a truth value from 1, t, true, T, True, TRUE and their opposites.",
        examples={"bool('true')": True, "bool('0')": False},
    ),
    Function(
        "bytes",
        (
            call("bytes_to_bytes", (BYTES,), BYTES, to.identity),
            call("string_to_bytes", (STRING,), BYTES, to.string_to_bytes, charges=_TO_BYTES),
        ),
        doc="The UTF-8 form of a string.",
        examples={"bytes('é')": b"\xc3\xa9"},
    ),
    Function(
        "double",
        (
            call("double_to_double", (DOUBLE,), DOUBLE, to.identity),
            call("int64_to_double", (INT,), DOUBLE, float),
            call("string_to_double", (STRING,), DOUBLE, to.string_to_double),
            call("uint64_to_double", (UINT,), DOUBLE, float),
        ),
        doc="The number as a double; large whole numbers may be rounded.",
        examples={"double(3)": 3.0, "double('1e3')": 1000.0},
    ),
    Function(
        "duration",
        (
            call("duration_to_duration", (DURATION,), DURATION, to.identity),
            call("string_to_duration", (STRING,), DURATION, to.string_to_duration),
        ),
        doc="Reads a duration such as 1h30m, 1.5s or -10ms.",
        examples={"duration('90s') == duration('1m30s')": True},
    ),
    Function(
        "dyn",
        (call("to_dyn", (A,), DYN, to.identity),),
        doc="The same value, about whose type the checker then assumes nothing.",
        examples={"dyn(1) == 1.0": True},
    ),
    Function(
        "int",
        (
            call("int64_to_int64", (INT,), INT, to.identity),
            call("double_to_int64", (DOUBLE,), INT, to.double_to_int),
            call("duration_to_int64", (DURATION,), INT, to.duration_to_int),
            call("string_to_int64", (STRING,), INT, to.string_to_int),
            call("timestamp_to_int64", (TIMESTAMP,), INT, to.timestamp_to_int),
            call("uint64_to_int64", (UINT,), INT, to.uint_to_int),
        ),
        doc="The number without its fraction; of a timestamp the seconds since 1970, of a duration its nanoseconds.",
        examples={"int(2.9)": 2, "int('-7')": -7, "int(timestamp('1970-01-01T00:00:01Z'))": 1},
    ),
    Function(
        "string",
        (
            call("string_to_string", (STRING,), STRING, to.identity),
            call("bool_to_string", (BOOL,), STRING, to.bool_to_string),
            call("bytes_to_string", (BYTES,), STRING, to.bytes_to_string, charges=_FROM_BYTES),
            call("double_to_string", (DOUBLE,), STRING, format_double),
            call("duration_to_string", (DURATION,), STRING, format_duration),
            call("int64_to_string", (INT,), STRING, to.int_to_string),
            call("timestamp_to_string", (TIMESTAMP,), STRING, format_timestamp),
            call("uint64_to_string", (UINT,), STRING, to.int_to_string),
        ),
        doc="The value as text. Bytes must be valid UTF-8.",
        examples={
            "string(-1.23e4)": "-12300",
            "string(1000000.0)": "1e+06",
            "string(duration('1h30m'))": "5400s",
            "string(timestamp('2026-01-01T02:00:00+02:00'))": "2026-01-01T02:00:00+02:00",
        },
    ),
    Function(
        "timestamp",
        (
            call("timestamp_to_timestamp", (TIMESTAMP,), TIMESTAMP, to.identity),
            call("int64_to_timestamp", (INT,), TIMESTAMP, to.int_to_timestamp),
            call("string_to_timestamp", (STRING,), TIMESTAMP, to.string_to_timestamp),
        ),
        doc="Reads a timestamp in RFC 3339 form, or counts seconds since 1970.",
        examples={"timestamp(0) == timestamp('1970-01-01T00:00:00Z')": True},
    ),
    Function(
        "uint",
        (
            call("uint64_to_uint64", (UINT,), UINT, to.identity),
            call("double_to_uint64", (DOUBLE,), UINT, to.double_to_uint),
            call("int64_to_uint64", (INT,), UINT, to.int_to_uint),
            call("string_to_uint64", (STRING,), UINT, to.string_to_uint),
        ),
        doc="The number as an unsigned one, the fraction cut off; a negative number is an error.",
        examples={"uint(123.9)": Uint(123), "uint('7')": Uint(7)},
    ),
)
