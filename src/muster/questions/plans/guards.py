"""What guards say of a placement in a plan: those that come with the plan, and those of placements and the fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.fleet_plan import GuardVerdict
from muster.controllers.placements.keys import Key
from muster.reasons import Code, sentence
from muster.values.messages import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from muster.api.fleet_plan import PlanGuards
    from muster.controllers.placements.preview import PlacementChange
    from muster.controllers.placements.world import PlacementWorld
    from muster.questions.plans.view import AskersView

REMOVES: Final = "FailIfRemoves"
EMPTY: Final = "FailIfEmpty"
_PASSES: Final = frozenset({Code.QUIET_TIME, Code.OUTSIDE_HOURS})  # they let go what they hold, without anybody's help
_NAMED: Final = 10


def verdicts(change: PlacementChange, guards: PlanGuards) -> Iterator[GuardVerdict]:
    """One of each guard that was asked for."""
    where = f"{change.namespace}/{change.name}"
    if guards.fail_if_removes is not None:
        allowed = len(change.lost) < guards.fail_if_removes
        yield GuardVerdict(REMOVES, allowed, f"{where} would lose {len(change.lost)} of {change.before} clusters")
    if guards.fail_if_empty:
        is_empty = not change.after and not change.is_gone and bool(change.before or change.is_new)
        says = "no cluster" if is_empty else f"{change.after} clusters"
        yield GuardVerdict(EMPTY, not is_empty, f"{where} would have {says}")


class PlacementVerdicts:
    """What the guards of placements and of the fleet would say, were the plan written now. Nothing is counted."""

    def __init__(
        self, world: PlacementWorld, changes: Sequence[PlacementChange], view: AskersView, now: datetime
    ) -> None:
        self._world = world
        self._view = view
        self._now = now
        self._lost = sum(len(each.lost) for each in changes if not each.is_gone)

    def of(self, change: PlacementChange) -> Iterator[GuardVerdict]:
        """None where nothing would be held. Deleting a placement is its user's will.

        What is held without the plan, and what time alone lets go, is told and is no objection to the plan.
        """
        key = Key(change.namespace, change.name)
        stored = self._world.placements.get(key)
        if not change.lost or stored is None:
            return
        guards, staying = self._world.guards, (*change.kept, *change.gained)
        present = (*change.kept, *change.lost)
        others = self._lost - len(change.lost)
        found = guards.foresee(key, stored.obj.metadata, present, staying, self._now, others)
        if not found.held:
            return
        is_old = set(found.held).issubset(guards.held(key))
        shown = listed(list(self._view.seen(found.held))[:_NAMED], most=_NAMED)
        unnamed = len(found.held) - min(len(self._view.seen(found.held)), _NAMED)
        names = f"{shown} and {unnamed} more" if shown and unnamed else shown or "clusters that you may not see"
        deed = "are held already" if is_old else "would stay for now"
        why = "; ".join(sentence(each) for each in found.why)
        allowed = is_old or all(each.code in _PASSES for each in found.why)
        text = f"{change.namespace}/{change.name}: {len(found.held)} of {change.before} clusters {deed}: {names}: {why}"
        yield GuardVerdict(str(found.why[0].code), allowed, text)
