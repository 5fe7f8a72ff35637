"""What gojq does at the edges, found by running it beside ours (tests/differential/jq). Rows are its own outcomes."""

from __future__ import annotations

import math
from zoneinfo import ZoneInfo

import pytest

from muster.jq import Host, Limits, compile_query, from_json
from tests.jq.test_queries import outcome


@pytest.mark.parametrize(
    ("query", "value", "outputs", "error"),
    [
        (".[:1] as $x | path($x.[0])", "[1]", ["[0]"], None),
        (".[:1] as $x | path($x.[0])", "[1, 2]", [], "invalid path against: array ([1])"),
        (".[0:] as $x | path($x[1])", "[1, 2]", ["[1]"], None),
        ("path({(.a): .b})", '{"a": "x", "b": 1}', [], 'invalid path against: object ({"a":"x","b":1})'),
        ("path({a, b: 1})", '{"a": "x", "b": 1}', [], 'invalid path against: object ({"a":"x","b":1})'),
        ("path([1] | to_entries | empty)", "null", [], "invalid path against: array ([1])"),
        ("path(from_entries | empty)", '[{"key": "a"}]', [], 'invalid path against: object ({"key":"a"})'),
        ("path(.[] |= 1)", '{"a": "x", "b": 1}', [], 'invalid path against: object ({"a":1,"b":1})'),
        ("path(.[] |= empty)", "{}", ["[]"], None),
        (
            'path(splits("b"))',
            '"abc"',
            ['[{"end":1,"next":2,"start":null}]', '[{"end":null,"next":null,"start":2}]'],
            None,
        ),
        ('[splits(", *")], [splits("")]', '"a, b"', ['["a","b"]', '["","a",","," ","b",""]'], None),
        ('[fromstream("a")]', "null", [], 'expected an array but got: string ("a")'),
        (
            "pow(0; infinite), pow(1; infinite), pow(-1; infinite), pow(1; nan), pow(0; -infinite), pow(0.5; infinite)",
            "null",
            ["0", "1", "1", "1", "1.7976931348623157e+308", "0"],
            None,
        ),
        (
            "fma(253402300800; -1e308; 1), fma(1e308; 10; 1)",
            "null",
            ["-1.7976931348623157e+308", "1.7976931348623157e+308"],
            None,
        ),
        ("(.)[2] = 1", "1", [], "expected an array but got: number (1)"),
        (
            "((.a)[2]) = 1",
            "1",
            [],
            'setpath(["a",2]; 1) cannot be applied to 1: expected an object but got: number (1)',
        ),
        ("fma(-1e308; 3; infinite), fma(infinite; 0; 1)", "null", ["1.7976931348623157e+308", "null"], None),
        ("pick(contains(reduce null as [$x] (.; .)))", '{"a": 1}', [], "invalid path against: null"),
        ("path(reduce .[] as [$a, $b] (.; .))", "[[1, 2]]", [], "invalid path against: array ([1,2])"),
        ("path(foreach .[] as {a: $a} (.; .))", '[{"a": 1}]', [], 'invalid path against: array ([{"a":1}])'),
        ("path(reduce .[] as $a (.; .))", "[]", ["[]"], None),
        (
            "[foreach .[] as {a: $a, $b, c: [$d]} (0; . + $a; [., $b, $d])]",
            '[{"a":1,"b":2,"c":[3]}]',
            ["[[1,2,3]]"],
            None,
        ),
        (
            "try (. / 0.0) catch ., try (. % 0.5) catch .",
            "123456789012345678901234567890",
            [
                '"cannot divide number (1.2345678901234568e+29) by: number (0)"',
                '"cannot modulo number (1.2345678901234568e+29) by: number (0.5)"',
            ],
            None,
        ),
        (
            'capture("(?<a>x)[(](?<a>y)"), [match("(x)[(](?<a>)(?<a>y)").captures[].name]',
            '"x(y"',
            ['{"a":"y"}', '[null,"a","a"]'],
            None,
        ),
        ("path(.a += ([1] | .[0]))", '{"a": 1}', [], "invalid path against: array ([1])"),
        ("path(.a //= ([1] | .[]))", '{"a": 1}', [], "invalid path on iterating against: array ([1])"),
        ("path(.[] += .[0:])", "[]", ['[{"end":null,"start":0}]'], None),
        ("path(empty += .c)", '{"c": 2}', [], 'invalid path against: object ({"c":2})'),
        ("path(nan)", "1", [], "invalid path against: number (null)"),
        ("[nan] | path(.[0] | nan)", "null", ["[0]"], None),
        ("-infinite | exp10, exp2", "null", ["0", "0"], None),
        (
            "ldexp(1; infinite), ldexp(0.5; infinite), ldexp(1; 1e19), ldexp(-1; nan), ldexp(0; nan), ldexp(3; -1074)",
            "null",
            ["0", "1.7976931348623157e+308", "0", "-0", "0", "1.5e-323"],
            None,
        ),
        ("scalb(0.75; -infinite), scalbln(4; 1e308)", "null", ["1.7976931348623157e+308", "0"], None),
        ("-5e-324 | gamma, tgamma", "null", ["-1.7976931348623157e+308", "-1.7976931348623157e+308"], None),
        (
            "jn(nan; 0), jn(infinite; 0), jn(3; -5e-324), yn(-3; 0), yn(2; 0)",
            "null",
            ["0", "0", "-0", "1.7976931348623157e+308", "-1.7976931348623157e+308"],
            None,
        ),
        (
            "infinite, nan, 1e19, -1e19 | gmtime",
            "null",
            [
                "[292277026304,7,26,15,42,51.145224192,5,238]",
                "[292277026304,7,26,15,42,51.145224192,5,238]",
                "[292277026596,11,4,15,30,8,0,338]",
                "[292277026596,11,4,15,30,8,0,338]",
            ],
            None,
        ),
        (
            "9223372036854775808, -62135596801, 253402300800 | todate",
            "null",
            ['"292277026596-12-04T15:30:08Z"', '"0000-12-31T23:59:59Z"', '"10000-01-01T00:00:00Z"'],
            None,
        ),
        (
            "[1e18, 0, 1, 0, 0, 0, 0, 0], [292277026596, 11, 4, 15, 30, 8, 0, 0], [nan, 0, 1],"
            " [1970, 0, 1, 0, 0, infinite, 0, 0] | mktime",
            "null",
            ["-3767359434374020000", "-9223372036854776000", "-62167257216", "9223372027631404000"],
            None,
        ),
        ('("[" * 1200 + "1" + "]" * 1200) | fromjson | tojson | length', "null", ["2401"], None),
        (
            '("[" * 10001 + "]" * 10001) | fromjson',
            "null",
            [],
            "fromjson cannot be applied to \"[[[[[[[[[[[[[[[[[[[[[[[[ ...\": invalid character '[' exceeded max depth",
        ),
        (
            '("{\\"a\\":" * 10001) | fromjson',
            "null",
            [],
            'fromjson cannot be applied to "{\\"a\\":{\\"a\\":{\\"a\\":{\\" ...": '
            "invalid character '{' exceeded max depth",
        ),
        (
            '("[" * 1200 + "]" * 1201) | fromjson',
            "null",
            [],
            'fromjson cannot be applied to: string ("[[[[[[[[[[[[[[[[[[[[[[[[ ...")',
        ),
        (
            '"１２" | fromjson',
            "null",
            [],
            "fromjson cannot be applied to \"１２\": invalid character 'ï' looking for beginning of value",
        ),
        (
            '"[1２]" | fromjson',
            "null",
            [],
            "fromjson cannot be applied to \"[1２]\": invalid character 'ï' after array element",
        ),
        (
            '"\\u0000" | fromjson',
            "null",
            [],
            "fromjson cannot be applied to \"\\u0000\": invalid character '\\x00' looking for beginning of value",
        ),
        (
            '"\\u00a01" | fromjson',
            "null",
            [],
            "fromjson cannot be applied to \"\xa01\": invalid character 'Â' looking for beginning of value",
        ),
        (
            '"\\"\\u007f\\u0001\\"" | fromjson',
            "null",
            [],
            'fromjson cannot be applied to "\\"\\u007f\\u0001\\"": invalid character \'\\x01\' in string literal',
        ),
        (
            '"x" | strptime("é")',
            "null",
            [],
            'strptime("é") cannot be applied to "x": failed to parse "x" with "é": expected \'Ã\'',
        ),
        (
            '"è" | strptime("é")',
            "null",
            [],
            'strptime("é") cannot be applied to "è": failed to parse "è" with "é": expected \'©\'',
        ),
        (
            '"x" | strptime("%é")',
            "null",
            [],
            'strptime("%é") cannot be applied to "x": failed to parse "x" with "%é": unexpected format "%Ã"',
        ),
        (
            '"2015\\u0000" | strptime("%Y")',
            "null",
            [],
            'strptime("%Y") cannot be applied to "2015\\u0000": '
            'failed to parse "2015\\x00" with "%Y": unparsed string "\\x00"',
        ),
        (
            '"a" | test("\\\\C")',
            "null",
            [],
            'invalid regular expression "\\\\C": error parsing regexp: invalid escape sequence: `\\C`',
        ),
        (
            '"a" | test("[\\\\C]")',
            "null",
            [],
            'invalid regular expression "[\\\\C]": error parsing regexp: invalid escape sequence: `\\C`',
        ),
        ('"a" | test("\\\\QC\\\\C\\\\E"), test("\\\\\\\\C")', "null", ["false", "false"], None),
        (
            '"a" | test("(?<é>a)")',
            "null",
            [],
            'invalid regular expression "(?<é>a)": error parsing regexp: invalid named capture: `(?<é>`',
        ),
        (
            '"a" | test("\\\\")',
            "null",
            [],
            'invalid regular expression "\\\\": error parsing regexp: trailing backslash at end of expression: ``',
        ),
        (
            '"/w" | @base64d | capture("."), test("[^a]"), [match("."; "g").string]',
            "null",
            ["{}", "true", '["\\ufffd"]'],
            None,
        ),
        (
            '("/w" | @base64d) as $p | "a" | test("a\\($p)b")',
            "null",
            [],
            'invalid regular expression "a\\xffb": error parsing regexp: invalid UTF-8: `\udcffb`',
        ),
        ('({"a": 1} | test(.x?)) |= 1', "null", [], 'test(null; null) cannot be applied to: object ({"a":1})'),
        ('"a" | test("a"; "\\u0000g")', "null", [], 'unsupported regular expression flag: "\\x00g"'),
    ],
)
def test_edges_are_gojqs(query: str, value: str, outputs: list[str], error: str | None) -> None:
    program = compile_query(query)
    assert outcome(program.outputs(from_json(value))) == (outputs, error)
    assert outcome(program.reference_outputs(from_json(value))) == (outputs, error)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("17179869184 | j1", 5.519794117656175e-06),
        ("1e308 | j0", -2.4706564120790073e-155),
        ("1e18 | y1", 4.934387036790142e-10),
        ("2.2250738585072014e-308 | j1", 1.1125369292536007e-308),
        ("jn(30; 1)", 3.482869794251483e-42),
        ("jn(53; -1)", -2.585087577971307e-86),
        ("jn(1023; 1e308)", -7.5866879552418e-155),
        ("jn(8; 1)", 9.4223441726045e-08),
        ("jn(nan; 1)", 0.4400505857449335),
        ("jn(1000; 1e6)", 0.0006385656054981113),
        ("yn(1e300; 2)", -0.10703243154093755),
        ("5e-324 | y0", -473.99907342300423),  # gojq's own is wrong here: Go's logarithm of it is
    ],
)
def test_bessel_functions_are_right_where_they_are_hard(query: str, value: float) -> None:
    (found,) = compile_query(query).run(None)
    assert math.isclose(found, value, rel_tol=1e-11)


