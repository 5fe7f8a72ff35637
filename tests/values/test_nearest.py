"""Names that a misspelt one may have meant."""

from __future__ import annotations

import doctest

from muster.values import nearest as module
from muster.values.nearest import nearest


def test_the_example_runs() -> None:
    assert doctest.testmod(module) == (0, 1)


def test_the_name_itself_and_what_is_much_less_alike_are_not_named() -> None:
    assert nearest("cloud", ["cloud", "clouds", "cl"]) == ["clouds"]
    assert nearest("matchess", ["matches", "math.abs", "patch"]) == ["matches"]
    assert nearest("amazon", ["Amazon", "Azure"]) == ["Amazon"]
    assert nearest("x", []) == []


def test_among_very_many_names_only_a_few_are_compared() -> None:
    known = [f"prod-eu-west-1-{number:05}" for number in range(100_000)]
    assert nearest("prod-eu-west-1-0042", known)[0] in known
    assert all(name.endswith("0042") for name in nearest("zzz-eu-west-1-00042", known))
