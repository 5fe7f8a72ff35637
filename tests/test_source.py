"""Text positions and how faults are shown."""

from __future__ import annotations

import pytest

from muster.source import Diagnostic, Position, Source, Span


def test_positions_count_lines_from_one_and_columns_from_zero() -> None:
    source = Source("a\nbc\n")
    assert [source.position(offset) for offset in range(5)] == [
        Position(1, 0),
        Position(1, 1),
        Position(2, 0),
        Position(2, 1),
        Position(2, 2),
    ]
    assert source.line(2) == "bc"


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("a +\tb", 4, "ERROR: <input>:1:5: no\n | a + b\n | ....^"),
        ("x\n'é' + é", 8, "ERROR: <input>:2:7: no\n | 'é' + é\n | .．....＾"),
        ("", 0, "ERROR: <input>:1:0: no"),
        ("a" * 20_000, 3, "ERROR: <input>:1:4: no"),
    ],
)
def test_a_fault_is_shown_with_its_line_and_a_caret(text: str, offset: int, expected: str) -> None:
    assert Source(text).render(Diagnostic("no", offset)) == expected


def test_a_fault_of_the_whole_text_has_no_place() -> None:
    assert Source("x").render(Diagnostic("too long")) == "ERROR: <input>:-1:0: too long"


def test_two_spans_are_covered_by_the_smallest_that_covers_both() -> None:
    assert Span(3, 5) | Span(1, 4) == Span(1, 5)
