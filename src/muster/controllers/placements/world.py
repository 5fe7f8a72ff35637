"""Everything that placements depend on, as the server has it: the fleet, sets, bindings, decisions, placements.

No I/O: events go in, the keys of placements that may have to be scheduled come out. Which of them these are is decided
by what each placement reads, so that a heartbeat wakes nobody. What we have written ourselves is put in at once, and
wakes nobody when the watch brings it again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from muster.api.parts import Identity
from muster.controllers.placements.changes import ChangeLog, Noted
from muster.controllers.placements.decision_counts import DecisionCounts
from muster.controllers.placements.plugin_times import timed_plan, timed_profile
from muster.controllers.placements.timed_selectors import Tally, TimedSelector, timed
from muster.controllers.runtime.conditions import timestamp
from muster.controllers.runtime.quarantine import Quarantine
from muster.errors import InvalidObjectError
from muster.fleet import DELETION, Fleet, readable_score
from muster.placement import Cycle, Decided, Plan, ScheduleResult, planned, rule_of, schedule, visible
from muster.placement.explain.causes import SCORE, Ref
from muster.placement.schedule.plan import PLACEMENTS
from muster.selectors.cel import cel_compiler
from muster.supervision import Notes, Subject
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from muster.api.addon_placement_score import AddOnPlacementScore
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.api.parts import ObjectMeta
    from muster.api.placement import Placement
    from muster.api.placement_decision import PlacementDecision
    from muster.client.heads import Place
    from muster.controllers.placements.changes import State
    from muster.controllers.runtime.mirror import Stored
    from muster.controllers.runtime.quarantine import Entry
    from muster.fleet import Score
    from muster.fleet.masks import Mask
    from muster.placement import Rule, Visibility
    from muster.selectors import Selector

T = TypeVar("T")
PLACEMENT_LABEL: Final = "cluster.open-cluster-management.io/placement"
DISABLED: Final = "cluster.open-cluster-management.io/experimental-scheduling-disable"


class Key(NamedTuple):
    """A placement."""

    namespace: str
    name: str


class SetKey(NamedTuple):
    """A cluster set, whose members have changed."""

    set_name: str


Told = frozenset[Key | SetKey]
_NOBODY: Final = b""  # the note of a change that is nobody's fault until somebody's selector is evaluated on it


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A PlacementDecision as the server has it."""

    stored: Stored[PlacementDecision]
    owner: Key
    clusters: tuple[str, ...]

    @property
    def metadata(self) -> ObjectMeta:
        return self.stored.obj.metadata


@dataclass(frozen=True, slots=True)
class Held:
    """Why a placement is not evaluated: it is in quarantine, or something that it needs is (`why` says what)."""

    entry: Entry
    why: str = ""

    def condition(self, namespace: str) -> tuple[str, str, str]:
        if not self.why:
            return self.entry.condition(namespace)
        return self.entry.condition_of_dependent(namespace, self.why)


