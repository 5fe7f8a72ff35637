"""Faults of JSON in the words of Go, for all who answer in them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.json_faults import MAX_DEPTH, JsonFaultError, end_of_value, find_fault

END = "unexpected end of JSON input"


@pytest.mark.parametrize(
    ("text", "unmarshal", "decoder"),
    [
        # What breaks off: to Unmarshal the end is a space, the Decoder waits for more.
        ("", END, "unexpected EOF"),
        ('{"a":', END, "unexpected EOF"),
        ('{"a', END, "unexpected EOF"),
        ("[1", END, "unexpected EOF"),
        ("[1,", END, "unexpected EOF"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')", "unexpected EOF"),
        ("-", "invalid character ' ' in numeric literal", "unexpected EOF"),
        ("1.", "invalid character ' ' after decimal point in numeric literal", "unexpected EOF"),
        ("1e+", "invalid character ' ' in exponent of numeric literal", "unexpected EOF"),
        ('"\\', "invalid character ' ' in string escape code", "unexpected EOF"),
        ('"\\u00', "invalid character ' ' in \\u hexadecimal character escape", "unexpected EOF"),
    ],
)
def test_a_text_that_breaks_off_is_worded_as_either_of_gos_readers_does(
    text: str, unmarshal: str, decoder: str
) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert (fault.unmarshal_words, fault.decoder_words, fault.position) == (unmarshal, decoder, len(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "invalid character 'x' looking for beginning of value"),
        ("\udcc7", "invalid character 'Ç' looking for beginning of value"),  # a byte that is no UTF-8
        ("é", "invalid character 'Ã' looking for beginning of value"),
        ("\ud800", "invalid character 'í' looking for beginning of value"),
        ("٣", "invalid character 'Ù' looking for beginning of value"),  # a digit, but not to Go
        ("\x07", r"invalid character '\a' looking for beginning of value"),
        ("\x7f", r"invalid character '\x7f' looking for beginning of value"),
        ("'", r"invalid character '\'' looking for beginning of value"),
        ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ("[[1}", "invalid character '}' after array element"),
        ("{} x", "invalid character 'x' after top-level value"),
        ('"a\nb"', r"invalid character '\n' in string literal"),
        ('"\\q"', "invalid character 'q' in string escape code"),
        ('"\\u12x4"', "invalid character 'x' in \\u hexadecimal character escape"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("trux", "invalid character 'x' in literal true (expecting 'e')"),
        ("01", "invalid character '1' after top-level value"),
        ("NaN", "invalid character 'N' looking for beginning of value"),
        ("[" * (MAX_DEPTH + 1), "invalid character '[' exceeded max depth"),
    ],
)
def test_both_of_gos_readers_word_a_wrong_character_alike(text: str, message: str) -> None:
    fault = find_fault(text)
    assert fault is not None
    assert (fault.unmarshal_words, fault.decoder_words) == (message, message)


@given(st.text(alphabet='{}[],:"\\ \n0123456789.eE+-truefalsn/bu\x01é'))
def test_a_text_has_a_fault_exactly_if_python_cannot_read_it_either(text: str) -> None:
    try:
        json.loads(text)
        is_json = True
    except ValueError:
        is_json = False
    assert (find_fault(text) is None) is is_json


def test_a_value_ends_where_it_ends_whatever_follows() -> None:
    assert end_of_value(' {"a": [1, "}"]} x', 0) == len(' {"a": [1, "}"]}')
    assert end_of_value("1 2", 1) == 3


def test_every_value_every_closing_and_every_escape_is_charged() -> None:
    charged: list[None] = []
    end_of_value(r'[1, "\n\u0041", {"\t": []}]', 0, lambda: charged.append(None))
    values, commas_and_closings, escapes = 5, 4, 3
    assert len(charged) == values + commas_and_closings + escapes


def test_whoever_charges_can_stop_it() -> None:
    left = iter(range(10))
    with pytest.raises(StopIteration):
        end_of_value("[" * 1000, 0, lambda: next(left))


def test_a_fault_names_its_place() -> None:
    with pytest.raises(JsonFaultError) as caught:
        end_of_value("[1, x", 0)
    assert (caught.value.position, caught.value.character) == (4, "x")
