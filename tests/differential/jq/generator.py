"""Queries for both programs, always the same for a seed. A `Case` is a query, its input and the local time zone.

Many queries are written by the language's grammar over a host's inventory; the others aim: every builtin and every
operator at arguments of every type, numbers at their edges, regular expressions, dates, literals that few people write,
and queries of people with a word or two exchanged (shapes.py). Nothing here knows how outcomes are compared.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from muster.demo.hosts import an_agent
from tests.differential.jq import vocabulary as v
from tests.differential.jq.shapes import Shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EMPTY_HOST: Final[Any] = {"memory": {}, "cpu": {}, "boot": {}, "systemVendor": {}}
_INPUTS: Final[tuple[Any, ...]] = (
    None, True, 0, 1.5, -3, 10**25, "", "abc", "12", "a,b", [], [1, 2, 3], [[1, 2], [3]], ["a", "b"], {},
    {"a": 1, "b": [1, {"c": "x"}]}, {"a": {"b": {"c": 1}}}, [{"a": 1, "b": "x"}, {"a": 2}], {"a": [1, 2], "b": None},
    [None, True, 1, "a", [], {}], "2015-03-05T23:51:47Z", {"a": [{"b": 1}, {"b": 2}]}, 1425599621,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    query: str
    input: Any
    zone: str = "UTC"

    @property
    def question(self) -> dict[str, str]:
        return {"query": self.query, "input": json.dumps(self.input), "zone": self.zone}


def cases(seed: int) -> Iterator[Case]:
    """Without end."""
    generator = _Generator(random.Random(seed))
    while True:
        yield generator.case()


class _Generator:
    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        shapes = Shapes(dice)
        self.dates = shapes.date
        self.weights: dict[Callable[[], str], int] = {
            shapes.written: 30,
            shapes.question: 10,
            shapes.call: 18,
            shapes.call_on_numbers: 5,
            shapes.operation: 8,
            shapes.real: 4,
            shapes.mutated: 12,
            shapes.expression: 6,
            shapes.date: 6,
            shapes.update: 6,
            shapes.literal: 3,
            shapes.deep: 1,
            shapes.characters: 2,
        }

    def case(self) -> Case:
        (shape,) = self.dice.choices(list(self.weights), list(self.weights.values()))
        zone = self.dice.choice(v.ZONES) if shape == self.dates else "UTC"
        return Case(shape(), self.input(), zone)

    def input(self) -> Any:
        dice = self.dice
        if dice.random() < 0.3:
            return dice.choice(_INPUTS)
        if dice.random() < 0.1:
            return _EMPTY_HOST
        host: dict[str, Any] = an_agent(dice.randrange(50), dice.randrange(50))["status"]["inventory"]
        return host
