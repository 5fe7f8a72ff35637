"""The values of CEL: types, equality, order, maps, limits, texts, times and conversions."""

from __future__ import annotations

import math
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.cel.checking import types
from muster.cel.running.qualify import lookup
from muster.cel.traversals import go_text
from muster.cel.values import (
    MISSING,
    OPTIONAL_NONE,
    Duration,
    MapValue,
    Timestamp,
    TypeValue,
    Uint,
    check_input,
    check_int,
    check_uint,
    compare,
    contains,
    find,
    format_double,
    format_plain,
    kind_of,
    make_map,
    no_such_overload,
    optional,
    type_of,
)
from muster.cel.values import conversions as to
from muster.cel.values.timestamps import format_duration, format_timestamp, moment_in, parse_duration, parse_timestamp
from muster.errors import EvaluationError, InvalidObjectError
from tests.cel.comparing import equals


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null_type"),
        (True, "bool"),
        (1, "int"),
        (Uint(1), "uint"),
        (1.0, "double"),
        ("a", "string"),
        (b"a", "bytes"),
        ([1], "list"),
        ((1,), "list"),
        ({"a": 1}, "map"),
        (OrderedDict(a=1), "map"),
        (MapValue([(True, 1)]), "map"),
        (Timestamp(0), "google.protobuf.Timestamp"),
        (Duration(0), "google.protobuf.Duration"),
        (TypeValue(types.INT), "type"),
        (OPTIONAL_NONE, "optional_type"),
    ],
)
def test_every_value_has_its_type(value: Any, name: str) -> None:
    assert type_of(value).name == name
    assert kind_of(value) is type_of(value).kind


def test_a_python_object_that_is_no_value_is_named() -> None:
    with pytest.raises(EvaluationError, match="unsupported value of Python type 'Decimal': CEL takes None, bool, int"):
        type_of(Decimal(1))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1, 1.0, True),
        (Uint(1), 1, True),
        (1, True, False),
        (True, 1.0, False),
        ([1, True], [1, 1], False),
        ({"a": 1}, {"a": Uint(1)}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (math.nan, math.nan, False),
        ([math.nan], [math.nan], False),
        ("1", 1, False),
        (None, 0, False),
        (b"a", "a", False),
        ((1, 2), [1, 2], True),
        (optional(1), optional(1.0), True),
        (optional(1), OPTIONAL_NONE, False),
        (OPTIONAL_NONE, OPTIONAL_NONE, True),
        (TypeValue(types.list_of(types.INT)), TypeValue(types.list_of(types.STRING)), True),
        (Timestamp(5), Timestamp(5, offset=3600), True),
        (Timestamp(5), Duration(5), False),
        (MapValue([(True, 1), (1, 2)]), MapValue([(1, 2), (True, 1)]), True),
        (9007199254740993, 9007199254740992.0, True),  # cel-go compares with a double as doubles
    ],
)
def test_equality_is_by_value_across_numbers_and_by_type_otherwise(a: Any, b: Any, expected: bool) -> None:
    assert equals(a, b) is expected
    assert equals(b, a) is expected


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        (1, 2.5, -1),
        (Uint(2), 1, 1),
        ("a", "b", -1),
        (b"b", b"a", 1),
        (False, True, -1),
        (Timestamp(1), Timestamp(1), 0),
    ],
)
def test_order_spans_the_numbers(a: Any, b: Any, order: int) -> None:
    assert compare(a, b) == order
    assert compare(b, a) == -order


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (1, "a", "no such overload"),
        (1.0, "a", "no such overload"),
        (True, 1, "no such overload"),
        ([1], [2], "no such overload"),
        (math.nan, 1, "NaN values cannot be ordered"),
        (1, math.nan, "NaN values cannot be ordered"),
        (math.nan, "a", "NaN values cannot be ordered"),
    ],
)
def test_what_has_no_order_says_so(a: Any, b: Any, text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        compare(a, b)
    assert caught.value.message == text


def test_a_plain_dict_serves_as_a_map_and_is_never_copied() -> None:
    data = {"a": {"b": 1}}
    assert lookup(data, "a") is data["a"]
    assert contains(data, "a")
    assert find(data, "b") is MISSING


def test_numbers_of_all_types_are_one_key_but_true_is_not_one() -> None:
    numbers = make_map([(1, "one"), (Uint(2), "two")])
    assert type(numbers) is dict
    assert [lookup(numbers, key) for key in (1, Uint(1), 1.0, 2, 2.0)] == ["one", "one", "one", "two", "two"]
    assert not contains(numbers, True)
    mixed = make_map([(True, "yes"), (1, "one")])
    assert [lookup(mixed, key) for key in (True, 1)] == ["yes", "one"]
    assert list(mixed) == [True, 1]
    assert len(mixed) == 2
    assert not contains(mixed, False)


def test_a_list_is_never_a_key() -> None:
    assert not contains({"a": 1}, [1])
    with pytest.raises(EvaluationError, match=r"no such key: x"):
        lookup({}, "x")


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([("a", 1), ("a", 2)], "Failed with repeated key"),
        ([(True, 1), (True, 2)], "Failed with repeated key"),
        ([(1, 1), (Uint(1), 2)], "Failed with repeated key"),
        ([(1.5, 1)], "unsupported key type"),
        ([(None, 1)], "unsupported key type"),
    ],
)
def test_a_literal_map_refuses_bad_keys(entries: Any, text: str) -> None:
    with pytest.raises(EvaluationError, match=text):
        make_map(entries)


