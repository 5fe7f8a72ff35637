"""What programs read, and projections of inputs onto that."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import PRESENT, Absent, Where, compile_program, environment, project, show_path
from muster.cel.reads import freeze
from muster.cel.values import Uint

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


@pytest.mark.parametrize(
    ("path", "value", "projection"),
    [
        (("m", "a"), {"m": {"a": 1}}, ("int", "1")),
        (("m", "a"), {"m": {"a": True}}, ("bool", "True")),
        (("m", "a"), {"m": {}}, Absent(1, "map")),
        (("m", "a"), {"m": "text"}, Absent(1, "string")),
        (("m", "a", "b"), {"m": {"a": []}}, Absent(2, "list")),
        (("m", "a"), {}, Absent(0, "variables")),
        (("m", "a", PRESENT), {"m": {"a": [1, 2]}}, PRESENT),
        (("m", "a", PRESENT), {"m": {}}, Absent(1, "map")),
        (("m", 1), {"m": ["x", "y"]}, "y"),
        (("m", 5), {"m": ["x", "y"]}, Absent(1, "list")),
        (("m", 1.0), {"m": ["x", "y"]}, "y"),
        (("m", Uint(1)), {"m": ["x", "y"]}, "y"),
        (("m", 1.5), {"m": ["x", "y"]}, Absent(1, "list")),
        (("m", ("bool", True)), {"m": ["x", "y"]}, Absent(1, "list")),
        (("m", Where("n", "k")), {"m": [{"n": "k", "v": 1}, {"n": "q"}, {"x": 1}, 7]},
         ("list", freeze({"n": "k", "v": 1}), freeze({"x": 1}), freeze(7))),
        (("m", Where("n", "k")), {"m": "text"}, Absent(1, "string")),
    ],
)  # fmt: skip
def test_a_projection_is_what_can_be_seen_under_a_path(path: Any, value: Any, projection: Any) -> None:
    assert project(path, value) == projection
    hash(project(path, value))


def test_matching_elements_keep_their_order_and_their_duplicates() -> None:
    path = ("m", Where("n", "k"))
    first = project(path, {"m": [{"n": "k", "v": 1}, {"n": "z"}, {"n": "k", "v": 2}]})
    assert first == project(path, {"m": [{"n": "y"}, {"n": "k", "v": 1}, {"n": "k", "v": 2}]})
    assert first != project(path, {"m": [{"n": "k", "v": 2}, {"n": "k", "v": 1}]})
    assert first != project(path, {"m": [{"n": "k", "v": 1}, {"n": "k", "v": 2}, {"n": "k", "v": 2}]})


def test_values_of_any_depth_have_a_key() -> None:
    def nested(innermost: Any) -> Any:
        value = innermost
        for _ in range(5000):
            value = [{"a": value}]
        return value

    assert project(("m",), {"m": nested(1)}) == project(("m",), {"m": nested(1)})
    assert project(("m",), {"m": nested(1)}) != project(("m",), {"m": nested(1.0)})
    assert project(("m",), {"m": nested("1")}) != project(("m",), {"m": nested(1)})
    hash(project(("m",), {"m": nested(1)}))
