"""Keys: what a query cannot see does not change them, what it can see does."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.classification.outcomes import judge
from muster.classification.projection import Key, Layout
from muster.jq import Program, compile_query

NICS = [{"name": "eth0", "speed": 10}, {"name": "eth1", "speed": 1}]


def key(query: str, inventory: Any) -> Key:
    return seen(compile_query(query), inventory)


def seen(program: Program, inventory: Any) -> Key:
    """What a query sees, where others read elsewhere."""
    layout = Layout(program.reads | compile_query(".z.y == .hostname").reads)
    return layout.key_of(program.reads)(layout.row(msgspec.json.decode(msgspec.json.encode(inventory))))


@pytest.mark.parametrize(
    ("query", "one", "two", "same"),
    [
        (".cpu.count == 2", {"cpu": {"count": 2}}, {"cpu": {"count": 2, "flags": ["x"]}, "disks": []}, True),
        (".cpu.count == 2", {"cpu": {"count": 2}}, {"cpu": {"count": 3}}, False),
        (".cpu.count == 2", {"cpu": {}}, {"cpu": {"count": None}}, False),
        (".cpu.count == 2", {}, {"cpu": {}}, False),
        (".cpu.count == 2", {"cpu": 1}, {"cpu": 2}, False),
        (".cpu.count == 2", {"cpu": {"count": 1}}, {"cpu": {"count": True}}, False),
        ("true", {"cpu": 1}, {"disks": []}, True),
        ("keys | length > 1", {"cpu": 1}, {"cpu": 2}, False),
        ('[.nics[] | select(.name == "eth0") | .speed > 5] | any', {"nics": NICS}, {"nics": NICS[:1]}, True),
        ('[.nics[] | select(.name == "eth0") | .speed > 5] | any', {"nics": NICS}, {"nics": NICS[1:]}, False),
        ('[.nics[] | select(.name == "eth0") | .speed > 5] | any', {"nics": {"a": 1}}, {"nics": {"a": 2}}, False),
        (".nics[0].name == 1", {"nics": NICS}, {"nics": NICS[:1]}, True),
        (".nics[0].name == 1", {"nics": NICS}, {"nics": NICS[1:]}, False),
        (".a == .b", {"a": 1, "b": 2}, {"a": 2, "b": 1}, False),
        (".a == .b", {"a": "x", "b": None}, {"a": "x"}, False),
        (".a == 1", {"a": 1}, {"a": 1.0}, False),
        (".a == 1", {"a": "true"}, {"a": True}, False),
        (".flags | length > 3", {"flags": ["x" * 99]}, {"flags": ["x" * 98 + "y"]}, False),
    ],
)
def test_a_key_changes_exactly_with_what_is_read(query: str, one: Any, two: Any, same: bool) -> None:
    assert (key(query, one) == key(query, two)) is same


def test_keys_stay_short_however_much_is_read() -> None:
    for query in (".", ".flags", ".flags[0]"):
        short = key(query, {"flags": ["x" * 100_000]})
        assert isinstance(short, bytes)
        assert len(short) <= 48
    assert isinstance(key(".name", {"name": "x" * 100_000}), bytes)


def test_a_layout_tells_where_a_row_differs_from_one_of_another_layout() -> None:
    old, new = Layout([("a",), ("b",)]), Layout([("b",), ("c",), ("d",)])
    before = old.row({"a": 1, "b": 1})
    assert new.changed(new.row({"b": 1, "c": 1}), before, old) == {("c",), ("d",)}
    assert new.changed(new.row({"b": True}), before, old) == {("b",), ("c",), ("d",)}
    assert old.changed(before, before, old) == frozenset()


QUERIES = [
    compile_query(text)
    for text in (
        ".a.b == 1",
        ".a.b // .c",
        "[.a[]?] | length > 1",
        '[.a[]? | select(.name == "x") | .v] | any',
        'any(.a[]?; .name == "x" and .v > 1)',
        ".a[0] == .c",
        'has("a") and (.c | not)',
        ".a as {b: $x} | $x == 1",
        "to_entries | length == 2",
        ".c | tostring",
    )
]
leaves = st.sampled_from([None, True, False, 0, 1, 2, "x", "y", 1.5])
members = st.dictionaries(st.sampled_from(["name", "v", "b"]), leaves, max_size=3)
values = st.one_of(leaves, members, st.lists(st.one_of(leaves, members), max_size=3))
inventories = st.dictionaries(st.sampled_from(["a", "c", "z"]), values, max_size=3)


@given(found=st.lists(inventories, min_size=2, max_size=6))
def test_equal_keys_mean_equal_outcomes(found: list[Any]) -> None:
    for program in QUERIES:
        for one, two in itertools.combinations(found, 2):
            if seen(program, one) == seen(program, two):
                assert judge(program, one) == judge(program, two)
