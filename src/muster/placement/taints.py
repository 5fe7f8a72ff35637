"""How the taints of all candidates stand against a placement's tolerations, at once.

Clusters rarely differ in which taints they have, but often in when these were added. So the question is settled once
per set of taints without their times, and cluster by cluster only where a toleration in question ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.placement.tolerations import Taint, taints_of, tolerance
from muster.selectors.paths import key_path

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

    from numpy.typing import NDArray

    from muster.placement.cycle import Cycle

TAINTS: Final = key_path("spec", "taints")


@dataclass(frozen=True, slots=True)
class Standings:
    """Of every row: kept out by a taint, disliked because of one, and the moments at which tolerations in use end."""

    blocked: NDArray[np.bool_]
    disliked: NDArray[np.bool_]
    ends: dict[int, datetime]  # by row, where there is one


def standings(cycle: Cycle, candidates: NDArray[np.bool_]) -> Standings:
    column = cycle.fleet.column(TAINTS)
    timeless = column.derive(_without_times)
    codes = timeless.codes(column.codes)
    blocked, disliked = np.zeros_like(candidates), np.zeros_like(candidates)
    ends: dict[int, datetime] = {}
    for code, taints in enumerate(timeless.values):
        if not isinstance(taints, tuple) or not taints:
            continue
        rows = np.flatnonzero(candidates & (codes == code))
        if len(rows) == 0:
            continue
        own = cycle.decided.own[rows]
        if _depends_on_time(cycle, taints):
            for row, is_own in zip(rows.tolist(), own.tolist(), strict=True):
                exact = taints_of(column.values[column.codes[row]])
                standing = tolerance(exact, cycle.plan.tolerations, cycle.now, decided=is_own)
                blocked[row], disliked[row] = standing.blocked_by is not None, standing.disliked
                if standing.until is not None:
                    ends[row] = standing.until
            continue
        for is_own in (False, True):
            standing = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=is_own)
            chosen = rows[own == is_own]
            blocked[chosen], disliked[chosen] = standing.blocked_by is not None, standing.disliked
    return Standings(blocked, disliked, ends)


def _without_times(projection: Hashable) -> tuple[Taint, ...]:
    return tuple(Taint(taint.key, taint.value, taint.effect, None) for taint in taints_of(projection))


def _depends_on_time(cycle: Cycle, taints: tuple[Taint, ...]) -> bool:
    return any(
        toleration.seconds is not None and toleration.matches(taint)
        for taint in taints
        for toleration in cycle.plan.tolerations
    )
