"""What programs read, and what their cost depends on beside that."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import compile_program, environment, show_path
from muster.values.paths import PRESENT, SIZE, Key, Where

MC = "managedCluster"


def reads(text: str) -> set[tuple[Any, ...]]:
    return set(compile_program(text, environment("muster")).reads)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("true", set()),
        ("managedCluster.metadata.name == 'a'", {(MC, "metadata", "name")}),
        ("managedCluster.metadata.labels['a/b'] == 'x'", {(MC, "metadata", "labels", "a/b")}),
        ("managedCluster.spec.taints[0].key == 'x'", {(MC, "spec", "taints", 0, "key")}),
        ("has(managedCluster.spec.taints)", {(MC, "spec", "taints", PRESENT)}),
        ("has(managedCluster.a) && managedCluster.a.b == 1", {(MC, "a", "b")}),
        ("managedCluster.?a.?b.orValue(1) == 1", {(MC, "a", "b")}),
        ("managedCluster.a[managedCluster.b] == 1", {(MC, "a"), (MC, "b")}),
        ("size(managedCluster.a) > 1 && managedCluster.a.b == 1", {(MC, "a")}),
        ("managedCluster == {}", {(MC,)}),
        ("(true ? managedCluster.a : managedCluster.b).c == 1", {(MC, "a", "c"), (MC, "b", "c")}),
        ("cel.bind(x, managedCluster.a, x.b == 1 || x.c == 2)", {(MC, "a", "b"), (MC, "a", "c")}),
        ("managedCluster.l.map(e, e.a).size() > 0", {(MC, "l")}),
        ("managedCluster.l.exists(e, e.a == managedCluster.b)", {(MC, "l"), (MC, "b")}),
        ("managedCluster.l.exists(e, e.name == 'k' && e.value == 'v')", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.exists(e, e.value == 'v' && 'k' == e.name)", {(MC, "l", Where("value", "v"))}),
        ("managedCluster.l.all(e, e.name != 'k' || e.value == 'v')", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.all(e, !(e.name == 'k') || e.value == 'v')", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.filter(e, e.name == 'k')[0].value == 'v'", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.exists_one(e, e.name == 'k')", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.map(e, e.name == 'k', e.value) == ['v']", {(MC, "l", Where("name", "k"))}),
        ("managedCluster.l.all(e, e.name == 'k')", {(MC, "l")}),
        ("managedCluster.l.exists(e, e.name == 'k' || e.name == 'q')", {(MC, "l")}),
        (
            "managedCluster.scores('cpu').exists(s, s.value > 3)",
            {(MC, "@scores", "cpu"), (MC, "metadata", "name", PRESENT)},
        ),
        (
            "scores(managedCluster, managedCluster.a).exists(s, s.value > 3)",
            {(MC, "@scores"), (MC, "a"), (MC, "metadata", "name", PRESENT)},
        ),
        ("semver(managedCluster.v, true).isGreaterThan(semver('1.0.0'))", {(MC, "v")}),
    ],
)
def test_reads_are_the_constant_paths(text: str, paths: set[tuple[Any, ...]]) -> None:
    assert reads(text) == paths


def test_paths_are_shown_as_they_are_written() -> None:
    text = "has(managedCluster.a.b) || managedCluster.a['b/c'] == 1 || managedCluster.l.exists(e, e.name == 'k')"
    shown = sorted(map(show_path, reads(text)))
    assert shown == ["managedCluster.a.b?", 'managedCluster.a["b/c"]', 'managedCluster.l[name="k"]']


def test_keys_of_other_types_are_steps_of_their_own() -> None:
    assert reads("managedCluster.m[1] == dyn(managedCluster.m[true])") == {(MC, "m", 1), (MC, "m", Key("bool", True))}
    assert show_path((MC, "m", Key("bool", True), 3)) == "managedCluster.m[true][3]"


# --- costs

FIRST = [
    "managedCluster.l.exists(e, e.name == 'wanted')",
    "managedCluster.l.exists(e, e.name == 'wanted' && e.value == 'v')",
    "managedCluster.l.exists(e, e.name == 'wanted' && e.value == 'v' && size(e) > 1 && true)",
    "managedCluster.l.exists(e, 'wanted' == e.name)",
    "managedCluster.l.all(e, e.name != 'wanted' || e.value == 'v')",
    "managedCluster.l.all(e, !(e.name == 'wanted') || e.value == 'v')",
    "!managedCluster.l.all(e, !(!(e.name != 'wanted')))",
    "managedCluster.l.filter(e, e.name == 'wanted').size() > 1",
    "managedCluster.l.exists_one(e, e.name == 'wanted')",
    "managedCluster.l.map(e, e.name == 'wanted', e.value) == ['v']",
    f"managedCluster.l.exists(e, e.name == '{'w' * 95}')",
]
NESTED = [
    "managedCluster.l.exists(e, e.name == 'wanted' && managedCluster.l.exists(f, f.name == 'x'))",
    "managedCluster.l.filter(e, e.name == 'wanted').all(e, managedCluster.l.exists(f, f.name == 'x'))",
    "[1, 2, 3].exists(i, i > 3 || managedCluster.l.exists(f, f.name == 'x'))",
    "managedCluster.l.exists(e, e.name == 'wanted' && managedCluster.l.all(f, f.name != 'y' || "
    "managedCluster.l.exists(g, g.name == 'z')))",
]
LIGHT = [
    "managedCluster.l.exists(e, e.value.contains('v') && e.name == 'wanted')",
    "managedCluster.l.all(e, size(e.value) > 3 || e.name != 'wanted')",
    "managedCluster.l.exists(e, e.value.startsWith('v') && e.value.endsWith('v') && e.name == 'wanted')",
    "managedCluster.l.exists(e, has(e.value) && !(e.value in ['a', 'b']) && e.value >= 'a' && e.name == 'wanted')",
    "managedCluster.l.exists(e, e.value != 'q' && e.name == 'wanted')",
]
LATE = [
    "managedCluster.l.exists(e, e.value == managedCluster.v && e.name == 'wanted')",
    "managedCluster.l.exists(e, e.value.matches('^v') && e.name == 'wanted')",
    "managedCluster.l.exists(e, e.value.contains(managedCluster.v) && e.name == 'wanted')",
    "managedCluster.l.exists(e, managedCluster.l.all(f, f.name != 'x') && e.name == 'wanted')",
    "managedCluster.l.exists(e, size(e.value) > 0 && e.name == 'wanted') && json.encode(managedCluster.v) != ''",
]


def inputs(left_out: int, wanted: int = 3) -> dict[str, Any]:
    """The elements that are looked for come last, so that all others are passed by."""
    others = [{"name": f"other-{number}-{'o' * 100}", "value": "v"} for number in range(left_out)]
    return {MC: {"l": [*others, *([{"name": "wanted", "value": "v"}] * wanted)], "v": "v"}}


@pytest.mark.parametrize("text", [*FIRST, *LIGHT, *NESTED, *LATE])
def test_the_sizes_of_lists_that_are_read_in_part_are_what_only_the_cost_depends_on(text: str) -> None:
    found = compile_program(text, environment("muster")).all_reads
    assert found.costs == {(MC, "l", SIZE)}
    assert (found.most == 0) is (text in LATE)


def test_what_is_read_as_a_whole_has_no_other_cost() -> None:
    found = compile_program("managedCluster.l.exists(e, e.a > 1) && managedCluster.b == 'c'", environment("muster"))
    assert found.all_reads.costs == frozenset()
    assert found.all_reads.per_element(100) == 0


@pytest.mark.parametrize("text", [*FIRST, *LIGHT, *NESTED])
@pytest.mark.parametrize("wanted", [0, 1, 3])
def test_an_element_that_is_left_out_costs_no_more_than_is_said(text: str, wanted: int) -> None:
    program = compile_program(text, environment("muster"))
    costs = {count: program.cost(inputs(count, wanted), 10**9) for count in (0, 1, 2, 50)}
    assert costs[50] > costs[1]
    for few, many in ((0, 1), (0, 50), (1, 2), (2, 50)):
        assert costs[many] - costs[few] <= (many - few) * program.all_reads.per_element(costs[few])


@pytest.mark.parametrize("text", [*FIRST, *LIGHT, *NESTED, *LATE])
@pytest.mark.parametrize("limit", [10, 60, 400, 2000, 60_000])
def test_as_many_elements_as_are_said_to_fit_the_limit_do(text: str, limit: int) -> None:
    program = compile_program(text, environment("muster"))
    cost = program.cost(inputs(0), 10**9)
    most = program.all_reads.elements_within(cost, limit)
    if cost <= limit:
        assert program.cost(inputs(most), 10**9) <= limit
