"""Which clusters enter and leave which sets. Only sets and clusters that the asker may get are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from muster.api.fleet_plan import NameList, SetPlan
from muster.controllers.placements.keys import SetKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from muster.controllers.placements.world import PlacementWorld
    from muster.questions.plans.view import AskersView
    from muster.questions.sharing import Work


@dataclass(frozen=True, slots=True)
class Members:
    """Who is in a set, by row; those that are written are by name, because rows may come to mean others."""

    rows: NDArray[np.bool_]
    written: frozenset[str]


def members(
    world: PlacementWorld, keys: Iterable[SetKey], view: AskersView, written: frozenset[str]
) -> Work[dict[str, Members]]:
    """Who is in these sets as the world is."""
    found: dict[str, Members] = {}
    for name in sorted({key.set_name for key in keys if view.tells_of_set(key.set_name)}):
        rule = world.rules[name].membership if name in world.rules else None
        if rule is None or world.plans.held_set(name) is not None:
            found[name] = Members(np.zeros(0, dtype=np.bool_), frozenset())
            continue
        for _ in world.fleet.steps(SetKey(name)):
            yield False
        fleet = world.fleet
        rows = fleet.mask(rule).selected & fleet.present & view.shown(fleet)
        own = [row for each in written if (row := fleet.row(each)) is not None]
        inside = frozenset(fleet.name(row) for row in own if rows[row])
        rows[own] = False
        found[name] = Members(rows, inside)
        yield False
    return found


def set_plans(
    world: PlacementWorld, before: dict[str, Members], after: dict[str, Members], most: int
) -> tuple[SetPlan, ...]:
    """Those whose members change, by name."""
    plans = []
    for name in sorted(before):
        old, new = before[name], after[name]
        gained = {*_names(world, new.rows, old.rows), *(new.written - old.written)}
        lost = {*_names(world, old.rows, new.rows), *(old.written - new.written)}
        fault = world.rules[name].fault if name in world.rules else ""
        if gained or lost or fault:
            plans.append(SetPlan(name, _listed(gained, most), _listed(lost, most), fault))
    return tuple(plans)


def _names(world: PlacementWorld, those: NDArray[np.bool_], without: NDArray[np.bool_]) -> list[str]:
    rows = those.copy()
    shared = min(len(those), len(without))
    rows[:shared] &= ~without[:shared]
    return world.fleet.names(np.flatnonzero(rows).tolist())


def _listed(names: set[str], most: int) -> NameList:
    return NameList(len(names), 0, tuple(sorted(names)[:most]))
