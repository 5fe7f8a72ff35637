"""What the comparison with the real cel-go (tests/differential/cel) found wrong: every outcome here is cel-go's."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import InvalidProgramError, Variable, environment, make_program
from muster.cel.checking.types import BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, list_of, map_of
from muster.cel.values import Duration, Timestamp, optional
from muster.errors import EvaluationError, InvalidExpressionError

LIMIT = 1_000_000
VARIABLES = {
    "d": (DOUBLE, -0.0),
    "i": (INT, 7),
    "li": (list_of(INT), [3, 1, 2]),
    "ms": (map_of(STRING, STRING), {"env": "prod"}),
    "p": (DURATION, Duration(5)),
    "s": (STRING, "eu-west-1"),
    "t": (TIMESTAMP, Timestamp(0)),
    "x": (DYN, {"b": [None], "mixed": [1, "a", None]}),
    "y": (BYTES, b"a"),
}


def outcome(text: str, env: str = "kubernetes-1.37") -> tuple[Any, int]:
    """The value or the text of the error, and the cost, alike in both back ends."""
    declared = environment(env).extend(variables=[Variable(name, kind) for name, (kind, _) in VARIABLES.items()])
    program = make_program(text, declared)
    values = {name: value for name, (_, value) in VARIABLES.items()}
    value, cost = program.run(values, LIMIT)
    trace = program.trace(values, LIMIT)
    shown = str(value) if isinstance(value, EvaluationError) else value
    seen = str(trace.outcome) if trace.failed else trace.outcome
    assert (repr(seen), trace.cost) == (repr(shown), cost)
    return shown, cost


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("semver('1.2.3') == null", False),
        ("null == dyn(semver('1.2.3'))", False),
        ("semver('1.2.3') == dyn(true)", "no such overload"),
        ("dyn(true) == semver('1.2.3')", False),
        ("semver('1.2.3') in dyn([1])", False),
        ("semver('1.2.3') in dyn([null])", False),
        ("semver('1.2.3') in [semver('1.2.2'), semver('1.2.3')]", True),
        ("dyn([semver('1.2.3')]).indexOf(1)", -1),
        ("dyn(google.protobuf.Empty{}) == format.date()", False),
    ],
)
def test_opaque_values_compare_as_in_kubernetes(text: str, value: Any) -> None:
    assert outcome(text)[0] == value


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("optional.none()[ip('1.2.3.4')]", 2),
        ("optional.none()[dyn(double(d))]", 2),
        ("x.nope.sortBy(v, v)", 5),
        ("cidr('10.0.0.0/8').containsIP(dyn(s))", 4),
        ("cidr('10.0.0.0/8').containsCIDR(dyn(s))", 6),
        ("dyn([]).ip()", 1),
        ("null in [null]", 1),
        ("dyn(google.protobuf.Empty{}) == []", 41),
    ],
)
def test_costs_are_those_of_kubernetes_where_something_is_amiss(text: str, cost: int) -> None:
    assert outcome(text)[1] == cost


def test_scores_of_what_is_not_there_cost_as_in_ocm() -> None:
    assert outcome("x.nope.scores(string(dyn(d)))", "ocm") == ("no such key: nope", 15)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("dyn(ms)[semver('1.2.3')]", "invalid qualifier type: cel.Semver"),
        ("[].flatten(dyn(null))", "no such overload: list(dyn).flatten(null_type)"),
        ("t.getHours('\"a\":0')", 'strconv.Atoi: parsing "\\"a\\"": invalid syntax'),
        ("t.getHours('99999999999999999999:0')", 'strconv.Atoi: parsing "99999999999999999999": value out of range'),
        ("dyn(ms)[quantity('1')]", "invalid qualifier type: cel.Quantity"),
        ("dyn(ms)[ip('1.2.3.4')]", "invalid qualifier type: cel.IP"),
        ("dyn(ms)[format.date()]", "invalid qualifier type: cel.Format"),
        ("dyn(ms)[type(y)]", "invalid qualifier type: *types.Type"),
        ("dyn(ms)[optional.of(i)]", "invalid qualifier type: *types.Optional"),
        ("dyn(ms)[y]", "invalid qualifier type: []uint8"),
        ("dyn(ms)[dyn(y)]", "invalid qualifier type: types.Bytes"),
        ("dyn(ms)[t]", "invalid qualifier type: time.Time"),
        ("dyn(ms)[?p]", "invalid qualifier type: time.Duration"),
        ("dyn(ms)[x]", "invalid qualifier type: map[string]interface {}"),
        ("dyn(ms)[x.b]", "invalid qualifier type: []interface {}"),
        ("dyn(ms)[x.b[0]]", "invalid qualifier type: <nil>"),
        ("dyn(1).matches('a')", "no such overload"),
        ("dyn(1).matches(s)", "no such overload: matches"),
        ("dyn(1).find('a')", "no such overload"),
        ("dyn(1).find(s)", "no such overload: find(int, string)"),
        ("'a'.findAll('a', dyn('a'))", "no such overload"),
        ("[1][dyn(123456789.125)]", "unsupported index value 1.23456789125e+08 in list"),
        ("x.mixed.isSorted()", "no such overload"),
        ("t.getHours('\\u0000')", "invalid argument"),
        ("semver('é', true)", 'Invalid character(s) found in major number "0é"'),
    ],
)
def test_errors_have_cel_go_s_words(text: str, error: str) -> None:
    assert outcome(text)[0] == error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-dyn(p)", Duration(-5)),
        ("'%.2f'.format([d])", "0.00"),
        ("'%e'.format([-0.0])", "0.000000×10⁰⁰"),
        ("'%.2f'.format([-0.001])", "-0.00"),
        ("timestamp('2026-03-29T01:30:00Z').getSeconds('1234567890:00')", 36),
        ("timestamp('2026-03-29T01:30:00Z').getHours('99999:00')", 16),
        ("timestamp('2026-03-29T01:30:00Z').getHours('0:75')", 2),
    ],
)
def test_values_are_those_of_cel_go(text: str, value: Any) -> None:
    assert outcome(text)[0] == value


def test_an_optional_is_never_empty_itself() -> None:
    kept = outcome("optional.ofNonZeroValue(optional.none())")[0]
    assert repr(kept) == repr(optional(optional(None))).replace("optional(None)", "OptionalValue")


def test_a_strict_environment_refuses_fields_of_what_has_none_in_optionals_too() -> None:
    assert outcome("dyn(li[?0])[3]", "standard")[0] == "no such key: 3"
    assert outcome("dyn(optional.of(3)).a.b", "standard")[0] == "no such key: a"


def test_addresses_of_cel_go_s_own_library_have_no_size() -> None:
    assert outcome("s.replace(dyn(ip('2001:DB8::1')), s)", "standard")[1] == 7
    assert outcome("dyn(ms)[ip('1.2.3.4')]", "standard")[0] == "invalid qualifier type: ext.IP"


def test_json_has_no_infinity() -> None:
    text = "proto: google.protobuf.Value.number_value: invalid +Inf value"
    assert outcome("json.encode([1.0 / 0.0])", "standard")[0] == text


def test_an_optional_is_written_as_json_as_what_it_holds() -> None:
    assert outcome("json.encode([optional.of(1)])", "standard")[0] == "[1]"
    assert outcome("json.encode(optional.none())", "standard")[0] == "optional.none() dereference"


def test_halves_of_surrogate_pairs_in_json_are_replaced() -> None:
    assert outcome("'\"a\\\\ud800b\\\\ud83d\\\\ude00\\\\\\\\ud800\"'.parseJSON()", "ocm")[0] == "a�b😀\\ud800"


@pytest.mark.parametrize("text", ["s.findAll('[a', 2)", "s.findAll('[a')", "s.find('[a')"])
def test_a_wrong_constant_pattern_is_found_when_the_program_is_made(text: str) -> None:
    with pytest.raises(InvalidProgramError, match=r"^error parsing regexp: missing closing \]: `\[a`$"):
        outcome(text)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("list.a", "ERROR: <input>:1:5: type 'type(list(dyn))' does not support field selection"),
        ("timestamp(null)", "ERROR: <input>:1:11: invalid timestamp argument"),
        ("li.map(., 1)", "ERROR: <input>:1:0: argument is not an identifier\n | li.map(., 1)\n | ^"),
        ("'\\udead'", "ERROR: <input>:1:1: invalid unicode code point"),
    ],
)
def test_refusals_have_cel_go_s_words(text: str, refusal: str) -> None:
    with pytest.raises(InvalidExpressionError) as refused:
        outcome(text)
    assert str(refused.value).startswith(refusal)


def test_olm_shows_times_as_go_prints_them() -> None:
    expected = "unable to parse '1970-01-01 00:00:00 +0000 UTC' to semver format"
    assert outcome("semver_compare(t, '1.0.0')", "olm")[0] == expected
    assert outcome("semver_compare(p, '1.0.0')", "olm")[0] == "unable to parse '5ns' to semver format"
