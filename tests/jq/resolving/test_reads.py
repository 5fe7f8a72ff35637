"""Reads: which parts of the input can matter."""

from __future__ import annotations

from typing import Any

import pytest

from muster.jq import compile_query
from muster.values.paths import ARRAY, OBJECT, Where


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("1", set()),
        (".", {()}),
        (".cpu.count == 2 and .memory.bytes > 3", {("cpu", "count"), ("memory", "bytes")}),
        ("[.disks[] | select(.size > 5)] | length > 2", {("disks",)}),
        ("any(.disks[]?; .ssd)", {("disks",)}),
        ('any(.disks[]; .name == "sda" and .ssd)', {("disks", Where("name", "sda"))}),
        ('.disks | any(.name == "sda")', {("disks", Where("name", "sda"))}),
        ('.nics[] | select(.name == "eth0") | .speed', {("nics", Where("name", "eth0"))}),
        (".a as {b: $x, c: [$y]} | $x + $y", {("a", "b"), ("a", "c", 0)}),
        (". as $root | .a | $root.z.y", {("z", "y")}),
        (".a.b | 1", {("a", OBJECT)}),
        (".a[0] | 1", {("a", ARRAY)}),
        (".a.b, (.a[0] | 1)", {("a", "b"), ("a", ARRAY)}),
        ("def f: .a; f | f", {("a", "a")}),
        ("def f(g): .a | g; f(.b)", {("a", "b")}),
        (".a // .b.c", {("a",), ("b", "c")}),
        (".a[1:]", {("a",)}),
        (".a[-1]", {("a",)}),
        (".a[0].b", {("a", 0, "b")}),
        ('has("gpus")', {("gpus",)}),
        (".a as [$x, $y] | 1", {("a", ARRAY)}),
        ("reduce .a[] as $x (0; . + $x)", {("a",)}),
        ("{a, b: .c.d}", {("a",), ("c", "d")}),
        ('.vendor | ascii_downcase | test("^dell")', {("vendor",)}),
        ("keys", {()}),
        (".a = 1", {()}),
        ("def f: if .next then .next | f else .x end; f", {()}),
        ("try error(.a) catch .", {("a",)}),
        (". as [$a] ?// $a | $a", {()}),
    ],
)
def test_reads_are_the_paths_that_can_matter(query: str, paths: set[Any]) -> None:
    assert compile_query(query).reads == paths
