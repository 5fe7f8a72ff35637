"""How the taints of all candidates stand against a placement's tolerations, at once.

Clusters rarely differ in which taints they have, but often in when these were added. So the question is settled once
per set of taints without their times, and cluster by cluster only where a toleration in question ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from muster.placement.schedule.tolerations import Taint, taints_of, tolerance, without_times
from muster.selectors.paths import key_path

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import datetime

    from numpy.typing import NDArray

    from muster.fleet.columns import Column
    from muster.placement.schedule.cycle import Cycle

TAINTS: Final = key_path("spec", "taints")


@dataclass(frozen=True, slots=True)
class TaintVerdicts:
    """Of every row: kept out by a taint, disliked because of one, and the moments at which tolerations in use end."""

    blocked: NDArray[np.bool_]
    disliked: NDArray[np.bool_]
    ends: dict[int, datetime]  # by row, where there is one
    dislikes: bool  # whether any row may be disliked


def taint_verdicts(cycle: Cycle) -> TaintVerdicts:
    column = cycle.fleet.column(TAINTS)
    # Most placements tolerate the same, and taints seldom change: somebody may have asked before.
    found = column.computed(cycle.plan.tolerations, lambda: _standing(column, cycle))
    blocked, disliked = found.blocks_new, found.disliked
    if found.blocks_own is not None:
        blocked = np.where(cycle.decided.own, found.blocks_own, blocked)
    ends: dict[int, datetime] = {}
    if len(found.timed):
        blocked, disliked = blocked.copy(), disliked.copy()
        for row in found.timed.tolist():
            exact = taints_of(column.values[column.codes[row]])
            own = bool(cycle.decided.own[row])
            verdict = tolerance(exact, cycle.plan.tolerations, cycle.now, decided=own)
            blocked[row], disliked[row] = verdict.blocked_by is not None, verdict.disliked
            if verdict.until is not None:
                ends[row] = verdict.until
    return TaintVerdicts(blocked, disliked, ends, found.dislikes)


class _Standing(NamedTuple):
    """How the taints of all rows stand against some tolerations, at whatever time and whatever is decided."""

    blocks_new: NDArray[np.bool_]
    blocks_own: NDArray[np.bool_] | None  # None where it is the same for clusters that are decided already
    disliked: NDArray[np.bool_]
    dislikes: bool
    timed: NDArray[np.intp]  # rows on which a toleration in question ends


def _standing(column: Column, cycle: Cycle) -> _Standing:
    timeless = column.derive(without_times)
    # Flags per set of taints, then per value of the column, then per row: one look-up in the size of the fleet.
    flags = np.array([*(_flags(cycle, taints) for taints in timeless.values), 0], dtype=np.uint8)
    by_code = flags[timeless.by_code]

    def carrying(flag: int) -> NDArray[np.bool_]:
        """Rows with this flag. Others who tolerate something else may have asked for the same rows."""
        wanted = by_code & flag != 0
        return column.computed(wanted.tobytes(), lambda: _shared(wanted[column.codes]))

    is_same = bool(((flags & _BLOCKS_NEW) << 1 == (flags & _BLOCKS_OWN)).all())
    return _Standing(
        carrying(_BLOCKS_NEW),
        None if is_same else carrying(_BLOCKS_OWN),
        carrying(_DISLIKED),
        bool((flags & (_DISLIKED | _TIMED)).any()),
        np.flatnonzero(carrying(_TIMED)) if (flags & _TIMED).any() else np.array([], dtype=np.intp),
    )


def _shared(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    mask.flags.writeable = False
    return mask


_BLOCKS_NEW, _BLOCKS_OWN, _DISLIKED, _TIMED = 1, 2, 4, 8


def _flags(cycle: Cycle, taints: Hashable) -> int:
    """How a set of taints stands for clusters that are new, and for those that are decided already."""
    if not isinstance(taints, tuple) or not taints:
        return 0
    if depends_on_time(cycle, taints):
        return _TIMED
    new, own = (tolerance(taints, cycle.plan.tolerations, cycle.now, decided=is_own) for is_own in (False, True))
    return (
        _BLOCKS_NEW * (new.blocked_by is not None)
        + _BLOCKS_OWN * (own.blocked_by is not None)
        + _DISLIKED * own.disliked  # a new one that is not kept out is disliked for the same
    )


def depends_on_time(cycle: Cycle, taints: tuple[Taint, ...]) -> bool:
    """Whether a toleration in question ends some time after a taint was added."""
    return any(
        toleration.seconds is not None and toleration.matches(taint)
        for taint in taints
        for toleration in cycle.plan.tolerations
    )
