"""How many outputs a query can have."""

from __future__ import annotations

import pytest

from muster.jq.generating.cardinality import AT_MOST_ONE, MANY, ONE, Cardinality, Count
from muster.jq.generating.scope import TOP
from muster.jq.resolving.resolve import resolve
from muster.jq.syntax.parser import parse
from muster.source import Source


def count(text: str) -> Count:
    source = Source(text)
    return Cardinality().of(resolve(parse(source), source).body, TOP)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (".a.b + 1", ONE),
        ("[.[]] | length", ONE),
        ("any(.[]; .a)", ONE),
        ("if .a then 1 else 2 end", ONE),
        ("try .a catch 1", ONE),
        (".a? // 1", ONE),
        ("reduce .[] as $x (0; . + $x)", ONE),
        ("def f(g): g; f(.a)", ONE),
        (".a |= 1", ONE),
        ("until(. > 9; . + 1)", ONE),
        ('test("a")', ONE),
        ("select(.a)", AT_MOST_ONE),
        (".a?", AT_MOST_ONE),
        ("empty", AT_MOST_ONE),
        ("first(.[])", AT_MOST_ONE),
        ("last(.[])", AT_MOST_ONE),
        (".[]", MANY),
        ("1, 2", MANY),
        ("range(3)", MANY),
        ("def f: f; f", MANY),
        ("def f(g): g; f(.[])", MANY),
        ("{a: (1, 2)}", MANY),
        ("..", MANY),
    ],
)
def test_counts_are_never_too_small(query: str, expected: Count) -> None:
    assert count(query) is expected