@pytest.mark.parametrize(
    ("zone", "outputs"),
    [
        (
            "Asia/Kolkata",
            [
                "[10000,0,1,5,30,0,6,0]",
                "[318857,4,20,23,16,40,0,139]",
                "[1,0,1,5,53,27,1,0]",
                "[292277026596,11,4,21,23,36,0,338]",
                '"10000-07-01T00:00:00 +0530 IST"',
                '"2015-03-08T02:30:00 +0530 IST"',
                '"2015-11-01T01:30:00 +0530 IST"',
                '"2011-12-30T12:00:00 +0530 IST"',
            ],
        ),
        (
            "America/Los_Angeles",
            [
                "[9999,11,31,16,0,0,5,364]",
                "[318857,4,20,10,46,40,0,139]",
                "[0,11,31,16,7,1,0,365]",
                "[292277026596,11,4,7,37,10,0,338]",
                '"10000-07-01T00:00:00 -0700 PDT"',
                '"2015-03-08T01:30:00 -0800 PST"',
                '"2015-11-01T01:30:00 -0700 PDT"',
                '"2011-12-30T12:00:00 -0800 PST"',
            ],
        ),
        (
            "Pacific/Apia",
            [
                "[10000,0,1,13,0,0,6,0]",
                "[318857,4,21,6,46,40,1,140]",
                "[1,0,1,12,33,3,1,0]",
                "[292277026596,11,5,4,3,12,1,339]",
                '"10000-07-01T00:00:00 +1300 +13"',
                '"2015-03-08T02:30:00 +1400 +14"',
                '"2015-11-01T01:30:00 +1400 +14"',
                '"2011-12-31T12:00:00 +1400 +14"',
            ],
        ),
    ],
)
def test_zones_hold_in_every_year_and_in_hours_that_are_left_out(zone: str, outputs: list[str]) -> None:
    query = """
        (253402300800, 1e13, -62135596801, 1e19 | localtime),
        ([10000, 6, 1, 0, 0, 0, 0, 0], [2015, 2, 8, 2, 30, 0, 0, 0], [2015, 10, 1, 1, 30, 0, 0, 0],
         [2011, 11, 30, 12, 0, 0, 0, 0] | strflocaltime("%FT%T %z %Z"))
    """
    assert outcome(compile_query(query).outputs(None, host=Host(zone=ZoneInfo(zone)))) == (outputs, None)


def test_json_is_read_to_ten_thousand_levels() -> None:
    deep = compile_query(
        r"""("[" * 9000 + "{\"k\":[\"\\u00e9\\ud83d\\ude00\\ud800\",-1.5e3,{}, null]}" + "]" * 9000)
            | fromjson | tojson | ltrimstr("[" * 9000) | rtrimstr("]" * 9000)"""
    )
    assert deep.run(None, limits=Limits(seconds=None)) == ['{"k":["é😀\ufffd",-1500,{},null]}']
