"""The rule about the order of a map's entries, which is another one in Go each time."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from tests.differential.cel.cases import has_loop
from tests.differential.cel.comparing import aspects
from tests.differential.cel.ours import answered
from tests.differential.cel.world import SETS

if TYPE_CHECKING:
    from tests.differential.cel.cases import Case
    from tests.differential.cel.ours import Answer

_SHUFFLES: Final = 100
_REPEATS: Final = 12


def unordered(case: Case) -> bool:
    """Another order of the entries of maps gives, to the letter, what the peer gave once."""
    program = case.program()
    if program is None:
        return False
    given = [case.theirs, *case.ask(case.text, _REPEATS)]
    if any(not aspects(case.ours, answer) for answer in given):
        return True
    pick = random.Random(case.text)
    for _ in range(_SHUFFLES if has_loop(program) else 0):
        shuffled = answered(program, _shuffled(SETS[case.chosen], pick))
        if any(not aspects(shuffled, answer) for answer in given):
            return True
    return _varies(case.ours, given)


def _varies(ours: Answer, given: list[Answer]) -> bool:
    """The peer itself is not of one mind; where it is, we agree."""
    if len({repr(answer) for answer in given}) == 1:
        return False
    for name in ("issues", "creation", "type", "error", "cost", "estimate"):
        said = {getattr(answer, name) for answer in given}
        if len(said) == 1 and said != {getattr(ours, name)} and said != {None}:
            return False
    contents = {repr(_sorted(answer.value)) for answer in given}
    return len(contents) > 1 or repr(_sorted(ours.value)) in contents


def _shuffled(value: Any, pick: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        pick.shuffle(keys)
        return {key: _shuffled(value[key], pick) for key in keys}
    if isinstance(value, list):
        return [_shuffled(each, pick) for each in value]
    return value


def _sorted(value: Any) -> Any:
    """A value without the order of its lists."""
    if isinstance(value, list) and len(value) == 2 and value[0] == "list":
        return ["list", sorted((_sorted(each) for each in value[1]), key=repr)]
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value
