"""What guards would say to a change that is only planned: asked of the world, answered by whoever knows most.

Controllers that lead answer with all that they remember (`guarding`). Everybody else has the settings and the records
as a server has them (`recorded`). Nothing is counted here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from muster.placement.guards import ANNOTATIONS, FleetState, Guard, placement_guard, verdict
from muster.reasons import Code, Reason

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from muster.api.parts import ObjectMeta
    from muster.controllers.placements.keys import Key
    from muster.placement.guards import FleetGuards, Memory, Verdict


class Foresight(Protocol):
    """Who knows what guards would say."""

    def foresee(
        self,
        key: Key,
        placement: ObjectMeta,
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        others: int = 0,
    ) -> Verdict:
        """The verdict on a change of a placement with these annotations; others would lose so many clusters with it."""

    def held(self, key: Key) -> Collection[str]:
        """The clusters that are held now."""


def guards_of(fleet: FleetGuards, annotations: Mapping[str, str]) -> list[Guard]:
    """Whoever guards a placement: the fleet, and the placement itself."""
    own = None if ANNOTATIONS.isdisjoint(annotations) else placement_guard(annotations)
    return [each for each in (fleet.guard, own) if each is not None]


def judged(
    guards: list[Guard],
    fleet: FleetGuards,
    state: FleetState,
    present: Collection[str],
    wanted: Collection[str],
    times: tuple[datetime, datetime],
    memory: Memory,
    approval: str,
    missing: str,
) -> Verdict:
    """One verdict for all who ask. `times` are one that is never put back, and what the clock shows.

    `missing` is why nothing can be remembered, if so: then nobody could say what has gone already, and nothing goes.
    """
    steady, now = times
    if missing and (guards or fleet.brake is not None):
        found = verdict([replace(Guard(), min_clusters=len(present) + 1)], present, wanted, now, memory)
        why = Reason(Code.GUARD_UNREMEMBERED, parameters={"fault": missing})
        return replace(found, why=(why,)) if found.held else found
    return verdict(guards, present, wanted, steady, memory, approval, fleet.brake, state, now)
