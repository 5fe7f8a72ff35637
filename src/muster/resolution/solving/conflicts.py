"""Why there is no answer: a smallest set of facts that exclude each other.

Clauses are put into groups by the caller; a group is switched on and off as one. Minimal means that without any one
group of the set the others can be met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.resolution.solving.encoding import encode
from muster.resolution.solving.sat import Minisat
from muster.resolution.time_limits import GoOn, always

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from muster.resolution.solving.clauses import Clause
    from muster.resolution.solving.sat import Literal, Sat


def minimal_conflict(
    variables: int,
    clauses: Sequence[Clause],
    group_of: Callable[[Clause], Hashable],
    *,
    assumed: Iterable[int] = (),
    go_on: GoOn = always,
) -> list[Hashable] | None:
    """Groups that cannot be met together although any of them left out could be; None if all can.

    `assumed` are variables taken as chosen, no matter why. Of several minimal sets the smallest that a few fixed
    orders of trying give is returned, so the same problem always has the same explanation.
    """
    numbers: dict[Hashable, int] = {}
    for clause in clauses:
        numbers.setdefault(group_of(clause), variables + 1 + len(numbers))
    names = {number: group for group, number in numbers.items()}
    with Minisat(go_on) as sat:
        encode(sat, variables + 1 + len(numbers), clauses, lambda clause: numbers[group_of(clause)])
        for variable in assumed:
            sat.add([variable + 1])
        if sat.solve(list(names)):
            return None
        core = sorted(sat.core())
        forward = _minimised(sat, core)
        backward = _minimised(sat, core[::-1])
    best = min((sorted(forward), sorted(backward)), key=lambda found: (len(found), found))
    return [names[number] for number in best]


def _minimised(sat: Sat, core: Sequence[Literal]) -> list[Literal]:
    """Leave out one at a time whatever is not needed. Every no tells more of what is not."""
    needed = list(core)
    place = 0
    while place < len(needed):
        trial = needed[:place] + needed[place + 1 :]
        if sat.solve(trial):
            place += 1
        else:
            kept = set(sat.core())
            needed = [literal for literal in trial if literal in kept]
            # What stood before `place` was needed in a larger set, so it is needed still.
    return needed
