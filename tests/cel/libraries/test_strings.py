"""The strings library: edges of its functions, and both generations of format."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel.checking.types import INT
from muster.cel.costs.meter import new_meter
from muster.cel.libraries.formatting import format_with
from muster.cel.libraries.go_formatting import localized_format
from muster.cel.values import OPTIONAL_NONE, Duration, MapValue, Timestamp, TypeValue, Uint
from muster.errors import EvaluationError
from tests.cel.libraries.evaluation import diagnostics_of, error_of, value_of

OLD = "kubernetes-1.37"  # Kubernetes stays with version 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("''.split('')", []),
        ("''.split(',')", [""]),
        ("'abc'.split('', 2)", ["a", "bc"]),
        ("'a,b'.split(',', 0)", []),
        ("'a,b,c'.split(',', -1)", ["a", "b", "c"]),
        ("'ab'.replace('', '-')", "-a-b-"),
        ("'abab'.replace('b', 'x', 1)", "axab"),
        ("'abc'.lastIndexOf('')", 3),
        ("'abc'.lastIndexOf('c', 10)", -1),
        ("'abc'.indexOf('', 10)", 3),
        ("'abc'.indexOf('c', 10)", -1),
        ("'\\u00a0\\u2003x\\x1f'.trim()", "x\x1f"),
        ("'ÀB'.lowerAscii()", "Àb"),
        ("['a'].join(', ')", "a"),
        ("'日本'.reverse()", "本日"),
        ("strings.quote('\\a\\t\"')", '"\\a\\t\\""'),
    ],
)
def test_edges_of_string_functions(text: str, value: Any) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("'a'.charAt(-1)", "index out of range: -1"),
        ("'a'.charAt(2)", "index out of range: 2"),
        ("'a'.substring(2)", "index out of range: 2"),
        ("'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"),
        ("'abc'.substring(0, 4)", "index out of range: 4"),
        ("'abc'.indexOf('a', -1)", "index out of range: -1"),
        ("'abc'.lastIndexOf('a', -1)", "index out of range: -1"),
        ("dyn(['a', 1]).join()", "join: invalid input: 1"),
    ],
)
def test_string_functions_fail_in_the_words_of_cel_go(text: str, error: str) -> None:
    assert error_of(text) == error


@pytest.mark.parametrize(
    ("template", "arguments", "new", "old"),
    [
        ("%s", "[1.5]", "1.5", "1.5"),
        ("%s", "[1e20]", "100000000000000000000", "1e+20"),
        ("%s", "[[1.5, 2.0]]", "[1.5, 2]", "[1.500000, 2.000000]"),
        ("%s", "[{'b': 'x', 'a': 'y'}]", "{a: y, b: x}", '{"a":"y", "b":"x"}'),
        ("%s", "[[duration('1m')]]", "[60s]", '[duration("60s")]'),
        ("%s", "[timestamp('2026-01-01T01:00:00+01:00')]", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"),
        ("%s", "[[b'a']]", "[a]", '[b"a"]'),
        ("%s", "[null]", "null", "null"),
        ("%s", "[int]", "int", "int"),
        ("%.1f", "[1234567.25]", "1234567.2", "1,234,567.2"),
        ("%e", "[1234.5]", "1.234500e+03", "1.234500×10⁰³"),
        ("%.20e", "[1.0]", "1.00000000000000000000e+00", "       1.000000×10⁰⁰"),
        ("%f", "[double('Infinity')]", "Infinity", "∞"),
        ("%X|%x|%o|%b", "[255, 'hi', 8, true]", "FF|6869|10|1", "FF|6869|10|1"),
        ("100%%", "[]", "100%", "100%"),
    ],
)
def test_format_writes(template: str, arguments: str, new: str, old: str) -> None:
    assert value_of(f"'{template}'.format({arguments})") == new
    assert value_of(f"'{template}'.format({arguments})", OLD) == old


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("'%s'.format(dyn([]))", "index 0 out of range"),
        ("'%'.format(dyn([1]))", "unexpected end of string"),
        ("'%q'.format(dyn([1]))", 'could not parse formatting clause: unrecognized formatting clause "q"'),
        (
            "'%.200f'.format(dyn([1.0]))",
            "could not parse formatting clause: error while parsing precision: "
            "precision 200 exceeds maximum allowed precision 100",
        ),
        (
            "'%.f'.format(dyn([1.0]))",
            "could not parse formatting clause: error while parsing precision: error while converting precision to "
            'integer: strconv.Atoi: parsing "": invalid syntax',
        ),
        (
            "'%d'.format([dyn('a')])",
            "error during formatting: decimal clause can only be used on ints, uints, and doubles, was given string",
        ),
        (
            "'%o'.format([dyn(1.5)])",
            "error during formatting: octal clause can only be used on ints and uints, was given double",
        ),
    ],
)
def test_format_fails_in_the_words_of_cel_go(text: str, error: str) -> None:
    assert error_of(text) == error


def test_a_literal_template_is_checked_before_it_runs() -> None:
    assert diagnostics_of("'%d'.format(['a'])") == [
        "error during formatting: decimal clause can only be used on ints, uints, and doubles, was given string"
    ]
    assert diagnostics_of("'%s'.format([1, 2])") == ["too many arguments supplied to string.format (expected 1, got 2)"]
    assert diagnostics_of("'%d'.format([1.5])", OLD) == [
        "error during formatting: decimal clause can only be used on integers, was given double"
    ]


def test_even_the_old_format_has_a_limit_on_digits() -> None:
    assert "exceeds maximum allowed precision 1000" in error_of("'%.999999999f'.format(dyn([1.0]))", OLD)


@pytest.mark.parametrize(
    ("template", "argument", "text"),
    [
        ("%s", True, "true"),
        ("%s", 5, "5"),
        ("%s", b"x", "x"),
        ("%s", Duration(10**9), "1s"),
        ("%s", [TypeValue(INT), True, None, "a\n"], '[int, true, null, "a\\n"]'),
        ("%s", [float("inf"), float("-inf"), float("nan")], '["+Inf", "-Inf", "NaN"]'),
        ("%s", MapValue([(1, Timestamp(0)), (True, 2)]), '{1:timestamp("1970-01-01T00:00:00Z"), true:2}'),
        ("%f", "NaN", "NaN"),
        ("%e", float("-inf"), "    -∞"),
        ("%e", float("nan"), "   NaN"),
        ("%d", Uint(3), "3"),
    ],
)
def test_the_old_format_writes_values_as_literals(template: str, argument: Any, text: str) -> None:
    assert localized_format(new_meter(), template, [argument]) == text


@pytest.mark.parametrize(
    ("template", "argument", "problem"),
    [
        ("%f", 1, "fixed-point clause can only be used on doubles, was given int"),
        ("%e", "x", "scientific clause can only be used on doubles, was given string"),
        ("%d", 1.5, "decimal clause can only be used on integers, was given double"),
        ("%b", 1.5, "only integers and bools can be formatted as binary, was given double"),
        ("%X", 1.5, "only integers, byte buffers, and strings can be formatted as hex, was given double"),
        ("%o", True, "octal clause can only be used on integers, was given bool"),
        ("%s", [OPTIONAL_NONE], "no formatting function for optional_type"),
        ("%s", b"\xff", 'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'),
        ("%s", MapValue([(Duration(1), 1)]), "no formatting function for map key of type google.protobuf.Duration"),
    ],
)
def test_the_old_format_refuses_in_its_own_words(template: str, argument: Any, problem: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        localized_format(new_meter(), template, [argument])
    assert caught.value.message == f"error during formatting: {problem}"


@pytest.mark.parametrize(
    ("template", "argument", "text"),
    [
        ("%s", True, "true"),
        ("%s", [Uint(1), float("-inf"), float("nan"), b"\xff"], "[1, -Infinity, NaN, \ufffd]"),
        ("%d", 1.5, "1.5"),
        ("%d", float("nan"), "NaN"),
        ("%b", False, "0"),
        ("é%s", 1, "é1"),
    ],
)
def test_the_new_format_writes(template: str, argument: Any, text: str) -> None:
    assert format_with(0)(new_meter(), template, [argument]) == text


def test_the_new_format_names_what_it_cannot_write() -> None:
    with pytest.raises(EvaluationError, match=r"string clause can only be used on strings, .* was given optional_type"):
        format_with(0)(new_meter(), "%s", [OPTIONAL_NONE])
    with pytest.raises(EvaluationError, match='unrecognized formatting clause "Ã"'):
        format_with(0)(new_meter(), "%é", [1])
    with pytest.raises(EvaluationError, match="could not find end of precision specifier"):
        format_with(0)(new_meter(), "%.5", [1])
