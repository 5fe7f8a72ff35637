"""Several texts as one, each line with the condition under which it is there: what a chart's template is made of.

Objects are made for every combination of settings; whatever differs between them differs by lines. The lines of all
variants are laid beside each other, and each gets the shortest condition that is true of exactly the variants that have
it. Nobody writes a condition by hand, so none can be wrong. Pure; knows neither YAML nor Helm.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Value: TypeAlias = bool | str
Choice: TypeAlias = tuple[Value, ...]  # a value of each switch, in their order


@dataclass(frozen=True, slots=True)
class Switch:
    """Something that can be set, and to what."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and the combinations in which it is there."""

    text: str
    choices: frozenset[Choice]


@dataclass(frozen=True, slots=True)
class Is:
    """One switch has this value."""

    switch: str
    value: Value


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Condition, ...]


Condition: TypeAlias = "bool | Is | Both | Either"


def combinations(switches: Sequence[Switch]) -> list[Choice]:
    return list(product(*(switch.values for switch in switches)))


def relevant(
    variants: Mapping[Choice, Sequence[str]], switches: Sequence[Switch]
) -> tuple[list[Switch], dict[Choice, Sequence[str]]]:
    """The switches that make a difference, and the variants by those alone."""
    kept, found = list(switches), dict(variants)
    for switch in switches:
        place = kept.index(switch)
        shorter: dict[Choice, Sequence[str]] = {}
        differs = False
        for choice, lines in found.items():
            rest = (*choice[:place], *choice[place + 1 :])
            differs = differs or shorter.setdefault(rest, lines) != lines
        if not differs:
            kept, found = kept[:place] + kept[place + 1 :], shorter
    return kept, found


def woven(variants: Mapping[Choice, Sequence[str]]) -> list[Line]:
    """All lines of all variants, in an order in which each variant has its own."""
    found: list[tuple[str, set[Choice]]] = []
    alike: dict[tuple[str, ...], set[Choice]] = {}
    for choice, lines in variants.items():
        alike.setdefault(tuple(lines), set()).add(choice)
    for lines, choices in alike.items():
        matcher = SequenceMatcher(None, [text for text, _ in found], lines, autojunk=False)
        merged: list[tuple[str, set[Choice]]] = []
        for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
            if kind == "equal":
                merged += [(text, seen | choices) for text, seen in found[old_start:old_end]]
            else:
                merged += found[old_start:old_end]
                merged += [(text, set(choices)) for text in lines[new_start:new_end]]
        found = merged
    return [Line(text, frozenset(seen)) for text, seen in found]


def condition(wanted: frozenset[Choice], among: frozenset[Choice], switches: Sequence[Switch]) -> Condition:
    """What is true of exactly these among those combinations; True and False where nothing has to be asked."""
    inside = among & wanted
    if not inside or inside == among:
        return bool(inside)
    # By the switch that settles most: the one with the fewest values that leave something to be asked.
    place = min(range(len(switches)), key=lambda each: _unsettled(wanted, among, switches, each))
    switch = switches[place]
    by_condition: dict[Condition, list[Value]] = {}
    for value, narrowed in _narrowed(among, switches, place).items():
        by_condition.setdefault(condition(wanted, narrowed, switches), []).append(value)
    parts: list[Condition] = []
    for inner, values in by_condition.items():
        here = either([Is(switch.name, value) for value in values])
        if inner is not False:
            parts.append(here if inner is True else inner if len(by_condition) == 1 else both([here, inner]))
    return either(_without_complement(parts, switch))


def _narrowed(among: frozenset[Choice], switches: Sequence[Switch], place: int) -> dict[Value, frozenset[Choice]]:
    """The combinations by the value of one switch; values that none of them has are left out."""
    found = {value: frozenset(each for each in among if each[place] == value) for value in switches[place].values}
    return {value: each for value, each in found.items() if each}


def _unsettled(
    wanted: frozenset[Choice], among: frozenset[Choice], switches: Sequence[Switch], place: int
) -> tuple[bool, int, int]:
    """How many values leave something to be asked; a switch that settles nothing at all comes last."""
    parts = _narrowed(among, switches, place).values()
    return len(parts) < 2, sum(0 < len(each & wanted) < len(each) for each in parts), place


def _without_complement(parts: list[Condition], switch: Switch) -> list[Condition]:
    """`a or (not a and b)` is `a or b`."""
    plain = [part for part in parts if isinstance(part, Is) and part.switch == switch.name]
    if len(plain) != 1 or len(switch.values) != 2:
        return parts
    found: list[Condition] = []
    for part in parts:
        if isinstance(part, Both) and isinstance(part.parts[0], Is) and part.parts[0].switch == switch.name:
            found.append(both(part.parts[1:]))
        else:
            found.append(part)
    return found


def both(parts: Iterable[Condition]) -> Condition:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Both) else (part,))]
    return flat[0] if len(flat) == 1 else Both(tuple(flat))


def either(parts: Iterable[Condition]) -> Condition:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Either) else (part,))]
    return flat[0] if len(flat) == 1 else Either(tuple(flat))
