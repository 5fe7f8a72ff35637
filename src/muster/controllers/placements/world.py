"""Everything that placements depend on, as the server has it: the fleet, sets, bindings, decisions, placements.

No I/O: events go in, the keys of placements that may have to be scheduled come out. Which of them these are is decided
by what each placement reads, so that a heartbeat wakes nobody. What we have written ourselves is put in at once, and
wakes nobody when the watch brings it again.

Plans are in `plans.py`, pages of decisions in `decision_pages.py`, what is noted for the supervisor in
`evaluation_notes.py`, and what has changed since the last decision in `changes.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import msgspec

from muster.controllers.duties import ALONE, Duties
from muster.controllers.placements.changes import ChangeLog, Noted
from muster.controllers.placements.decision_pages import DecisionPage, DecisionPages
from muster.controllers.placements.evaluation_notes import EvaluationNotes
from muster.controllers.placements.keys import Key, SetKey, Woken, woken
from muster.controllers.placements.objects import PlacementObjects
from muster.controllers.placements.plans import PlacementPlans
from muster.controllers.placements.plugin_times import timed_profile
from muster.controllers.runtime.conditions import timestamp
from muster.controllers.runtime.quarantine import Quarantine
from muster.errors import InvalidObjectError
from muster.fleet import Fleet, readable_score
from muster.placement import Cycle, ScheduleResult, rule_of, schedule
from muster.placement.explain.causes import SCORE, Ref

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from muster.api.addon_placement_score import AddOnPlacementScore
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.api.placement import Placement
    from muster.api.placement_decision import PlacementDecision
    from muster.client.heads import Place
    from muster.controllers.placements.guards.foresight import Foresight
    from muster.controllers.placements.guards.recorded import RecordedGuards
    from muster.controllers.runtime.mirror import Kind, Stored
    from muster.fleet import Score
    from muster.selectors.paths import Path
    from muster.supervision import Notes
    from muster.values.faults import Fault

K = TypeVar("K", bound=Key | SetKey)
T = TypeVar("T", bound="Kind")
Asking = TypeVar("Asking", "ManagedClusterSet", "Placement")


class PlacementWorld:
    """The copy that the placement controller keeps. `report` hears how long each plugin of a schedule took."""

    def __init__(
        self,
        report: Callable[[str, str, float], None] = lambda *_: None,
        quarantine: Quarantine | None = None,
        notes: Notes | None = None,
        duties: Duties = ALONE,
        fleet: Fleet | None = None,
    ) -> None:
        self.duties = duties
        self.quarantine = quarantine or Quarantine()
        self.fleet = Fleet() if fleet is None else fleet
        self._objects = objects = PlacementObjects()
        self.placements, self.sets, self.rules, self.bindings = (
            objects.placements,
            objects.sets,
            objects.rules,
            objects.bindings,
        )
        self.decisions = DecisionPages(self.fleet)
        self.notes = EvaluationNotes(notes, objects, self.fleet)
        self.plans = PlacementPlans(objects, self.fleet, self.quarantine, self.notes, report)
        self._guards: Foresight | None = None
        self.catching_up: set[Key] = set()  # placements for which something may have changed unseen
        self._changes: ChangeLog | None = None
        self.profile = timed_profile(report)

    @cached_property
    def recorded(self) -> RecordedGuards:
        """Guards as a server shows them, for those who plan."""
        from muster.controllers.placements.guards.recorded import RecordedGuards

        return RecordedGuards(self.decisions)

    @property
    def guards(self) -> Foresight:
        """Whoever leads knows more than what is recorded, and takes its place."""
        return self.recorded if self._guards is None else self._guards

    @guards.setter
    def guards(self, guards: Foresight) -> None:
        self._guards = guards

    def fork(self, keys: Collection[Key | SetKey], paths: Iterable[Path] = (), *, own_scores: bool) -> PlacementWorld:
        """A world of its own to try things in: with these placements as they are planned and decided, and no others;
        with all sets and bindings, all clusters, and what others have decided. Costs a copy of what is looked at.

        Members of sets are followed for the sets among the keys, and for those that the placements choose from.
        """
        placements = [key for key in keys if isinstance(key, Key) and key in self.placements]
        fork = PlacementWorld(quarantine=self.quarantine, fleet=self.fleet.fork(keys, paths, own_scores=own_scores))
        fork.placements.update((key, self.placements[key]) for key in placements)
        fork.sets.update(self.sets)
        fork.rules.update(self.rules)
        fork.bindings.update((namespace, dict(bindings)) for namespace, bindings in self.bindings.items())
        fork.decisions = self.decisions.fork(fork.fleet, placements)
        fork.plans.take_over(self.plans, placements)
        fork.guards = self.guards  # of the world that is forked, not of its copy
        return fork

    # ---------------------------------------------------------------------------------------- what has happened

    def keep_changes(self) -> ChangeLog:
        """From now on, keep what changes for each placement until it is taken. Before that, who knows what changed."""
        self._changes = ChangeLog()
        self.catching_up = set(self.placements)
        return self._changes

    def drop_changes(self) -> None:
        self._changes = None

    def put_cluster(self, name: str, encoded: bytes) -> Woken:
        with self.notes.evaluating_change():
            told = woken(self.fleet.put(encoded))
        if told and self._changes is not None:
            self._changes.note_cluster(told, name, self.fleet.replaced, encoded)
        return told

    def note_loaded(self) -> None:
        """All clusters are as they are now: what has changed since is not told."""
        self.catching_up = set(self.placements)

    def remove_cluster(self, name: str) -> Woken:
        told = woken(self.fleet.remove(name))
        if told and self._changes is not None:
            self._changes.note_cluster(told, name, self.fleet.replaced, None)
        return told

    def put_score(self, new: Stored[AddOnPlacementScore]) -> tuple[Woken, Fault | None]:
        """A score is new or changed; what of it cannot be used, if anything.

        Where it cannot be told until when it is valid, the last good score stays. After a restart there is none: the
        values are used, which are all that is known, so that a mistake in the time alone moves no decision.
        """
        place = new.place
        before = self.fleet.scores.get(*place)
        score, fault = readable_score(new.obj)
        fault = fault or new.fault
        if fault is not None and before is not None:
            return frozenset(), fault
        with self.notes.evaluating_change():
            told = woken(self.fleet.put_score(*place, score))
        if told and self._changes is not None:
            self._changes.note(told, Noted(Ref(SCORE, *place), _encoded_score(before), new.encoded))
        return told, fault

    def remove_score(self, place: Place) -> Woken:
        before = self.fleet.scores.get(*place)
        with self.notes.evaluating_change():
            told = woken(self.fleet.remove_score(*place))
        if told and self._changes is not None:
            self._changes.note(told, Noted(Ref(SCORE, *place), _encoded_score(before), None))
        return told

    def advance(self, now: datetime) -> Woken:
        with self.notes.evaluating_change():
            told = woken(self.fleet.advance(now))
        if told and self._changes is not None:
            for cluster, name in self.fleet.expired:
                score = _encoded_score(self.fleet.scores.get(cluster, name))
                self._changes.note(told, Noted(Ref(SCORE, cluster, name), score, score, expired=True))
        return told

    def put_set(self, new: Stored[ManagedClusterSet]) -> Woken:
        name = new.place.name
        before = self.sets.get(name)
        self.sets[name] = new
        if before is not None and not _asks_otherwise(before, new):
            return frozenset()
        self.rules[name] = rule_of(new.obj, self.rules.get(name), new.fault_in_spec)
        self._follow_members(name)
        return self._noted(self._bound_to(name) | {SetKey(name)}, "ManagedClusterSet", before, new)

    def _follow_members(self, name: str) -> None:
        rule = self.rules[name].membership
        self.notes.forget_set(name)
        if rule is None or self.plans.held_set(name) is not None:
            self.fleet.unsubscribe(SetKey(name))
        else:
            self.notes.follow_set(name, rule)
            self.fleet.subscribe(SetKey(name), [rule], (), lazily=True)

    def remove_set(self, name: str) -> Woken:
        before = self.sets.pop(name, None)
        if before is None:
            return frozenset()
        del self.rules[name]
        self.notes.forget_set(name)
        self.fleet.unsubscribe(SetKey(name))
        return self._noted(self._bound_to(name) | {SetKey(name)}, "ManagedClusterSet", before, None)

    def put_binding(self, new: Stored[ManagedClusterSetBinding]) -> frozenset[Key]:
        namespace, name = new.place
        bindings = self.bindings.setdefault(namespace, {})
        known = name in bindings
        bindings[name] = new
        if known:
            return frozenset()
        return self._noted(self.plans.sets_changed(namespace, name), "ManagedClusterSetBinding", None, new)

    def remove_binding(self, place: Place) -> frozenset[Key]:
        before = self.bindings.get(place.namespace, {}).pop(place.name, None)
        if before is None:
            return frozenset()
        return self._noted(self.plans.sets_changed(*place), "ManagedClusterSetBinding", before, None)

    def put_placement(self, new: Stored[Placement]) -> frozenset[Key]:
        key = Key(*new.place)
        before = self.placements.get(key)
        self.placements[key] = new
        self.notes.forget(key)
        if before is not None and not _asks_otherwise(before, new) and self.plans.is_known(key):
            # Somebody's change of status or metadata: look at it, the plan stands.
            return frozenset({key})
        self.plans.make(key)
        if self._changes is not None:
            self._changes.note_spec(key, before, new)
        return self._noted(frozenset({key}), "Placement", before, new)

    def remove_placement(self, place: Place) -> frozenset[Key]:
        """A placement is gone; who keeps something for it looks once more."""
        key = Key(*place)
        if self.placements.pop(key, None) is None:
            return frozenset()
        self.plans.forget(key)
        self.notes.forget(key)
        self.decisions.settle(key)
        self.catching_up.discard(key)
        if self._changes is not None:
            self._changes.take(key)
        return frozenset({key})

    def put_decision(self, new: Stored[PlacementDecision]) -> frozenset[Key]:
        """A page of decisions is new or changed: its placement looks whether that is what it wants."""
        page = DecisionPage.of(new)
        before = self.decisions.put(page)
        return self._page_told(page.owner, before, new)

    def remove_decision(self, place: Place) -> frozenset[Key]:
        before = self.decisions.remove(place)
        return frozenset() if before is None else self._page_told(before.owner, before, None)

    def _page_told(
        self, owner: Key, before: DecisionPage | None, new: Stored[PlacementDecision] | None
    ) -> frozenset[Key]:
        told = frozenset({owner}) & self.placements.keys()
        if self.decisions.is_assumed(owner):
            return told
        return self._noted(told, "PlacementDecision", None if before is None else before.stored, new)

    # ------------------------------------------------------------------------------------------------- deciding

    def decide(self, key: Key, now: datetime, within: NDArray[np.bool_] | None = None) -> ScheduleResult | None:
        """Schedule a placement; None when it is not to be touched. `within`: as if there were only these clusters."""
        cycle = self.cycle(key, now, within)
        return None if cycle is None else schedule(cycle, self.profile)

    def cycle(self, key: Key, now: datetime, within: NDArray[np.bool_] | None = None) -> Cycle | None:
        """What a placement is scheduled with; None when it is not to be touched."""
        placement = self.placements.get(key)
        if placement is None or placement.obj.metadata.is_going:
            return None
        if self.duties.keeps_away(placement.obj.metadata.annotations) is not None:
            return None
        planned = self.plans.current(key)
        if planned is None:
            return None
        visibility, decided = planned.visibility, self.decisions.decided(key)
        if within is not None:
            visibility, decided = replace(visibility, within=within), replace(decided, own=decided.own & within)
        return Cycle(planned.plan, self.fleet, visibility, now, decided)

    def steps(self, key: Key | SetKey) -> Iterator[None]:
        """Evaluate what `decide` or `member_count` will need, a bit at a time. Others may go on between the bits."""
        if isinstance(key, Key) and key in self.placements:
            self.plans.current(key)
        return self.fleet.steps(key)

    def member_count(self, name: str) -> int:
        """How many clusters a set has, by its last good rule. Raises InvalidObjectError when there is none.

        All clusters are looked at now that have not been in `steps`.
        """
        rule = self.rules[name]
        if rule.membership is None:
            raise InvalidObjectError("", rule.fault)
        with self.notes.evaluating_set(name):
            return int(self.fleet.mask(rule.membership).selected.sum())

    def reconsider(self, kind: str, namespace: str, name: str) -> Woken:
        """The quarantine has changed for an object: whoever has to be looked at again."""
        if kind == "ManagedClusterSet" and name in self.sets:
            self._follow_members(name)
            return self._bound_to(name) | {SetKey(name)}
        if kind == "Placement":
            self.plans.reconsider(Key(namespace, name))
            return frozenset(self.placements)
        return frozenset()

    # ----------------------------------------------------------------------------------------------- who is told

    def _noted(self, told: frozenset[K], kind: str, old: Stored[T] | None, new: Stored[T] | None) -> frozenset[K]:
        """Those who are told, after noting for them what has changed."""
        known = new or old
        if told and self._changes is not None and known is not None:
            before, after = (None if each is None else each.encoded for each in (old, new))
            self._changes.note(told, Noted(Ref(kind, *known.place), before, after))
        return told

    def _bound_to(self, set_name: str) -> Woken:
        namespaces = [namespace for namespace, bindings in self.bindings.items() if set_name in bindings]
        return frozenset[Key | SetKey]().union(*(self.plans.sets_changed(each, set_name) for each in namespaces))


def _asks_otherwise(before: Stored[Asking], new: Stored[Asking]) -> bool:
    """Whether the spec of an object is another. Fields that the struct does not know count by the generation."""
    was, now = before.obj, new.obj
    same = was.spec == now.spec and was.metadata.generation == now.metadata.generation
    return not same or before.fault_in_spec != new.fault_in_spec


def _encoded_score(score: Score | None) -> bytes | None:
    """What the fleet keeps of a score, as its object has it."""
    if score is None:
        return None
    status: dict[str, msgspec.Raw | str] = {"scores": msgspec.Raw(score.encoded)}
    if score.valid_until is not None:
        status["validUntil"] = timestamp(score.valid_until)
    return msgspec.json.encode({"status": status})
