"""The well-known messages of protocol buffers; every outcome here is what cel-go 0.29 gives."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import InvalidProgramError, Variable, environment, make_program
from muster.cel.checking.types import DYN
from muster.cel.values import Duration, Timestamp, Uint
from muster.cel.values.messages import EmptyValue
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError

ENV = environment("standard").extend(variables=[Variable("x", DYN)])
LIMIT = 1_000_000
PREFIX = "google.protobuf."
NOT_KNOWN = "unsupported conversion to ref.Val: (*dynamicpb.Message)"


def both(text: str, x: Any = None) -> Any:
    """What the text gives, in both back ends and for the same cost; an error as its text."""
    program = make_program(text, ENV)
    value, cost = program.run({"x": x}, LIMIT)
    trace = program.trace({"x": x}, LIMIT)
    shown = str(value) if isinstance(value, EvaluationError) else value
    assert (str(trace.outcome) if trace.failed else trace.outcome, trace.cost) == (shown, cost)
    return shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Timestamp{}", Timestamp(0)),
        ("Timestamp{seconds: 5, nanos: 6}", Timestamp(5_000_000_006)),
        ("Timestamp{nanos: -5}", Timestamp(-5)),
        ("Duration{seconds: -1, nanos: 5}", Duration(-999_999_995)),
        ("Duration{seconds: 9223372037}", Duration(2**63 - 1)),
        ("Duration{seconds: 1, seconds: 2}", Duration(2_000_000_000)),
        ("BoolValue{}", False),
        ("BytesValue{value: b'a'}", b"a"),
        ("BytesValue{value: dyn([1u, 255u])}", b"\x01\xff"),
        ("DoubleValue{value: 1.5}", 1.5),
        ("FloatValue{value: 0.1}", 0.10000000149011612),
        ("FloatValue{value: -1e300}", float("-inf")),
        ("Int32Value{value: 5}", 5),
        ("Int64Value{?value: optional.none()}", 0),
        ("Int64Value{?value: optional.of(7)}", 7),
        ("StringValue{value: 'a'}", "a"),
        ("UInt32Value{value: 7u}", Uint(7)),
        ("UInt64Value{}", Uint(0)),
        ("Value{}", None),
        ("Value{null_value: 0}", None),
        ("Value{string_value: 'a', bool_value: true}", True),
        ("Value{number_value: 1.5}", 1.5),
        ("Value{struct_value: {'a': [1, 2]}}", {"a": [1.0, 2.0]}),
        ("Value{list_value: [optional.of(1)]}", [1.0]),
        ("ListValue{}", []),
        ("Struct{}", {}),
        ("Struct{fields: {'a': 9007199254740993, 'b': -1}}", {"a": "9007199254740993", "b": -1.0}),
        (
            "ListValue{values: [b'a', timestamp(0), duration('1.5s'), null, 7u]}",
            ["YQ==", "1970-01-01T00:00:00Z", "1.5s", None, 7.0],
        ),
        ("Empty{}", EmptyValue()),
        ("Empty{} == google.protobuf.Empty{}", True),
        ("Any{type_url: 'type.googleapis.com/google.protobuf.Int64Value', value: b'\\x08\\x05'}", 5),
        ("Any{type_url: 'x/google.protobuf.Duration', value: b'\\x08\\x01\\x10\\x02'}", Duration(1_000_000_002)),
        ("Any{type_url: '/google.protobuf.Value', value: b'\\x1a\\x02hi'}", "hi"),
        (
            "Any{type_url: '/google.protobuf.Struct', value: b'\\x0a\\x09\\x0a\\x01a\\x12\\x04\\x1a\\x02hi'}",
            {"a": "hi"},
        ),
        ("NullValue.NULL_VALUE", 0),
        ("Int64Value{value: 5} + 1", 6),
        ("Int64Value{} == null", False),
        ("Struct{fields: {'a': 1}}.a", 1.0),
        ("ListValue{values: [1, 2]}[1]", 2.0),
    ],
)
def test_a_message_becomes_the_value_it_stands_for(text: str, value: Any) -> None:
    found = both(PREFIX + text)
    assert found == value
    assert type(found) is type(value)


def _in_field(field: str, problem: str) -> str:
    return f"field type conversion error for google.protobuf.{field} value type: {problem}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Int32Value{value: 2147483648}", _in_field("Int32Value.value", "integer overflow")),
        ("UInt32Value{value: 4294967296u}", _in_field("UInt32Value.value", "unsigned integer overflow")),
        ("Timestamp{nanos: 2147483648}", _in_field("Timestamp.nanos", "integer overflow")),
        (
            "Timestamp{seconds: x}",
            _in_field("Timestamp.seconds", "type conversion error from 'null_type' to 'int64'"),
        ),
        (
            "Value{number_value: dyn(1)}",
            _in_field("Value.number_value", "unsupported type conversion from 'int' to float64"),
        ),
        ("Struct{fields: dyn(1)}", "unsupported field type for google.protobuf.Struct.fields: int"),
        (
            "Struct{fields: dyn({1: 1})}",
            _in_field("Struct.fields", "unsupported type conversion from 'int' to string"),
        ),
        ("ListValue{values: [int]}", _in_field("ListValue.values", "type conversion not supported for 'type'")),
        ("Int64Value{?value: dyn(5)}", "cannot initialize optional entry 'value' from non-optional value 5"),
        ("Any{}", NOT_KNOWN),
        ("Any{type_url: '/google.protobuf.Int64Value', value: b'\\x08'}", NOT_KNOWN),
        ("Timestamp{seconds: 253402300800}", "timestamp overflow"),
    ],
)
def test_what_does_not_fit_into_a_field_is_an_error_in_cel_go_s_words(text: str, error: str) -> None:
    assert both(PREFIX + text) == error


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (
            "google.protobuf.Value{number_value: 1}",
            "expected type of field 'number_value' is 'double' but provided type is 'int'",
        ),
        ("google.protobuf.Timestamp{hours: 1}", "undefined field 'hours'"),
        ("google.protobuf.Int64Value{value: 5}.value", "type 'wrapper(int)' does not support field selection"),
        ("google.protobuf.FieldMask{}", "undeclared reference to 'google.protobuf.FieldMask' (in container '')"),
        ("x{}", "undeclared reference to 'x' (in container '')"),
        ("list{a: 1}", "undefined field 'a'"),
    ],
)
def test_the_checker_knows_messages_and_their_fields(text: str, refusal: str) -> None:
    with pytest.raises(InvalidExpressionError) as refused:
        make_program(text, ENV)
    assert [diagnostic.message for diagnostic in refused.value.diagnostics] == [refusal]


@pytest.mark.parametrize("name", ["google.protobuf.Value", "google.protobuf.Int64Value", "google.protobuf.Any"])
def test_the_name_of_a_message_that_becomes_something_else_is_no_value(name: str) -> None:
    with pytest.raises(InvalidProgramError, match=f"^reference to undefined type: {name}$"):
        make_program(name, ENV)


def test_types_are_those_that_cel_go_deduces() -> None:
    types = {
        "google.protobuf.Int64Value{}": "wrapper(int)",
        "[google.protobuf.Int64Value{}, 1]": "list(wrapper(int))",
        "google.protobuf.Any{}": "google.protobuf.Any",
        "google.protobuf.Value{}": "dyn",
        "google.protobuf.Struct{}": "map(string, dyn)",
        "google.protobuf.Empty{}": "google.protobuf.Empty",
    }
    assert {text: str(make_program(text, ENV).result_type) for text in types} == types


def test_a_message_costs_as_a_struct_also_when_a_field_fails() -> None:
    assert make_program("google.protobuf.Int64Value{value: 1}", ENV).cost({}) == 40
    assert make_program("google.protobuf.Timestamp{seconds: x.a, nanos: x.b}", ENV).cost({"x": {}}) == 42


def test_what_a_struct_copies_is_counted() -> None:
    """A value that holds itself 2^40 times is small to write, and must not be walked over."""
    text = "google.protobuf.ListValue{values: [1]" + ".map(a, [a, a])" * 40 + "}"
    with pytest.raises(BudgetExceededError, match="builds or compares more than"):
        make_program(text, ENV).evaluate({})


def test_a_program_reads_what_the_fields_of_a_message_read() -> None:
    program = make_program("google.protobuf.Timestamp{seconds: x.a}", ENV)
    assert program.reads == {("x", "a")}
