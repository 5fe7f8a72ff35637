"""Clauses as the SAT solver takes them. Variable n is literal n + 1; a selector can switch a clause on and off."""

from __future__ import annotations

from itertools import count
from math import isqrt
from typing import TYPE_CHECKING, Final

from muster.resolution.solving.clauses import Clause, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from muster.resolution.solving.sat import Literal, Sat

_PAIRWISE: Final = 6  # up to here every pair is forbidden


def encode(
    sat: Sat, first_free: int, clauses: Iterable[Clause], selector: Callable[[Clause], Literal | None] = lambda _: None
) -> None:
    """Give the clauses to the solver. A clause with a selector holds while that is true.

    `first_free` is the first literal that stands for nothing yet.
    """
    fresh = count(first_free)
    for clause in clauses:
        guard = selector(clause)
        prefix = [] if guard is None else [-guard]
        subject = clause.subject + 1
        match clause.kind:
            case Kind.MANDATORY:
                sat.add([*prefix, subject])
            case Kind.PROHIBITED:
                sat.add([*prefix, -subject])
            case Kind.DEPENDENCY:
                sat.add([*prefix, -subject, *(other + 1 for other in clause.others)])
            case Kind.CONFLICT:
                for other in clause.others:
                    sat.add([*prefix, -subject, -(other + 1)])
            case Kind.AT_MOST:
                literals = [other + 1 for other in dict.fromkeys(clause.others)]
                if clause.most == 1:
                    _at_most_one(sat, literals, prefix, fresh)
                else:
                    _at_most(sat, literals, clause.most, prefix, fresh)
            case Kind.OPTIONAL:
                pass  # asked only when everything else stands


def _at_most_one(sat: Sat, literals: Sequence[Literal], prefix: list[Literal], fresh: Iterator[int]) -> None:
    """Few literals: no pair. Many: put them in a square; at most one row and at most one column has a true one."""
    if len(literals) <= _PAIRWISE:
        for place, left in enumerate(literals):
            for right in literals[place + 1 :]:
                sat.add([*prefix, -left, -right])
        return
    side = isqrt(len(literals) - 1) + 1
    rows = [next(fresh) for _ in range((len(literals) + side - 1) // side)]
    columns = [next(fresh) for _ in range(side)]
    for place, literal in enumerate(literals):
        sat.add([-literal, rows[place // side]])
        sat.add([-literal, columns[place % side]])
    _at_most_one(sat, rows, prefix, fresh)
    _at_most_one(sat, columns, prefix, fresh)


def _at_most(sat: Sat, literals: Sequence[Literal], most: int, prefix: list[Literal], fresh: Iterator[int]) -> None:
    """A sequential counter: row i says how many of the first i literals are true, in unary."""
    if most <= 0:
        for literal in literals:
            sat.add([*prefix, -literal])
        return
    if len(literals) <= most:
        return
    row = [next(fresh) for _ in range(most)]
    sat.add([-literals[0], row[0]])
    for literal in literals[1:]:
        following = [next(fresh) for _ in range(most)]
        sat.add([-literal, following[0]])
        for place in range(most):
            sat.add([-row[place], following[place]])
            if place:
                sat.add([-literal, -row[place - 1], following[place]])
        sat.add([*prefix, -literal, -row[most - 1]])
        row = following
