"""JSON bodies: values, duplicate keys, Go's wording of errors, limits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.hub.requests import MalformedBodyError
from muster.hub.rest.json_text import decode_json
from muster.hub.rest.limits import MAX_DEPTH
from muster.hub.status import StatusError
from muster.values.json_faults import find_fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"a":', "unexpected end of JSON input"),
        (b'{"a":tru', "invalid character ' ' in literal true (expecting 'e')"),
        (b"\xc7", "invalid character 'Ç' looking for beginning of value"),
        ('{"a":1é}'.encode(), "invalid character 'Ã' after object key:value pair"),
        (b"{} x", "invalid character 'x' after top-level value"),
    ],
)
def test_errors_are_worded_as_go_words_them(text: bytes, message: str) -> None:
    with pytest.raises(MalformedBodyError) as caught:
        decode_json(text)
    assert caught.value.reason == message


@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(-(2**53), 2**53),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_json_writes_is_read_back_without_duplicates(value: object) -> None:
    for text in (
        json.dumps(value).encode(),
        json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass"),
    ):
        if find_fault(text.decode("utf-8", "surrogateescape")) is None:
            assert decode_json(text) == (value, ())


def test_duplicate_keys_are_found_with_their_paths() -> None:
    text = b'{"a":1,"spec":{"x":1,"x":2,"list":[{"y":1},{"y":1,"y":2}]},"a":2}'
    value, duplicates = decode_json(text)
    assert value == {"a": 2, "spec": {"x": 2, "list": [{"y": 1}, {"y": 2}]}}
    assert duplicates == ("a", "spec.x", "spec.list[1].y")


def test_a_text_that_looks_like_a_key_is_no_duplicate() -> None:
    assert decode_json(rb'{"a":"\"b\":1","b" : "\u0022c\u0022:"}') == ({"a": '"b":1', "b": '"c":'}, ())


def test_integers_beyond_64_bits_become_floats() -> None:
    assert decode_json(b'{"a":[123456789012345678901234567890,9223372036854775807]}')[0] == {
        "a": [1.2345678901234568e29, 2**63 - 1]
    }


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_too_deep_a_body_is_refused(opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    with pytest.raises(StatusError) as caught:
        decode_json(opening * depth + b"1" + closing * depth)
    assert (caught.value.code, caught.value.message) == (400, f"the body nests deeper than {MAX_DEPTH} levels")


def test_a_body_of_the_greatest_depth_is_read() -> None:
    value, _ = decode_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert isinstance(value, list)


def test_invalid_utf8_is_refused() -> None:
    with pytest.raises(MalformedBodyError):
        decode_json(b'{"a":"\xff\xfe"}')


def test_a_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(MalformedBodyError):
        decode_json(b'{"a":1e999}')
