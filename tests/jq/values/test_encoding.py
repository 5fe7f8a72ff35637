"""JSON out and in, as gojq has it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from muster.jq import InvalidJsonError, from_json, pretty_json, to_json
from muster.jq.budgets import Meter
from muster.jq.values.encoding import preview


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.5, "1.5"),
        (1e17, "100000000000000000"),
        (1e21, "1e+21"),
        (1.25e-7, "1.25e-7"),
        (0.00001, "0.00001"),
        (0.000012345, "0.000012345"),
        (-0.0, "-0"),
        (math.nan, "null"),
        (math.inf, "1.7976931348623157e+308"),
        (10**30, "1" + "0" * 30),
        ('a"\\\n\x01\x7fé\u2028', '"a\\"\\\\\\n\\u0001\\u007fé\u2028"'),
        ("\udcff", '"\\ufffd"'),
        ({"b": [True, None], "a": {}}, '{"a":{},"b":[true,null]}'),
    ],
)
def test_values_are_written_as_gojq_writes_them(value: Any, text: str) -> None:
    assert to_json(value) == text


def test_integers_longer_than_python_prints_are_printed() -> None:
    number = 7**20_000
    assert from_json(to_json(number)) == number
    assert from_json(to_json(-number)) == -number


def test_nesting_has_no_end() -> None:
    value: Any = {"z": [1, {"b": [], "a": "x"}], "y": {}}
    for _ in range(3000):
        value = [value, {"k": 2}]
    text = to_json(value)
    assert text.startswith("[" * 3000 + '{"y":{},"z":[1,{"a":"x","b":[]}]},{"k":2}]')
    assert len(text) == 3000 * 10 + len('{"y":{},"z":[1,{"a":"x","b":[]}]}')
    assert pretty_json(value) == text


def test_nesting_is_written_alike_however_deep() -> None:
    value: Any = ["[", "{", [], {}]
    text = '["[","{",[],{}]'
    for _ in range(5_000):
        value = [1, {"b": value, "[": "[", "{": {}, "a": [1]}, "{", 2]
        text = f'[1,{{"[":"[","a":[1],"b":{text},"{{":{{}}}},"{{",2]'
    assert to_json(value) == text


def test_pretty_json_is_indented() -> None:
    assert pretty_json({"b": [1, []], "a": {}}) == '{\n  "a": {},\n  "b": [\n    1,\n    []\n  ]\n}'


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "EOF", 0),
        ("[0", "unexpected EOF", 2),
        ("{a}", "invalid character 'a' looking for beginning of object key string", 1),
        ('{"a" 1}', "invalid character '1' after object key", 5),
        ('{"a":1 2}', "invalid character '2' after object key:value pair", 7),
        ("[1 2]", "invalid character '2' after array element", 3),
        ("nope", "invalid character 'o' in literal null (expecting 'u')", 1),
        ("NaN", "invalid character 'N' looking for beginning of value", 0),
        ("1 2", "invalid character '2' after top-level value", 2),
        ('"\x01"', "invalid character '\\x01' in string literal", 1),
        ('"\\q"', "invalid character 'q' in string escape code", 2),
        ('"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape", 5),
        ("-x", "invalid character 'x' in numeric literal", 1),
        ("1.x", "invalid character 'x' after decimal point in numeric literal", 2),
        ("1ex", "invalid character 'x' in exponent of numeric literal", 2),
        ("'", "invalid character '\\'' looking for beginning of value", 0),
    ],
)
def test_faults_are_told_in_gos_words(text: str, message: str, offset: int) -> None:
    with pytest.raises(InvalidJsonError) as caught:
        from_json(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(InvalidJsonError, match="exceeded max depth"):
        from_json("[" * 200_000)


def test_half_a_pair_becomes_a_replacement_character() -> None:
    assert from_json('["\\ud83d\\ude00", "\\ud83d"]') == ["😀", "\ufffd"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a" * 28, '"' + "a" * 28 + '"'),
        ("a" * 29, '"' + "a" * 24 + ' ..."'),
        ("☆" * 20, '"' + "☆" * 8 + ' ..."'),
        (list(range(20)), "[0,1,2,3,4,5,6,7,8,9,10,1 ...]"),
        ({"a": "b" * 40}, '{"a":"' + "b" * 19 + " ...}"),
        (10**40, "1" + "0" * 25 + " ..."),
    ],
)
def test_a_preview_has_at_most_thirty_bytes(value: Any, text: str) -> None:
    assert preview(Meter(), value) == text
