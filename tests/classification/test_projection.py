"""Keys: what a query cannot see does not change them, what it can see does."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.classification.outcomes import judge
from muster.classification.projection import InventoryView, Key
from muster.jq import compile_query

NICS = [{"name": "eth0", "speed": 10}, {"name": "eth1", "speed": 1}]


def key(query: str, inventory: Any) -> Key:
    paths = tuple(sorted(compile_query(query).reads, key=repr))
    return InventoryView(msgspec.json.encode(inventory)).key(paths)


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
        (".flags | length > 3", {"flags": ["x" * 99]}, {"flags": ["x" * 98 + "y"]}, False),
    ],
)
def test_a_key_changes_exactly_with_what_is_read(query: str, one: Any, two: Any, same: bool) -> None:
    assert (key(query, one) == key(query, two)) is same


def test_keys_stay_short_however_much_is_read() -> None:
    assert sum(map(len, key(".", {"flags": ["x" * 100_000]}))) <= 48


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
        paths = tuple(sorted(program.reads, key=repr))
        for one, two in itertools.combinations(found, 2):
            views = [InventoryView(msgspec.json.encode(each)) for each in (one, two)]
            if views[0].key(paths) == views[1].key(paths):
                assert judge(program, views[0].value) == judge(program, views[1].value)
