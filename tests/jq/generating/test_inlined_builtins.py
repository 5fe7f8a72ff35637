"""Builtins with code of their own give what their definitions give, and stop as early."""

from __future__ import annotations

from typing import Any

import pytest

from muster.jq import Limits, compile_query

CASES: list[tuple[str, Any]] = [
    ("any(.[]; . > 1), all(.[]; . > 1), any(.[]; (., 5) > 4), all(.[]; (true, false))", [1, 2]),
    ("any(1, error; . == 1), all(2, error; . == 1), isempty(1, error), isempty(empty)", None),
    ("first(.[]), [first(empty)], first(1, error)", [3, 4]),
    ("[limit(2; .[])], [limit(0; error)], [limit(5; .[])], [.[] | limit(1; ., .)]", [1, 2, 3]),
    ("[recurse], [recurse(.[]?)], [..]", [1, [2, {"b": 3, "a": [4]}]]),
    ("[recurse(if . < 3 then . + 1, . + 2 else empty end)]", 0),
    ("until(. > 100; . * 2), [while(. < 50; . * 3)], [limit(3; repeat(., 1))]", 1),
    ("[while(. < 9; . + 4, . + 5)]", 1),
    ("until(. > 20; . * 2, . * 3)", 5),
    ('walk(if type == "number" then . + 1 else . end), walk(select(. != 1)), walk(., 1)', [1, {"a": [2]}]),
    (".[] |= . + 1, (.[] |= empty), (.[] |= (., 7)), map_values(select(. > 1))", [1, 2, 3]),
    (".[] |= . + 1, map_values(empty), map_values(., 1)", {"b": 1, "a": 2}),
    (".a.b |= . + 1, (.a.b |= empty), (.a.c |= 5), (.a |= (.b, 2))", {"a": {"b": 1}}),
    ("try (.a.b |= 1) catch ., try (.[] |= 1) catch .", {"a": 3}),
    ("[.[] |= 1]", "x"),
]


@pytest.mark.parametrize(("query", "value"), CASES)
def test_inlined_builtins_agree_with_their_definitions(query: str, value: Any) -> None:
    program = compile_query(query)
    wide = Limits(seconds=30)
    try:
        plain: Any = list(program.reference_outputs(value, limits=wide))
    except Exception as error:
        plain = str(error)
    try:
        written: Any = list(program.outputs(value, limits=wide))
    except Exception as error:
        written = str(error)
    assert written == plain


@pytest.mark.parametrize(
    "query",
    [
        "any(range(1e9); . > 3)",
        "first(range(1e9))",
        "[limit(3; range(1e9))]",
        "isempty(range(1e9))",
        "all(range(1e9); . < 3)",
    ],
)
def test_generators_are_left_as_soon_as_the_answer_is_known(query: str) -> None:
    assert len(compile_query(query).run(None, limits=Limits(steps=100))) == 1