class PlacementWorld:
    """The copy that the placement controller keeps. `report` hears how long each plugin of a schedule took."""

    def __init__(
        self,
        report: Callable[[str, str, float], None] = lambda *_: None,
        quarantine: Quarantine | None = None,
        notes: Notes | None = None,
    ) -> None:
        self.quarantine = quarantine or Quarantine()
        self.notes = notes or Notes()
        self.fleet = Fleet()
        self.fleet.watcher = self._note_mask
        self.tally = Tally()
        self.placements: dict[Key, Stored[Placement]] = {}
        self.sets: dict[str, Stored[ManagedClusterSet]] = {}
        self.rules: dict[str, Rule] = {}  # of the sets; a set that is misconfigured keeps its last good one
        self.bindings: dict[str, dict[str, Stored[ManagedClusterSetBinding]]] = {}
        self.decisions: dict[Place, DecisionPage] = {}
        self._pages_of: dict[Key, set[Place]] = {}
        self._plans: dict[Key, tuple[Plan, Visibility]] = {}
        self._unseen: set[Key] = set()  # placements with a plan that have not looked at their sets since these changed
        self._held: dict[Key, Held] = {}  # placements that are not evaluated now
        self._set_of: dict[Selector, str] = {}  # sets by what selects their members
        self._texts: dict[Key, dict[str, bytes]] = {}  # notes, by part
        self._worked_on: Key | None = None
        self._noted_mask: Mask | None = None
        self._totals = DecisionCounts(self.fleet)
        self._assumed: dict[Key, tuple[str, ...]] = {}
        self._changes: ChangeLog | None = None
        self.catching_up: set[Key] = set()  # placements for which something may have changed unseen
        self._report = report
        self._profile = timed_profile(report)
        self._compile_cel = timed(cel_compiler(self.fleet.scores), self.tally)

    # ---------------------------------------------------------------------------------------- what has happened

    def keep_changes(self) -> ChangeLog:
        """From now on, keep what changes for each placement until it is taken. Before that, who knows what changed."""
        self._changes = ChangeLog(Key)
        self.catching_up = set(self.placements)
        return self._changes

    def drop_changes(self) -> None:
        self._changes = None

    def put_cluster(self, name: str, encoded: bytes) -> Told:
        with self.notes.evaluating(_NOBODY):
            told = _keys(self.fleet.put(encoded))
        if told and self._changes is not None:
            self._changes.note_cluster(told, name, self.fleet.replaced, encoded)
        return told

    def put_clusters(self, objects: Sequence[bytes]) -> None:
        """All clusters as they are now: what has changed since is not told."""
        self.fleet.put_many(objects)
        self.catching_up = set(self.placements)

    def remove_cluster(self, name: str) -> Told:
        told = _keys(self.fleet.remove(name))
        if told and self._changes is not None:
            self._changes.note_cluster(told, name, self.fleet.replaced, None)
        return told

    def put_score(self, new: Stored[AddOnPlacementScore]) -> tuple[Told, Fault | None]:
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
        with self.notes.evaluating(_NOBODY):
            concerned = _keys(self.fleet.put_score(*place, score))
        return self._noted(concerned, SCORE, place, _as_object(before), new.encoded), fault

    def remove_score(self, place: Place) -> Told:
        before = self.fleet.scores.get(*place)
        with self.notes.evaluating(_NOBODY):
            told = _keys(self.fleet.remove_score(*place))
        return self._noted(told, SCORE, place, _as_object(before), None)

    def advance(self, now: datetime) -> Told:
        before = self.fleet.scores.now
        with self.notes.evaluating(_NOBODY):
            told = _keys(self.fleet.advance(now))
        if told and self._changes is not None:
            for until, cluster, name in list(self.fleet.scores.expiries()):
                if before <= until < now:
                    score = _as_object(self.fleet.scores.get(cluster, name))
                    self._changes.note(told, Noted(Ref(SCORE, cluster, name), score, score, expired=True))
        return told

    def put_set(self, new: Stored[ManagedClusterSet]) -> Told:
        name = new.place.name
        before = self.sets.get(name)
        self.sets[name] = new
        if before is not None and not _asks_otherwise(before, new):
            return frozenset()
        self.rules[name] = rule_of(new.obj, self.rules.get(name), new.fault_in_spec)
        self._subscribe_set(name)
        told = self._bound_to(name) | {SetKey(name)}
        return self._noted(told, "ManagedClusterSet", new.place, _encoded(before), new.encoded)

    def _subscribe_set(self, name: str) -> None:
        rule = self.rules[name].membership
        self._forget_rule(name)
        if rule is None or self.held_set(name) is not None:
            self.fleet.unsubscribe(SetKey(name))
        else:
            self._set_of[rule] = name
            self.fleet.subscribe(SetKey(name), [rule], (), lazily=True)

    def _forget_rule(self, name: str) -> None:
        for rule in [rule for rule, owner in self._set_of.items() if owner == name]:
            del self._set_of[rule]

    def remove_set(self, name: str) -> Told:
        before = self.sets.pop(name, None)
        if before is None:
            return frozenset()
        del self.rules[name]
        self._forget_rule(name)
        self.fleet.unsubscribe(SetKey(name))
        told = self._bound_to(name) | {SetKey(name)}
        return self._noted(told, "ManagedClusterSet", before.place, before.encoded, None)

    def member_count(self, name: str) -> int:
        """How many clusters a set has, by its last good rule. Raises InvalidObjectError when there is none.

        All clusters are looked at now that have not been in `steps`.
        """
        rule = self.rules[name]
        if rule.membership is None:
            raise InvalidObjectError("", rule.fault)
        with self.evaluating_set(name):
            return int(self.fleet.mask(rule.membership).selected.sum())

    def evaluating_set(self, name: str) -> AbstractContextManager[None]:
        """Around everything that is evaluated for a set in one go."""
        return self.notes.evaluating(self._set_text(name))

    def put_binding(self, new: Stored[ManagedClusterSetBinding]) -> frozenset[Key]:
        namespace, name = new.place
        bindings = self.bindings.setdefault(namespace, {})
        known = name in bindings
        bindings[name] = new
        if known:
            return frozenset()
        told = self._seen_again(namespace, name)
        return self._noted(told, "ManagedClusterSetBinding", new.place, None, new.encoded)

    def remove_binding(self, place: Place) -> frozenset[Key]:
        before = self.bindings.get(place.namespace, {}).pop(place.name, None)
        if before is None:
            return frozenset()
        return self._noted(self._seen_again(*place), "ManagedClusterSetBinding", place, before.encoded, None)

    def put_placement(self, new: Stored[Placement]) -> frozenset[Key]:
        key = Key(*new.place)
        before = self.placements.get(key)
        self.placements[key] = new
        self._texts.pop(key, None)
        if before is not None and not _asks_otherwise(before, new) and (key in self._plans or key in self._held):
            # Somebody's change of status or metadata: look at it, the plan stands.
            return frozenset({key})
        self._plan(key)
        if self._changes is not None:
            self._changes.note_spec(key, None if before is None else before.plain(), new.plain())
        return self._noted(frozenset({key}), "Placement", key, _encoded(before), new.encoded)

    def remove_placement(self, place: Place) -> frozenset[Key]:
        """A placement is gone; who keeps something for it looks once more."""
        key = Key(*place)
        if self.placements.pop(key, None) is None:
            return frozenset()
        self._plans.pop(key, None)
        self._unseen.discard(key)
        self._held.pop(key, None)
        self._texts.pop(key, None)
        self.fleet.unsubscribe(key)
        self.settle(key)
        self.catching_up.discard(key)
        if self._changes is not None:
            self._changes.take(key)
        return frozenset({key})

    def put_decision(self, new: Stored[PlacementDecision]) -> frozenset[Key]:
        """A page of decisions is new or changed: its placement looks whether that is what it wants."""
        place, metadata = new.place, new.obj.metadata
        before = self.decisions.get(place)
        owner = Key(place.namespace, metadata.labels.get(PLACEMENT_LABEL, ""))
        page = DecisionPage(new, owner, tuple(each.cluster_name for each in new.obj.status.decisions))
        self._forget_page(place)
        self.decisions[place] = page
        if owner not in self._assumed:
            self._totals.add(page.clusters)
        self._pages_of.setdefault(owner, set()).add(place)
        told = frozenset({owner}) & self.placements.keys()
        if owner in self._assumed:
            return told
        return self._noted(told, "PlacementDecision", place, _page_encoded(before), new.encoded)

    def remove_decision(self, place: Place) -> frozenset[Key]:
        before = self.decisions.get(place)
        owner = self._forget_page(place)
        if owner is None or owner not in self.placements:
            return frozenset()
        told = frozenset({owner})
        if owner in self._assumed:
            return told
        return self._noted(told, "PlacementDecision", place, _page_encoded(before), None)

    def _forget_page(self, place: Place) -> Key | None:
        page = self.decisions.pop(place, None)
        if page is None:
            return None
        if page.owner not in self._assumed:
            self._totals.subtract(page.clusters)
        siblings = self._pages_of[page.owner]
        siblings.discard(place)
        if not siblings:
            del self._pages_of[page.owner]
        return page.owner

    # ------------------------------------------------------------------------------------------------- deciding

    def pages(self, key: Key) -> list[DecisionPage]:
        """The pages that a placement has now."""
        return [self.decisions[place] for place in sorted(self._pages_of.get(key, ()))]

    def decide(self, key: Key, now: datetime) -> ScheduleResult | None:
        """Schedule a placement; None when it is not to be touched."""
        placement = self.placements.get(key)
        if placement is None or placement.obj.metadata.is_going:
            return None
        if placement.obj.metadata.annotations.get(DISABLED) == "true":
            return None
        planned = self._planned(key)
        if planned is None:
            return None
        plan, seen = planned
        return schedule(Cycle(plan, self.fleet, seen, now, self.decided(key)), self._profile)

    def steps(self, key: Key | SetKey) -> Iterator[None]:
        """Evaluate what `decide` or `member_count` will need, a bit at a time. Others may go on between the bits."""
        if isinstance(key, Key) and key in self.placements:
            self._planned(key)
        return self.fleet.steps(key)

    def cel_seconds(self, key: Key) -> float | None:
        """The time that expressions have taken since this was last asked; None for placements without any.

        Those that take long are from now on evaluated when their placement is worked on, not when a cluster changes.
        """
        planned = self._planned(key)
        if planned is None:
            return None
        plan, _ = planned
        own = [self.fleet.mask(each).selector for each in plan.selectors if isinstance(each, TimedSelector)]
        timed_ones = [each for each in own if isinstance(each, TimedSelector)]
        for each in timed_ones:
            if each.is_slow:
                self.fleet.defer(each)
        return sum(each.take() for each in timed_ones) if timed_ones else None

    def assume(self, key: Key, clusters: Iterable[str]) -> None:
        """These are about to be decided: other placements count them from now on, not only when they are written."""
        self.settle(key)
        for page in self.pages(key):
            self._totals.subtract(page.clusters)
        self._assumed[key] = tuple(clusters)
        self._totals.add(self._assumed[key])

    def settle(self, key: Key) -> None:
        """What is written counts again."""
        if key not in self._assumed:
            return
        self._totals.subtract(self._assumed.pop(key))
        for page in self.pages(key):
            self._totals.add(page.clusters)

    def _plan(self, key: Key) -> tuple[Plan, Visibility] | None:
        """What there is to evaluate for a placement; None when that is not to be done."""
        placement = self.placements[key]
        entry = self.quarantine.holds("Placement", placement.obj.metadata)
        if entry is not None:
            self._hold(key, Held(entry))
            return None
        with self.evaluating(key):
            plan = planned(placement.obj, self._compile_cel, unread=placement.fault_in_spec)
            plan = timed_plan(plan, self._report)
        return self._see(key, plan)

    def _planned(self, key: Key) -> tuple[Plan, Visibility] | None:
        """The plan of a placement and what it sees, both as of now; None when it is not to be evaluated."""
        if key not in self._plans:
            return self._plan(key)
        return self._see(key, self._plans[key][0]) if key in self._unseen else self._plans[key]

    def _see(self, key: Key, plan: Plan) -> tuple[Plan, Visibility] | None:
        """Look at the sets that are bound now, and follow their members from here on."""
        seen = visible(plan.cluster_sets, self.bindings.get(key.namespace, {}), self.rules)
        self._unseen.discard(key)
        if (held := self.why_held(plan, seen)) is not None:
            self._hold(key, held)
            return None
        self._held.pop(key, None)
        self._plans[key] = (plan, seen)
        rules = [rule for _, rule in seen.eligible]
        # A cluster on its way out is no longer available, whatever else is true of it.
        self.fleet.subscribe(key, plan.selectors, plan.paths | {DELETION}, within=rules, lazily=True)
        return plan, seen

    # ------------------------------------------------------------------------------------------ what is set aside

    def _hold(self, key: Key, held: Held) -> None:
        self._held[key] = held
        self._plans.pop(key, None)
        self.fleet.unsubscribe(key)

    def why_held(self, plan: Plan, seen: Visibility) -> Held | None:
        """Why what is planned must not be evaluated, for what it shares with others: an expression, or a set."""
        entry = self.quarantine.holds_part(each.digest for each in plan.selectors if isinstance(each, TimedSelector))
        if entry is not None:
            return Held(entry, f"It has an expression of {entry.subject}.")
        held = ((name, self.held_set(name)) for name in seen.eligible_names)
        return next((Held(found, f"It chooses from {found.subject}.") for _, found in held if found is not None), None)

    def set_aside_like(self, placement: JsonMapping) -> Entry | None:
        """The entry of a placement in quarantine that asks the same, for questions about one that need not be saved."""
        if not self.quarantine.entries():
            return None
        asked = PLACEMENTS.fitted(placement)
        if isinstance(asked, Fault):
            return None
        for entry in self.quarantine.entries():
            kind, namespace, name = entry.place
            stored = self.placements.get(Key(namespace, name)) if kind == "Placement" else None
            if stored is None or not entry.is_about(stored.obj.metadata):
                continue
            if stored.obj.spec.predicates == asked.obj.spec.predicates:
                return entry
        return None

    def held(self, key: Key) -> Held | None:
        """Why a placement is not evaluated now, if it is not."""
        if key in self._unseen and key in self.placements:
            self._planned(key)
        return self._held.get(key)

    def held_set(self, name: str) -> Entry | None:
        known = self.sets.get(name)
        return None if known is None else self.quarantine.holds("ManagedClusterSet", known.obj.metadata)

    def reconsider(self, kind: str, namespace: str, name: str) -> Told:
        """The quarantine has changed for an object: whoever has to be looked at again."""
        if kind == "ManagedClusterSet" and name in self.sets:
            self._subscribe_set(name)
            return self._bound_to(name) | {SetKey(name)}
        if kind == "Placement":
            # Others may have the same expression.
            for key in list(self.placements):
                if key == (namespace, name) or key in self._held or self._shares_held_part(key):
                    self._plan(key)
            return frozenset(self.placements)
        return frozenset()

    def _shares_held_part(self, key: Key) -> bool:
        plan, _ = self._plans.get(key) or (None, None)
        parts = [each.digest for each in plan.selectors if isinstance(each, TimedSelector)] if plan is not None else []
        return self.quarantine.holds_part(parts) is not None

    def evaluating(self, key: Key) -> AbstractContextManager[None]:
        """Around everything that is evaluated for a placement in one go."""
        self._worked_on = key
        return self.notes.evaluating(self._text(key))

    def _note_mask(self, mask: Mask) -> None:
        """A selector is about to be evaluated: for a set, or for one of the placements that have it."""
        if mask is not self._noted_mask or not self.notes.is_refined:
            self._noted_mask = mask
            self.notes.refine(self._user_of(mask))

    def _user_of(self, mask: Mask) -> bytes:
        """The set whose members are selected, or the placement that is worked on, or any that has the selector."""
        selector = mask.selector
        if (name := self._set_of.get(selector)) is not None:
            return self._set_text(name)
        key = self._worked_on
        if key not in mask.subscribers:
            key = next((each for each in mask.subscribers if isinstance(each, Key)), None)
        if key is None:
            return b""  # somebody's question
        return self._text(key, selector.digest if isinstance(selector, TimedSelector) else "")

    def _text(self, key: Key, part: str = "") -> bytes:
        texts = self._texts.setdefault(key, {})
        if part not in texts:
            known = self.placements.get(key)
            identity = Identity(key.name, key.namespace) if known is None else known.obj.metadata
            texts[part] = Subject.of("Placement", identity, part).text()
        return texts[part]

    def _set_text(self, name: str) -> bytes:
        known = self.sets.get(name)
        return Subject.of("ManagedClusterSet", Identity(name) if known is None else known.obj.metadata).text()

    def decided(self, key: Key) -> Decided:
        """What stands for a placement, and for all others."""
        own_names = [name for page in self.pages(key) for name in page.clusters]
        own = np.zeros(self.fleet.capacity, dtype=np.bool_)
        mine = Counter(own_names)
        # What is assumed is not in the pages, and the other way round: this placement's part is taken out by name.
        foreign, peak = self._totals.without(Counter(self._assumed.get(key, own_names)))
        row_of = self.fleet.row
        for name in mine:
            if (row := row_of(name)) is not None:
                own[row] = True
        return Decided(own, foreign, peak)

    # ----------------------------------------------------------------------------------------------- who is told

    def _noted(self, told: frozenset[T], kind: str, place: tuple[str, str], old: State, new: State) -> frozenset[T]:
        """Those who are told, after noting for them what has changed."""
        if told and self._changes is not None:
            self._changes.note(told, Noted(Ref(kind, *place), old, new))
        return told

    def _bound_to(self, set_name: str) -> frozenset[Key]:
        namespaces = [namespace for namespace, bindings in self.bindings.items() if set_name in bindings]
        return frozenset[Key]().union(*(self._seen_again(namespace, set_name) for namespace in namespaces))

    def _seen_again(self, namespace: str, set_name: str) -> frozenset[Key]:
        """Placements of a namespace that may choose from a set: what they see has changed. It has for those that can
        choose from none, too: their condition tells whether any set is bound."""
        affected = [
            key
            for key, placement in self.placements.items()
            if key.namespace == namespace and (_names(placement.obj, set_name) or self._can_choose_from_none(key))
        ]
        # They look when it is their turn: one set may be bound to thousands of them.
        self._unseen.update(affected)
        return frozenset(affected)

    def _can_choose_from_none(self, key: Key) -> bool:
        planned = self._plans.get(key)
        return planned is not None and not planned[1].eligible_names


def _asks_otherwise(before: Stored[Json], new: Stored[Json]) -> bool:
    """Whether the spec of an object is another. Fields that the struct does not know count by the generation."""
    was, now = before.obj, new.obj
    same = was.spec == now.spec and was.metadata.generation == now.metadata.generation
    return not same or before.fault_in_spec != new.fault_in_spec


def _names(placement: Placement, set_name: str) -> bool:
    return not placement.spec.cluster_sets or set_name in placement.spec.cluster_sets


def _encoded(known: Stored[Json] | None) -> bytes | None:
    return None if known is None else known.encoded


def _page_encoded(page: DecisionPage | None) -> bytes | None:
    return None if page is None else page.stored.encoded


def _as_object(score: Score | None) -> JsonObject | None:
    """What the fleet keeps of a score, as its object has it."""
    if score is None:
        return None
    status: JsonObject = {"scores": list(score.items)}
    if score.valid_until is not None:
        status["validUntil"] = timestamp(score.valid_until)
    return {"status": status}


def _keys(told: Iterable[Hashable]) -> Told:
    """Those who have work to do; others read the fleet too, on trial."""
    return frozenset(key for key in told if isinstance(key, Key | SetKey))
