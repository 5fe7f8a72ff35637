"""Kubernetes quantities: reading, comparing, adding and writing them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.quantity import (
    WRONG_FORMAT,
    WRONG_NUMBER,
    WRONG_SUFFIX,
    InvalidQuantityError,
    Quantity,
    is_quantity,
    of_int,
    parse,
)

numbers = st.builds(
    lambda sign, whole, fraction, suffix: f"{sign}{whole}{'.' + fraction if fraction else ''}{suffix}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**22).map(str),
    st.text("0123456789", max_size=12),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "E-3", "e12"]),
)


def exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.number) * Fraction(10) ** quantity.exponent


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("1000k", "1M"),
        ("12e6", "12e6"),
        ("12000e3", "12e6"),
        ("-5Mi", "-5Mi"),
        ("0.1n", "1n"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("Mi", "0"),
        ("-", "0"),
        ("1.", "1."),  # Kubernetes keeps the text it takes for canonical
        (".5", "500m"),
        ("9Ei", "9223372036854775807"),
        ("100000000000000000000", "100E"),
    ],
)
def test_a_quantity_is_written_in_its_canonical_form(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", WRONG_FORMAT),
        ("1 ", WRONG_FORMAT),
        ("1,5", WRONG_FORMAT),
        ("abc", WRONG_FORMAT),
        ("1_0", WRONG_FORMAT),
        ("1kk", WRONG_SUFFIX),
        ("1e", WRONG_SUFFIX),
        ("1ee5", WRONG_SUFFIX),
        ("1e99999999999999999999", WRONG_SUFFIX),
        ("1" * 30 + "e2000000000", WRONG_NUMBER),
    ],
)
def test_what_is_no_quantity_is_refused_in_the_words_of_kubernetes(text: str, problem: str) -> None:
    assert not is_quantity(text)
    with pytest.raises(InvalidQuantityError) as caught:
        parse(text)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5k", 5000),
        ("1Ki", 1024),
        ("0", 0),
        ("1000m", None),
        ("0.0", None),
        ("9223372036854775807", None),
        ("999999999999999999", 999999999999999999),
        ("1Pi", None),
        ("1e19", None),
    ],
)
def test_only_what_kubernetes_keeps_as_an_int_is_an_integer(text: str, value: int | None) -> None:
    assert parse(text).as_int64() == value


def test_huge_exponents_compare_at_once_and_refuse_to_be_added() -> None:
    huge, one = parse("1e2000000000"), parse("1")
    assert huge > one
    assert parse("-1e2000000000") < one
    assert huge.approximate_float() == math.inf
    with pytest.raises(InvalidQuantityError, match="too far apart"):
        huge.add(one)


def test_adding_takes_the_format_of_the_first_that_is_not_zero() -> None:
    assert str(parse("1Gi").add(parse("1Gi"))) == "2Gi"
    assert str(parse("0").add(parse("1Ki"))) == "1Ki"
    assert str(parse("1k").subtract(of_int(1))) == "999"
    assert str(parse("5").subtract(parse("5m"))) == "4995m"


@given(numbers)
def test_the_canonical_form_means_the_same_quantity(text: str) -> None:
    quantity = parse(text)
    if abs(exact(quantity)) < 10**21:  # beyond it Kubernetes has no suffix and loses the exponent
        assert parse(str(quantity)) == quantity


@given(numbers, numbers)
def test_sums_and_order_are_exact(a: str, b: str) -> None:
    left, right = parse(a), parse(b)
    assert exact(left.add(right)) == exact(left) + exact(right)
    assert exact(left.subtract(right)) == exact(left) - exact(right)
    assert left.compare(right) == (exact(left) > exact(right)) - (exact(left) < exact(right))
    assert (left == right) == (exact(left) == exact(right))
    if left == right:
        assert hash(left) == hash(right)


@given(numbers)
def test_the_approximate_float_is_close(text: str) -> None:
    quantity = parse(text)
    assert math.isclose(quantity.approximate_float(), float(exact(quantity)), rel_tol=1e-12)
    assert quantity.sign == (exact(quantity) > 0) - (exact(quantity) < 0)