def test_integers_end_where_64_bits_end() -> None:
    assert check_int(2**63 - 1) == 2**63 - 1
    assert type(check_uint(5)) is Uint
    for check, number, text in (
        (check_int, 2**63, "integer overflow"),
        (check_int, -(2**63) - 1, "integer overflow"),
        (check_uint, -1, "unsigned integer overflow"),
        (check_uint, 2**64, "unsigned integer overflow"),
    ):
        with pytest.raises(EvaluationError) as caught:
            check(number)
        assert caught.value.message == text


@pytest.mark.parametrize(
    ("number", "short", "plain"),
    [
        (1e6, "1e+06", "1000000"),
        (123456.0, "123456", "123456"),
        (1234567.0, "1.234567e+06", "1234567"),
        (0.0001, "0.0001", "0.0001"),
        (0.00001, "1e-05", "0.00001"),
        (-12300.0, "-12300", "-12300"),
        (6.02214e23, "6.02214e+23", "602214000000000000000000"),
        (0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"),
        (-0.0, "-0", "-0"),
        (math.inf, "+Inf", "+Inf"),
        (-math.inf, "-Inf", "-Inf"),
        (math.nan, "NaN", "NaN"),
    ],
)
def test_doubles_are_printed_as_go_prints_them(number: float, short: str, plain: str) -> None:
    assert (format_double(number), format_plain(number)) == (short, plain)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_double_reads_back_as_itself(number: float) -> None:
    assert float(format_double(number)) == number
    assert float(format_plain(number)) == number


def test_error_texts_print_values_as_go_does() -> None:
    assert [go_text(value) for value in (True, 1, Uint(2), 1.5, "a", b"ab", 1e6)] == [
        "true",
        "1",
        "2",
        "1.5",
        "a",
        "[97 98]",
        "1e+06",
    ]
    assert no_such_overload("f", 1, [2]).message == "no such overload: f(int, list)"


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"a": [Decimal(1)]}, "x.a[0]", "a value of Python type 'Decimal' cannot be used in CEL"),
        ({"a": 2**63}, "x.a", "the number 9223372036854775808 does not fit into 64 bits"),
        ({True: 1}, "x", "a dict with bool keys mistakes true for 1"),
        ({1.5: 1}, "x", "a map key of Python type 'float' is neither text nor int"),
    ],
)
def test_input_that_cel_cannot_hold_is_refused_with_its_path(value: Any, path: str, reason: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        check_input(value, "x")
    assert caught.value.path == path
    assert caught.value.reason.startswith(reason)


def test_json_like_input_passes_as_it_is() -> None:
    check_input({"a": [1, 2.5, "x", None, True, b"", Uint(3)], 1: MapValue([(True, 1)])})


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1h30m", 5400 * 10**9),
        ("-1.5s", -1_500_000_000),
        ("+2ms", 2_000_000),
        ("1us1µs1μs", 3000),
        ("0", 0),
        (".5s", 500_000_000),
        ("1.s", 10**9),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
        ("9223372036854775808ns", None),
        ("1", None),
        ("", None),
        ("-", None),
        ("1d", None),
        (".s", None),
        ("1h-1m", None),
        ("1 s", None),
    ],
)
def test_durations_are_read_as_go_reads_them(text: str, nanoseconds: int | None) -> None:
    parsed = parse_duration(text)
    assert (None if parsed is None else parsed.ns) == nanoseconds


