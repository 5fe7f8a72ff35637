"""What there is to evaluate for each placement: its compiled plan, the sets it may choose from, or why it is held.

A plan is made when the spec is another, and looks at its sets when they are others, in its own turn: one set may be
bound to thousands of placements. What is in quarantine, or shares an expression or a set with what is, is not
evaluated. The world calls it; writes nothing and wakes nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muster.controllers.placements.keys import Key
from muster.controllers.placements.plugin_times import timed_plan
from muster.controllers.placements.timed_selectors import Tally, TimedSelector, timed
from muster.fleet import DELETION
from muster.placement import Plan, planned, visible
from muster.selectors.cel import cel_compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muster.api.placement import PlacementSpec
    from muster.controllers.placements.evaluation_notes import EvaluationNotes
    from muster.controllers.placements.objects import PlacementObjects
    from muster.controllers.runtime.quarantine import Entry, Quarantine
    from muster.fleet import Fleet
    from muster.placement import Visibility


@dataclass(frozen=True, slots=True)
class Held:
    """Why a placement is not evaluated: it is in quarantine, or something that it needs is (`why` says what)."""

    entry: Entry
    why: str = ""

    def condition(self, namespace: str) -> tuple[str, str, str]:
        if not self.why:
            return self.entry.condition(namespace)
        return self.entry.condition_of_dependent(namespace, self.why)


class Planned(NamedTuple):
    """A plan, and the sets that it may choose from now."""

    plan: Plan
    visibility: Visibility


class PlacementPlans:
    """`report` hears how long each plugin of a schedule took."""

    def __init__(
        self,
        objects: PlacementObjects,
        fleet: Fleet,
        quarantine: Quarantine,
        notes: EvaluationNotes,
        report: Callable[[str, str, float], None],
    ) -> None:
        self.tally = Tally()
        self._objects = objects
        self._fleet = fleet
        self._quarantine = quarantine
        self._notes = notes
        self._report = report
        self._compile_cel = timed(cel_compiler(fleet.scores), self.tally)
        self._plans: dict[Key, Planned] = {}
        self._outdated: set[Key] = (
            set()
        )  # placements with a plan that have not looked at their sets since these changed
        self._held: dict[Key, Held] = {}  # placements that are not evaluated now

    def take_over(self, other: PlacementPlans, keys: Iterable[Key]) -> None:
        """Have the plans of these placements as another has them, over a fork of its fleet with these subscribers."""
        for key in keys:
            if key in other._plans:
                self._plans[key] = other._plans[key]
            if key in other._held:
                self._held[key] = other._held[key]
            if key in other._outdated:
                self._outdated.add(key)

    def is_known(self, key: Key) -> bool:
        """Whether the placement has been looked at before."""
        return key in self._plans or key in self._held

    def forget(self, key: Key) -> None:
        self._plans.pop(key, None)
        self._outdated.discard(key)
        self._held.pop(key, None)
        self._fleet.unsubscribe(key)

    def make(self, key: Key) -> Planned | None:
        """Plan a placement anew; None when it is not to be evaluated."""
        placement = self._objects.placements[key]
        entry = self._quarantine.holds("Placement", placement.obj.metadata)
        if entry is not None:
            self._hold(key, Held(entry))
            return None
        with self._notes.evaluating(key):
            plan = planned(placement.obj, self._compile_cel, unread=placement.fault_in_spec)
            plan = timed_plan(plan, self._report)
        return self._with_sets(key, plan)

    def current(self, key: Key) -> Planned | None:
        """The plan of a placement and what it sees, both as of now; None when it is not to be evaluated."""
        known = self._plans.get(key)
        if known is None:
            return self.make(key)
        return self._with_sets(key, known.plan) if key in self._outdated else known

    def _with_sets(self, key: Key, plan: Plan) -> Planned | None:
        """Look at the sets that are bound now, and follow their members from here on."""
        visibility = visible(plan.cluster_sets, self._objects.bindings.get(key.namespace, {}), self._objects.rules)
        self._outdated.discard(key)
        if (held := self.why_held(plan, visibility)) is not None:
            self._hold(key, held)
            return None
        self._held.pop(key, None)
        self._plans[key] = found = Planned(plan, visibility)
        rules = [rule for _, rule in visibility.eligible]
        # A cluster on its way out is no longer available, whatever else is true of it.
        self._fleet.subscribe(key, plan.selectors, plan.paths | {DELETION}, within=rules, lazily=True)
        return found

    def sets_changed(self, namespace: str, set_name: str) -> frozenset[Key]:
        """Placements of a namespace that may choose from a set look at their sets again."""
        affected = self.choosing(namespace, set_name)
        self._outdated.update(affected)
        return affected

    def choosing(self, namespace: str, set_name: str) -> frozenset[Key]:
        """Placements of a namespace that may choose from a set. So may those that can choose from none: their condition
        tells whether any set is bound."""
        return frozenset(
            key
            for key, placement in self._objects.placements.items()
            if key.namespace == namespace
            and (_may_choose(placement.obj.spec, set_name) or self._can_choose_from_none(key))
        )

    def _can_choose_from_none(self, key: Key) -> bool:
        known = self._plans.get(key)
        return known is not None and not known.visibility.eligible_names

    def cel_seconds(self, key: Key) -> float | None:
        """The time that expressions have taken since this was last asked; None for placements without any.

        Those that take long are from now on evaluated when their placement is worked on, not when a cluster changes.
        """
        known = self.current(key)
        if known is None:
            return None
        masks = (self._fleet.mask(each) for each in known.plan.selectors if isinstance(each, TimedSelector))
        own = [mask.selector for mask in masks if isinstance(mask.selector, TimedSelector)]
        for each in own:
            if each.is_slow:
                self._fleet.defer(each)
        return sum(each.take() for each in own) if own else None

    # ------------------------------------------------------------------------------------------ what is set aside

    def held(self, key: Key) -> Held | None:
        """Why a placement is not evaluated now, if it is not."""
        if key in self._outdated and key in self._objects.placements:
            self.current(key)
        return self._held.get(key)

    def why_held(self, plan: Plan, visibility: Visibility) -> Held | None:
        """Why what is planned must not be evaluated, for what it shares with others: an expression, or a set."""
        entry = self._quarantine.holds_part(_digests(plan))
        if entry is not None:
            return Held(entry, f"It has an expression of {entry.subject}.")
        held = (self.held_set(name) for name in visibility.eligible_names)
        return next((Held(found, f"It chooses from {found.subject}.") for found in held if found is not None), None)

    def held_set(self, name: str) -> Entry | None:
        known = self._objects.sets.get(name)
        return None if known is None else self._quarantine.holds("ManagedClusterSet", known.obj.metadata)

    def set_aside_like(self, spec: PlacementSpec) -> Entry | None:
        """The entry of a placement in quarantine that asks the same, for questions about one that need not be saved."""
        for entry in self._quarantine.entries():
            kind, namespace, name = entry.place
            stored = self._objects.placements.get(Key(namespace, name)) if kind == "Placement" else None
            if stored is None or not entry.is_about(stored.obj.metadata):
                continue
            if stored.obj.spec.predicates == spec.predicates:
                return entry
        return None

    def reconsider(self, key: Key) -> None:
        """The quarantine has changed for a placement. Others may have the same expression."""
        for each in list(self._objects.placements):
            if each == key or each in self._held or self._shares_held_part(each):
                self.make(each)

    def _shares_held_part(self, key: Key) -> bool:
        known = self._plans.get(key)
        return known is not None and self._quarantine.holds_part(_digests(known.plan)) is not None

    def _hold(self, key: Key, held: Held) -> None:
        self._held[key] = held
        self._plans.pop(key, None)
        self._fleet.unsubscribe(key)


def _digests(plan: Plan) -> Iterable[str]:
    return [each.digest for each in plan.selectors if isinstance(each, TimedSelector)]


def _may_choose(spec: PlacementSpec, set_name: str) -> bool:
    return not spec.cluster_sets or set_name in spec.cluster_sets
