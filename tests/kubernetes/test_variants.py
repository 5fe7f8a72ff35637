"""Several texts as one: every variant comes out again, whatever the texts are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muster.kubernetes.packaging.variants import (
    Both,
    Condition,
    Either,
    Is,
    Switch,
    combinations,
    condition,
    relevant,
    woven,
)

SWITCHES = (Switch("a", (True, False)), Switch("b", ("x", "y", "z")), Switch("c", (True, False)))
ALL = combinations(SWITCHES)


def holds(wanted: Condition, choice: tuple[bool | str, ...]) -> bool:
    values = dict(zip(("a", "b", "c"), choice, strict=True))
    match wanted:
        case bool():
            return wanted
        case Is(switch=name, value=value):
            return values[name] == value
        case Both(parts=parts):
            return all(holds(part, choice) for part in parts)
        case Either(parts=parts):
            return any(holds(part, choice) for part in parts)


@given(wanted=st.frozensets(st.sampled_from(ALL)), among=st.frozensets(st.sampled_from(ALL)))
def test_a_condition_is_true_of_exactly_what_is_wanted_among_what_there_is(
    wanted: frozenset[tuple[bool | str, ...]], among: frozenset[tuple[bool | str, ...]]
) -> None:
    found = condition(wanted, among, SWITCHES)
    assert {each for each in among if holds(found, each)} == wanted & among


@given(texts=st.lists(st.lists(st.sampled_from("pqrs"), max_size=6), min_size=len(ALL), max_size=len(ALL)))
def test_every_variant_comes_out_again(texts: list[list[str]]) -> None:
    variants = dict(zip(ALL, texts, strict=True))
    lines = woven(variants)
    for choice, text in variants.items():
        assert [line.text for line in lines if choice in line.choices] == text


def test_switches_that_change_nothing_are_not_asked() -> None:
    variants = {choice: ["always"] + (["sometimes"] if choice[1] == "y" else []) for choice in ALL}
    switches, shorter = relevant(variants, SWITCHES)
    assert switches == [SWITCHES[1]]
    assert shorter == {("x",): ["always"], ("y",): ["always", "sometimes"], ("z",): ["always"]}


def test_conditions_are_short() -> None:
    either_one = frozenset(each for each in ALL if each[0] or each[2])
    assert condition(either_one, frozenset(ALL), SWITCHES) == Either((Is("a", True), Is("c", True)))
