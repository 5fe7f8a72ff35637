"""Sets of field paths: the algebra against plain sets of paths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muster.hub.patches.field_sets import (
    FieldSet,
    Path,
    difference,
    intersection,
    is_field_set,
    is_member,
    path_text,
    paths,
    union,
    union_of,
    without_below,
)

elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "i:0"])
some_paths = st.frozensets(st.lists(elements, min_size=1, max_size=3).map(tuple), max_size=6)


def a_set(of: frozenset[Path]) -> FieldSet:
    result: FieldSet = {}
    for path in of:
        nested: FieldSet = {}
        for element in reversed(path):
            nested = {element: nested}
        result = union(result, nested)
    return result


@given(some_paths)
def test_a_set_holds_the_paths_it_was_made_of(of: frozenset[Path]) -> None:
    made = a_set(of)
    assert is_field_set(made)
    listed = list(paths(made))
    assert len(listed) == len(set(listed))
    assert set(listed) == of


@given(some_paths, some_paths)
def test_union_difference_and_intersection_are_those_of_plain_sets(
    left: frozenset[Path], right: frozenset[Path]
) -> None:
    assert set(paths(union(a_set(left), a_set(right)))) == left | right
    assert set(paths(difference(a_set(left), a_set(right)))) == left - right
    assert set(paths(intersection(a_set(left), a_set(right)))) == left & right


@given(some_paths, some_paths)
def test_without_below_also_takes_what_lies_under_a_member(left: frozenset[Path], right: frozenset[Path]) -> None:
    kept = {path for path in left if not any(path[: len(taken)] == taken for taken in right)}
    assert set(paths(without_below(a_set(left), a_set(right)))) == kept


@given(some_paths, some_paths)
def test_operands_stay_as_they_were(left: frozenset[Path], right: frozenset[Path]) -> None:
    one, other = a_set(left), a_set(right)
    before = repr((one, other))
    for operation in (union, difference, intersection, without_below):
        operation(one, other)
    assert repr((one, other)) == before


def test_a_node_is_a_member_when_it_is_empty_or_says_so() -> None:
    nodes: list[FieldSet] = [{}, {".": {}, "f:a": {}}, {"f:a": {}}]
    assert [is_member(node) for node in nodes] == [True, True, False]


def test_paths_read_as_conflicts_print_them() -> None:
    fields = {
        "f:spec": {
            "f:conditions": {'k:{"status":"x","type":"Ready"}': {"f:message": {}}},
            "f:finalizers": {'v:"a.b/c"': {}},
            "f:items": {"i:3": {}},
        }
    }
    assert [path_text(path) for path in paths(fields)] == [
        '.spec.conditions[status="x",type="Ready"].message',
        '.spec.finalizers[="a.b/c"]',
        ".spec.items[3]",
    ]


def test_what_is_not_a_set_is_recognized() -> None:
    broken: list[object] = [7, {"a": {}}, {"f:a": 1}, {"k:{": {}}, {"k:[]": {}}, {"i:x": {}}]
    assert [is_field_set(fields) for fields in broken] == [False] * 6


@given(st.lists(some_paths, max_size=5))
def test_the_union_of_many_is_the_union_of_unions(many: list[frozenset[Path]]) -> None:
    sets = [a_set(each) for each in many]
    together: FieldSet = {}
    for each in sets:
        together = union(together, each)
    assert union_of(sets) == together
