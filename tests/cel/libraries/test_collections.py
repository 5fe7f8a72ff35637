"""Lists, sets, optionals, maps in comprehensions, math, regexes and encoders: edges and errors."""

from __future__ import annotations

import math
from typing import Any

import pytest

from muster.cel.values import Uint
from tests.cel.comparing import equals
from tests.cel.libraries.evaluation import diagnostics_of, error_of, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2, 3].slice(1, 1)", []),
        ("dyn([1, [2, [3]]]).flatten()", [1, 2, [3]]),
        ("[[1], []].flatten(5)", [1]),
        ("[].sort()", []),
        ("[b'b', b'a'].sort()", [b"a", b"b"]),
        ("[true, false].sort()", [False, True]),
        ("['bb', 'a'].sortBy(e, size(e))", ["a", "bb"]),
        ("[{'a': 1}, {'a': 1.0}].distinct()", [{"a": 1}]),
        ("[dyn(1), 1u, true, '1'].distinct()", [1, True, "1"]),
        ("sets.contains([1, 2], [])", True),
        ("sets.equivalent([1, 2], [2.0, 1u])", True),
        ("[1, 2].transformMap(i, v, v * 2)", {0: 2, 1: 4}),
        ("{'a': 1}.transformMapEntry(k, v, {v: k})", {1: "a"}),
        ("math.greatest(1, 2.5, 2u)", 2.5),
        ("math.least([3, 1, 2])", 1),
        ("math.round(-0.5)", -1.0),
        ("math.bitShiftRight(-1, 60)", 15),
        ("math.bitShiftLeft(1, 64)", 0),
        ("math.bitNot(0u)", Uint(2**64 - 1)),
        ("math.sqrt(2u) > 1.41", True),
        ("regex.replace('aXbX', 'X', '-', 1)", "a-bX"),
        ("regex.replace('ab', '(a)|(c)', '[\\\\2]')", "[]b"),
        ("regex.extractAll('k=1,j=2', '(\\\\w)=')", ["k", "j"]),
        ("regex.extract('abc', 'x').hasValue()", False),
        ("regex.extract('abc', 'x*|(y)').hasValue()", False),
        ("base64.decode('')", b""),
        ("base64.decode('YQ')", b"a"),
        ("json.encode([1.5, 9007199254740993, b'a', duration('1s')])", '[1.5,"9007199254740993","YQ==","1s"]'),
        ("json.encode([1e-7, -0.0, 1e21, 1000000.0, 2.5e-10])", "[1e-7,-0,1e+21,1000000,2.5e-10]"),
        ("[1, 2].first().value() + [1, 2].last().value()", 3),
        ("optional.ofNonZeroValue({}).hasValue()", False),
        ("optional.of({'a': 1})['a'].value()", 1),
        ("{'a': 1}.?a.optMap(x, x + 1).value()", 2),
    ],
)
def test_functions_give(text: str, value: Any) -> None:
    assert equals(value_of(text), value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[1].slice(-1, 1)", "cannot slice(-1, 1), negative indexes not supported"),
        ("[1].slice(1, 0)", "cannot slice(1, 0), start index must be less than or equal to end index"),
        ("[1].slice(0, 2)", "cannot slice(0, 2), list is length 1"),
        ("[[1]].flatten(-1)", "level must be non-negative"),
        ("dyn({}).flatten()", "no such overload: map(dyn, dyn).flatten()"),
        ("dyn([1, 'a']).sort()", "list elements must have the same type"),
        ("dyn([null]).sort()", "list elements must be comparable"),
        ("dyn(1).sort()", "no such overload: sort"),
        ("dyn('a').sort()", "no such overload"),
        ("lists.range(1000001)", "lists.range: size 1000001 exceeds maximum allowed (1000000)"),
        ("lists.range(-1)", "lists.range: size must be non-negative, got -1"),
        ("{1: 'a', 2: 'a'}.transformMapEntry(k, v, {v: k})", "insert failed: key a already exists"),
        ("math.abs(-9223372036854775807 - 1)", "integer overflow"),
        ("math.bitShiftLeft(1, -2)", "math.bitShiftLeft() negative offset: -2"),
        ("math.greatest(dyn([]))", "math.@max(list) argument must not be empty"),
        ("regex.extract('a', '(a)(b)')", 'regular expression has more than one capturing group: "(a)(b)"'),
        (
            "regex.replace('a', 'a', '\\\\1')",
            "replacement string references group 1 but regex has only 0 group(s)",
        ),
        ("regex.replace('a', 'a', 'x\\\\')", "invalid replacement string: 'x\\' \\ not allowed at end"),
        (
            "regex.replace('a', 'a', '\\\\y')",
            "invalid replacement string: '\\y' \\ must be followed by a digit or \\",
        ),
        ("base64.decode('a')", "illegal base64 data at input byte 0"),
        ("base64.decode('!')", "illegal base64 data at input byte 0"),
        ("optional.none().value()", "optional.none() dereference"),
        ("json.encode(0.0 / 0.0)", "proto: google.protobuf.Value.number_value: invalid NaN value"),
    ],
)
def test_functions_fail_in_the_words_of_cel_go(text: str, error: str) -> None:
    assert error_of(text) == error


def test_rounding_keeps_what_is_no_ordinary_number() -> None:
    assert math.isnan(value_of("math.ceil(0.0 / 0.0)"))
    assert value_of("math.trunc(1.0 / 0.0)") == math.inf
    assert math.isnan(value_of("math.sqrt(-1.0)"))
    assert math.copysign(1, value_of("math.ceil(-0.5)")) == -1


def test_macros_of_libraries_refuse_what_they_cannot_use() -> None:
    assert diagnostics_of("math.greatest()") == ["math.greatest() requires at least one argument"]
    assert diagnostics_of("'a'.sortBy(e, e)") == [
        "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
    ]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_value_that_nests_deeper_than_pythons_stack_is_walked_all_the_same() -> None:
    deep = {"a": nested(50_000), "b": nested(50_000)}
    assert value_of("managedCluster.a == managedCluster.b", managedCluster=deep) is True
    assert value_of("json.encode(managedCluster.a).size()", managedCluster=deep) >= 100_000
    for env in ("muster", "ocm"):
        assert value_of("'%s'.format([managedCluster.a]).size()", env, managedCluster=deep) >= 100_000
