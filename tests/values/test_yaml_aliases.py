"""What aliases stand for is counted before anything is built."""

from __future__ import annotations

import pytest

from muster.values.yaml_aliases import check_aliases


@pytest.mark.parametrize(
    "text",
    [
        b"a: 1\nb: [2, 3]",
        b"a: &a [1, 2]\nb: *a\nc: *a",
        b"a: &a one\nb: {<<: {c: *a}}",
        b"text: 'this & that, *not* an alias'",
    ],
)
def test_ordinary_texts_pass(text: bytes) -> None:
    check_aliases(text, 100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"a: &a [xxxxxxxxxx, xxxxxxxxxx]\nb: &b [*a, *a]\nc: [*b, *b]",
            "text has more than 100 bytes",
        ),
        (b"a: &a\n  - b\n  - [*a]", "line 3: a value contains itself through \\*a"),
    ],
)
def test_aliases_that_stand_for_too_much_are_refused(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_aliases(text, 100)
