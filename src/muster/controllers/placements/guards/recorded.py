"""Guards as a server shows them: the fleet's ConfigMap, and what the controllers have written into records.

For whoever plans and does not lead: replicas that stand by, commands with the rights of their user. What is known only
to those who lead is left out: since when a cluster is unwanted, and what a clock showed that was put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.controllers.placements.guards.defaults import defaults_read
from muster.controllers.placements.guards.foresight import guards_of, judged
from muster.controllers.placements.guards.records import belongs_to, memory_of
from muster.controllers.placements.keys import Key
from muster.placement.guards import APPROVAL, NO_FLEET_GUARDS, FleetGuards, FleetState, Memory, recorded
from muster.reasons import Code

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from muster.api.config_map import ConfigMap
    from muster.api.parts import ObjectMeta
    from muster.api.placement_guard_record import PlacementGuardRecord
    from muster.client.heads import Place
    from muster.controllers.placements.decision_pages import DecisionPages
    from muster.controllers.runtime.mirror import Stored
    from muster.placement.guards import Removed, Verdict
    from muster.values.faults import Fault

_BRAKED: Final = frozenset({Code.FLEET_BRAKE, Code.QUIET_TIME, Code.APPROVAL_OUTDATED})  # what else holds is no brake's


class RecordedGuards:
    """Settings and records go in; without any of them the annotations of placements are all that is known.

    `missing`: why there can be no records, if so.
    """

    def __init__(self, decisions: DecisionPages) -> None:
        self.fleet: FleetGuards = NO_FLEET_GUARDS
        self.missing = ""
        self._decisions = decisions
        self._records: dict[Key, PlacementGuardRecord] = {}
        self._summed: tuple[datetime, tuple[Removed, ...], int] | None = None  # what all records have, at a time

    def put_defaults(self, new: Stored[ConfigMap]) -> Fault | None:
        self.fleet, self._summed = defaults_read(new, self.fleet), None
        return new.fault

    def remove_defaults(self, _: Place) -> None:
        self.fleet, self._summed = NO_FLEET_GUARDS, None

    def put_record(self, new: Stored[PlacementGuardRecord]) -> Fault | None:
        self._records[Key(*new.place)], self._summed = new.obj, None
        return new.fault

    def remove_record(self, place: Place) -> None:
        self._records.pop(Key(*place), None)
        self._summed = None

    def found(self, _: object = None) -> None:
        """The server has records after all, if only none yet."""
        self.missing = ""

    def foresee(
        self,
        key: Key,
        placement: ObjectMeta,
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        others: int = 0,
    ) -> Verdict:
        """As the controllers would judge if they started now with what is written down."""
        record = self._records.get(key)
        known = record is not None and belongs_to(record, placement)
        memory = memory_of(record, placement.uid, now) if known and record is not None else Memory(placement.uid)
        guards = guards_of(self.fleet, placement.annotations)
        state = self._state(key, others, now)
        approval = placement.annotations.get(APPROVAL, "")
        return judged(guards, self.fleet, state, present, wanted, (now, now), memory, approval, self.missing)

    def held(self, key: Key) -> Collection[str]:
        record = self._records.get(key)
        return () if record is None or record.held is None else record.held.clusters

    def _state(self, key: Key, others: int, now: datetime) -> FleetState:
        """How the fleet stands, for its brake; nobody asks without one. Plans ask of many placements at one time."""
        if self.fleet.brake is None:
            return FleetState()
        if self._summed is None or self._summed[0] != now:
            known = (each for record in self._records.values() for each in memory_of(record, "", now).removed)
            self._summed = now, recorded(known, now, 0, self.fleet.keep), sum(map(_waiting, self._records.values()))
        _, removed, waiting = self._summed
        own = self._records.get(key)
        pending = waiting - (0 if own is None else _waiting(own)) + others
        return FleetState(self._decisions.total, removed, pending)


def _waiting(record: PlacementGuardRecord) -> int:
    """How many clusters wait that nothing but the brake or a quiet time holds."""
    held = record.held
    return held.count if held is not None and _BRAKED.issuperset(held.reasons) else 0
