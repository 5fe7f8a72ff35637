"""The values of literals."""

from __future__ import annotations

import pytest

from muster.cel.syntax.literals import LiteralError, bytes_value, double_value, int_value, string_value, uint_value
from muster.cel.values import Uint


def test_integers_keep_to_64_bits() -> None:
    assert int_value("9223372036854775808", negative=True) == -(2**63)
    assert int_value("0x7f", negative=False) == 127
    for text in ("9223372036854775808", "0xFFFFFFFFFFFFFFFFF", "9" * 5000):
        with pytest.raises(LiteralError, match="invalid int literal"):
            int_value(text, negative=False)


def test_unsigned_integers_keep_to_64_bits() -> None:
    assert uint_value("18446744073709551615u") == Uint(2**64 - 1)
    with pytest.raises(LiteralError, match="invalid uint literal"):
        uint_value("18446744073709551616u")


def test_a_double_that_is_too_large_is_refused() -> None:
    assert double_value("1.5", negative=True) == -1.5
    with pytest.raises(LiteralError, match="invalid double literal"):
        double_value("1.99e90000009", negative=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a\\tb'", "a\tb"),
        (r'"\u00e9\x41\101\U0001F600\?"', "éAA😀?"),
        (r"r'\n'", r"\n"),
        ('"""a\r\nb"""', "a\nb"),
        ("''''''", ""),
    ],
)
def test_strings_lose_quotes_and_escapes(text: str, value: str) -> None:
    assert string_value(text) == value


@pytest.mark.parametrize("text", [r"'\UFFFFFFFF'", r"'\U00110000'", r"'\udead'", r"'\U0000d800'", r"'\ud83d\ude00'"])
def test_what_is_no_character_is_refused(text: str) -> None:
    with pytest.raises(LiteralError, match="invalid unicode code point"):
        string_value(text)


def test_escapes_in_bytes_are_single_bytes() -> None:
    assert bytes_value(r'"\xff\377é\n"') == b"\xff\xff" + "é".encode() + b"\n"
    with pytest.raises(LiteralError, match="unable to unescape string"):
        bytes_value("'" + chr(92) + "u00e9'")