def test_durations_are_printed_in_seconds() -> None:
    assert [format_duration(Duration(ns)) for ns in (0, 1, 1_500_000_000, -5400 * 10**9)] == [
        "0s",
        "0.000000001s",
        "1.5s",
        "-5400s",
    ]


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T1:02:03,5+05:30", "2026-01-01T01:02:03.5+05:30"),
        ("2026-01-01T00:00:00.1234567899-08:00", "2026-01-01T00:00:00.123456789-08:00"),
        ("2024-02-29T23:59:59.000Z", "2024-02-29T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("2023-02-29T00:00:00Z", None),
        ("2023-01-01t00:00:00Z", None),
        ("2023-01-01T24:00:00Z", None),
        ("2023-01-01T00:00:00", None),
        ("2023-01-01T00:00:00+25:00", None),
    ],
)
def test_timestamps_are_read_as_go_reads_them_and_keep_their_offset(text: str, again: str | None) -> None:
    parsed = parse_timestamp(text)
    assert (None if parsed is None else format_timestamp(parsed)) == again


@pytest.mark.parametrize("text", ["0000-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+00:01"])
def test_a_timestamp_outside_of_the_years_1_to_9999_overflows(text: str) -> None:
    with pytest.raises(EvaluationError, match="timestamp overflow"):
        parse_timestamp(text)


@given(st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999_999_999))
def test_a_printed_timestamp_reads_back_as_itself(seconds: int, nanos: int) -> None:
    moment = Timestamp(seconds * 10**9 + nanos)
    assert parse_timestamp(format_timestamp(moment)) == moment


def test_parts_of_a_timestamp_depend_on_the_zone() -> None:
    moment = parse_timestamp("2026-01-01T05:30:00Z")
    assert moment is not None
    assert tuple(moment_in(moment)) == (2026, 1, 1, 5, 30, 0, 4, 0)
    assert tuple(moment_in(moment, "America/Los_Angeles")) == (2025, 12, 31, 21, 30, 0, 3, 364)
    assert tuple(moment_in(moment, "+05:30")) == (2026, 1, 1, 11, 0, 0, 4, 0)
    assert moment_in(Timestamp(-62_135_596_800 * 10**9), "-01:00").year == 0


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Nope/Zone", "unknown time zone Nope/Zone"),
        ("../etc", "time: invalid location name"),
        ("x:00", 'strconv.Atoi: parsing "x": invalid syntax'),
        ("1:", 'strconv.Atoi: parsing "": invalid syntax'),
    ],
)
def test_an_unknown_zone_is_an_error(zone: str, text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        moment_in(Timestamp(0), zone)
    assert caught.value.message == text


@pytest.mark.parametrize(
    ("convert", "value", "result"),
    [
        (to.string_to_int, "-7", -7),
        (to.string_to_int, "+7", 7),
        (to.string_to_uint, "7", Uint(7)),
        (to.string_to_double, "0x1.8p1", 3.0),
        (to.string_to_double, "-Infinity", -math.inf),
        (to.string_to_double, ".5", 0.5),
        (to.string_to_double, "1_000.5", 1000.5),
        (to.string_to_double, "0x_1p4", 16.0),
        (to.string_to_bool, "T", True),
        (to.double_to_int, -2.9, -2),
        (to.double_to_uint, 2.9, Uint(2)),
        (to.string_to_bytes, "é", b"\xc3\xa9"),
        (to.int_to_timestamp, 1, Timestamp(10**9)),
    ],
)
def test_conversions_give_the_value(convert: Any, value: Any, result: Any) -> None:
    converted = convert(value)
    assert (type(converted), converted) == (type(result), result)


@pytest.mark.parametrize(
    ("convert", "value", "text"),
    [
        (to.string_to_int, "1_0", "type conversion error from 'string' to 'int'"),
        (to.string_to_int, "9223372036854775808", "type conversion error from 'string' to 'int'"),
        (to.string_to_uint, "-1", "type conversion error from 'string' to 'uint'"),
        (to.string_to_double, "1e400", "type conversion error from 'string' to 'double'"),
        (to.string_to_double, "0x1", "type conversion error from 'string' to 'double'"),
        (to.string_to_double, "1__0", "type conversion error from 'string' to 'double'"),
        (to.string_to_double, "1_e5", "type conversion error from 'string' to 'double'"),
        (to.string_to_bool, "yes", "type conversion error from 'string' to 'bool'"),
        (to.string_to_duration, "1", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        (to.string_to_timestamp, "x", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        (to.bytes_to_string, b"\xff", "invalid UTF-8 in bytes, cannot convert to string"),
        (to.double_to_int, -(2.0**63), "integer overflow"),
        (to.double_to_int, math.nan, "integer overflow"),
        (to.double_to_uint, -0.5, "unsigned integer overflow"),
        (to.int_to_timestamp, 2**62, "timestamp overflow"),
        (to.uint_to_int, Uint(2**63), "integer overflow"),
    ],
)
def test_conversions_fail_in_the_words_of_cel_go(convert: Any, value: Any, text: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        convert(value)
    assert caught.value.message == text
