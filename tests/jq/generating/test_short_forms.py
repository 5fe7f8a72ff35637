"""Natives in their short form: the same outputs, errors and charges as the natives themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.errors import EvaluationError
from muster.jq import compile_query
from muster.jq.budgets import SHORT_TEXT, Limits
from muster.jq.builtins.strings import FREE_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

QUERIES = (
    "length",
    "[.[]?] | length",
    "[.[]?] | length > 1, length >= 2, length < 3, length <= 0, length == 1",
    "[.] | length | . + 1",
    "ascii_downcase",
    "ascii_upcase",
    'startswith("De")',
    'endswith("ll")',
    'startswith("")',
    'test("De")',
    'test("^De")',
    'test("ll$")',
    'test("^Dell$")',
    'test("")',
    'test("D.l")',
    '[.[]? | strings | select(test("^d"))] | length',
)
TEXTS = st.one_of(
    st.text(alphabet="DelL^$.\u00c9\u0130\u212a\n", max_size=8),
    st.sampled_from(
        [
            "Dell" * (FREE_TEXT // 4), "Dell" * (FREE_TEXT // 4) + "D", "x" * SHORT_TEXT + "Dell",
            "Dell" + "x" * SHORT_TEXT, "x" * (SHORT_TEXT - 4) + "Dell", "",
        ]
    ),
)  # fmt: skip
VALUES = st.one_of(
    TEXTS,
    st.sampled_from([None, True, False, 0, 7, -3, 2.5, 2**70, float("nan"), {}, {"a": "Dell"}, [], ["Dell", 1, None]]),
    st.lists(TEXTS, max_size=4),
)


def told(outputs: Callable[[], Iterable[object]]) -> list[object]:
    """All outputs, or the error instead of them."""
    found: list[object] = []
    try:
        found.extend(map(repr, outputs()))
    except EvaluationError as error:
        found.append((type(error), str(error)))
    return found


@pytest.mark.parametrize("query", QUERIES)
@given(value=VALUES)
def test_they_are_the_natives(query: str, value: object) -> None:
    program = compile_query(query)
    expected = told(lambda: list(program.reference_outputs(value)))
    assert told(lambda: program.run(value)) == expected
    assert told(lambda: list(program.outputs(value))) == expected


@pytest.mark.parametrize(
    ("query", "native", "longest"),
    [
        ("ascii_downcase", "ascii_downcase | .", FREE_TEXT),
        ("ascii_upcase", "ascii_upcase | .", FREE_TEXT),
        ('test("^x")', '"^x" as $re | test($re)', SHORT_TEXT),
        ('test("x$")', '"x$" as $re | test($re)', SHORT_TEXT),
    ],
)
def test_longer_texts_are_charged(query: str, native: str, longest: int) -> None:
    def used(text: str, value: str) -> tuple[int, int]:
        program = compile_query(text)
        meter = program.meter()
        list(program.metered(value, meter))
        return meter.steps_used, meter.cells_used

    assert used(query, "x" * longest) == (0, 0)
    assert used(query, "x" * (longest + 1)) == used(native, "x" * (longest + 1)) > (0, 0)


def test_an_array_that_is_counted_is_charged() -> None:
    program = compile_query("[.[]] | length > 1")
    assert program.run([1, 2], limits=Limits(cells=2)) == [True]
    with pytest.raises(EvaluationError, match="budget: cells"):
        program.run([1, 2], limits=Limits(cells=1))
