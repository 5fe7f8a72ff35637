"""Kubernetes' libraries, and what OCM and OLM add: edges and errors."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel.libraries.json_text import InvalidJsonError, parse_json
from muster.cel.libraries.ocm import SCORES_KEY
from muster.cel.values import Duration, type_of
from muster.values.quantity import WRONG_FORMAT
from tests.cel.libraries.evaluation import diagnostics_of, error_of, value_of

KUBERNETES = "kubernetes-1.37"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[0.0 / 0.0, 1.0].min() == 1.0", False),
        ("[1.0, 0.0 / 0.0].max()", 1.0),
        ("[duration('1s'), duration('2s')].sum()", Duration(3 * 10**9)),
        ("['b', 'a'].isSorted()", False),
        ("[[1], [2]].indexOf([2])", 1),
        ("[1, 2, 1].lastIndexOf(1)", 2),
        ("[1, 2].includes(2)", True),
        ("'a1b22'.findAll('[0-9]+', -1)", ["1", "22"]),
        ("'a1'.findAll('[0-9]+', 0)", []),
        ("'abc 123'.find('[0-9]*')", ""),
        ("url('https://[::1]:8080/').getHostname()", "::1"),
        ("url('/a').getScheme()", ""),
        ("quantity('1') == quantity('1000m')", True),
        ("quantity('70k') == quantity('50k').add(quantity('20k'))", True),
        ("quantity('1Gi').sub(quantity('1Gi')).isInteger()", True),
        ("semver('1.0.0+a') == semver('1.0.0+b')", True),
        ("semver('9223372036854775808.0.0').major() < 0", True),
        ("isSemver('V1.0.0', true)", False),
        ("string(cidr('10.1.2.3/8'))", "10.1.2.3/8"),
        ("cidr('10.0.0.0/8').containsIP(ip('10.9.9.9'))", True),
        ("type(ip('::1')) == net.IP", True),
        ("format.dns1123Label().validate('abc').hasValue()", False),
        ("format.named('uuid') == optional.of(format.uuid())", True),
    ],
)
def test_functions_give(text: str, value: Any) -> None:
    result = value_of(text, KUBERNETES)
    assert (type_of(result), result) == (type_of(value), value)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("dyn([]).min()", "min called on empty list"),
        ("[9223372036854775807, 1].sum()", "integer overflow"),
        ("[dyn(1), dyn('a')].sum()", "no such overload"),
        (
            "url(dyn('../x')).getHost()",
            'URL parse error during conversion from string: parse "../x": invalid URI for request',
        ),
        ("quantity(dyn('x'))", WRONG_FORMAT),
        ("quantity('1m').asInteger()", "cannot convert value to integer"),
        ("quantity('1e2000000000').add(1)", "the quantities are too far apart to be added"),
        ("quantity('1') == dyn(1)", "no such overload"),
        ("ip('::1') == dyn('::1')", "no such overload"),
        ("[quantity('1')].exists(q, dyn(1) == q) ? [1][1] : 0 / 0", "division by zero"),
        ("semver(dyn('v1.2.3'))", 'Invalid character(s) found in major number "v1"'),
        ("semver(dyn('1.2-a'), true)", "short version cannot contain PreRelease/Build meta data"),
        (
            "ip(dyn('1.2.3'))",
            'IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
        ),
        ("ip(dyn('fe80::1%eth0'))", 'IP address "fe80::1%eth0" with zone value is not allowed'),
        ("ip(dyn('::ffff:1.2.3.4'))", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        (
            "cidr(dyn('10.0.0.0'))",
            "network address parse error during conversion from string: network address parse error during conversion "
            "from string: netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        ),
        ("cidr('10.0.0.0/8').containsIP('x')", "no such overload"),
        ("['('].map(pattern, 'a'.find(pattern))", "Illegal regex: error parsing regexp: missing closing ): `(`"),
    ],
)
def test_functions_fail_in_the_words_of_kubernetes(text: str, error: str) -> None:
    assert error_of(text, KUBERNETES) == error


def test_cel_go_words_the_faults_of_networks_on_its_own() -> None:
    assert error_of("cidr(dyn('x'))") == (
        'CIDR "x" parse error during conversion from string: netip.ParsePrefix("x"): no \'/\''
    )
    assert error_of("cidr('10.0.0.0/8').containsIP('x')") == (
        'IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP'
    )
    assert diagnostics_of("ip('x')", "standard") == [
        'invalid ip argument: IP Address "x" parse error during conversion from string: ParseAddr("x"): '
        "unable to parse IP"
    ]


def test_scores_come_with_the_cluster_and_are_never_an_empty_list() -> None:
    cluster = {"metadata": {"name": "c1"}, SCORES_KEY: {"cpu": [{"name": "free", "value": 70}]}}
    assert value_of("managedCluster.scores('cpu')[0].value", "ocm", managedCluster=cluster) == 70
    assert value_of("scores(managedCluster, 'cpu').size()", managedCluster=cluster) == 1
    assert error_of("managedCluster.scores('mem')", managedCluster=cluster) == (
        'failed to get score: addonplacementscore.cluster.open-cluster-management.io "mem" not found'
    )
    assert error_of("{}.scores('x')", managedCluster={}) == "failed to get cluster metadata"
    assert error_of("{'metadata': {}}.scores('x')", managedCluster={}) == "failed to get cluster name"
    assert error_of("'x'.scores('x')", managedCluster={}) == "no such overload"


def test_versions_of_operators_are_compared_tolerantly() -> None:
    assert value_of("semver_compare('v1.2', '1.2.0')", "olm", properties=[]) == 0
    assert value_of("semver_compare(1, '1.0.0')", "olm", properties=[]) == 0
    assert error_of("semver_compare(dyn(['a', 3]), '1.0.0')", "olm", properties=[]) == (
        "unable to parse '[a 3]' to semver format"
    )


def test_conditions_are_there_or_not() -> None:
    assert value_of("hasConditions({'conditions': [1]})") is True
    assert value_of("hasConditions(dyn('x'))") is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "unexpected end of JSON input"),
        ("hello", "invalid character 'h' looking for beginning of value"),
        ("{", "unexpected end of JSON input"),
        ("{a", "invalid character 'a' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("1 2", "invalid character '2' after top-level value"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("1.", "invalid character ' ' after decimal point in numeric literal"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"a\n"', "invalid character '\\n' in string literal"),
        ("-", "invalid character ' ' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1e]", "invalid character ']' in exponent of numeric literal"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ('{"a": [], "b": {}} x', "invalid character 'x' after top-level value"),
        ("[[1}", "invalid character '}' after array element"),
        ('{"a": tRue}', "invalid character 'R' in literal true (expecting 'r')"),
        ('"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"),
        ('"\\u0041\\n', "unexpected end of JSON input"),
        ("'", "invalid character '\\'' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("01", "invalid character '1' after top-level value"),
        ("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
    ],
)
def test_broken_json_is_refused_in_the_words_of_go(text: str, problem: str) -> None:
    with pytest.raises(InvalidJsonError) as caught:
        parse_json(text)
    assert str(caught.value) == problem


def test_numbers_in_json_are_doubles() -> None:
    assert [type(item) for item in parse_json("[1, 2.5, -3e2]")] == [float, float, float]


def test_deep_json_is_refused() -> None:
    with pytest.raises(InvalidJsonError, match="exceeded max depth"):
        parse_json("[" * 100_000)
