"""Everything that placements depend on, as the server has it: the fleet, sets, bindings, decisions, placements.

No I/O: events go in, the keys of placements that may have to be scheduled come out. Which of them these are is decided
by what each placement reads, so that a heartbeat wakes nobody. What we have written ourselves is put in at once, and
wakes nobody when the watch brings it again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

from muster.controllers.agent_world import number_of
from muster.controllers.conditions import timestamp
from muster.controllers.decision_counts import DecisionCounts
from muster.controllers.evaluation import Tally, TimedSelector, timed
from muster.controllers.placement_changes import ChangeLog, Noted
from muster.controllers.plugin_times import timed_plan, timed_profile
from muster.controllers.quarantine import Quarantine
from muster.errors import InvalidObjectError
from muster.fleet import DELETION, Fleet, readable_score
from muster.placement import Cycle, Decided, Plan, ScheduleResult, plan_of, rule_of, schedule, visible
from muster.placement.causes import SCORE, Ref
from muster.selectors.cel import cel_compiler
from muster.supervision import Notes, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from muster.controllers.quarantine import Entry
    from muster.fleet import Score
    from muster.fleet.masks import Mask
    from muster.placement import Rule, Visibility
    from muster.selectors import Selector

Object = dict[str, Any]
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


class UnreadablePartError(InvalidObjectError):
    """A part of an object could not be read. The rest was taken in, and `told` have to know of it."""

    def __init__(self, path: str, reason: str, told: Told) -> None:
        self.told = told
        super().__init__(path, reason)


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A PlacementDecision as the server has it."""

    obj: Object
    owner: Key
    clusters: tuple[str, ...]


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
        self.placements: dict[Key, Object] = {}
        self.sets: dict[str, Object] = {}
        self.rules: dict[str, Rule] = {}  # of the sets; a set that is misconfigured keeps its last good one
        self.bindings: dict[str, dict[str, Object]] = {}
        self.decisions: dict[tuple[str, str], DecisionPage] = {}
        self._pages_of: dict[Key, set[tuple[str, str]]] = {}
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

    def put_cluster(self, encoded: bytes) -> Told:
        with self.notes.evaluating(_NOBODY):
            told = _keys(self.fleet.put(encoded))
        if told and self._changes is not None:
            self._changes.note_cluster(told, decode(encoded)["metadata"]["name"], self.fleet.replaced, encoded)
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

    def put_score(self, obj: Object) -> Told:
        """A score is new or changed. Raises InvalidObjectError when it cannot be told until when it is valid.

        Then the last good score stays. After a restart there is none: the values are used, which are all that is known,
        so that a mistake in the time alone moves no decision.
        """
        place = _place(obj)
        before = self.fleet.scores.get(*place)
        score, fault = readable_score(obj)
        if fault is not None and before is not None:
            raise InvalidObjectError("status.validUntil", str(fault))
        with self.notes.evaluating(_NOBODY):
            concerned = _keys(self.fleet.put_score(*place, score))
        told = self._noted(concerned, SCORE, place, _as_object(before), obj)
        if fault is not None:
            raise UnreadablePartError("status.validUntil", str(fault), told)
        return told

    def remove_score(self, obj: Object) -> Told:
        place = _place(obj)
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

    def put_set(self, obj: Object) -> Told:
        name = obj["metadata"]["name"]
        before = self.sets.get(name)
        self.sets[name] = obj
        if before is not None and before.get("spec") == obj.get("spec"):
            return frozenset()
        self.rules[name] = rule_of(obj, self.rules.get(name))
        self._subscribe_set(name)
        return self._noted(self._bound_to(name) | {SetKey(name)}, "ManagedClusterSet", ("", name), before, obj)

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
        return self._noted(self._bound_to(name) | {SetKey(name)}, "ManagedClusterSet", ("", name), before, None)

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

    def put_binding(self, obj: Object) -> frozenset[Key]:
        namespace, name = place = _place(obj)
        bindings = self.bindings.setdefault(namespace, {})
        known = name in bindings
        bindings[name] = obj
        if known:
            return frozenset()
        return self._noted(self._seen_again(namespace, name), "ManagedClusterSetBinding", place, None, obj)

    def remove_binding(self, obj: Object) -> frozenset[Key]:
        namespace, name = place = _place(obj)
        before = self.bindings.get(namespace, {}).pop(name, None)
        if before is None:
            return frozenset()
        return self._noted(self._seen_again(namespace, name), "ManagedClusterSetBinding", place, before, None)

    def put_placement(self, obj: Object) -> frozenset[Key]:
        key = _key(obj)
        before = self.placements.get(key)
        if before is not None and _is_no_newer(obj, before):
            return frozenset()
        self.placements[key] = obj
        self._texts.pop(key, None)
        if before is not None and before.get("spec") == obj.get("spec") and (key in self._plans or key in self._held):
            # Somebody's change of status or metadata: look at it, the plan stands.
            return frozenset({key})
        self._plan(key)
        if self._changes is not None:
            self._changes.note_spec(key, before, obj)
        return self._noted(frozenset({key}), "Placement", key, before, obj)

    def remove_placement(self, obj: Object) -> frozenset[Key]:
        """A placement is gone; who keeps something for it looks once more."""
        key = _key(obj)
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

    def put_decision(self, obj: Object) -> frozenset[Key]:
        """A page of decisions is new or changed: its placement looks whether that is what it wants."""
        metadata = obj["metadata"]
        place = (metadata["namespace"], metadata["name"])
        before = self.decisions.get(place)
        if before is not None and _is_no_newer(obj, before.obj):
            return frozenset()
        owner = Key(metadata["namespace"], (metadata.get("labels") or {}).get(PLACEMENT_LABEL) or "")
        decisions = (obj.get("status") or {}).get("decisions") or ()
        page = DecisionPage(obj, owner, tuple(str(decision.get("clusterName") or "") for decision in decisions))
        self._forget_page(place)
        self.decisions[place] = page
        if owner not in self._assumed:
            self._totals.add(page.clusters)
        self._pages_of.setdefault(owner, set()).add(place)
        told = frozenset({owner}) & self.placements.keys()
        return told if owner in self._assumed else self._noted(told, "PlacementDecision", place, _obj(before), obj)

    def remove_decision(self, obj: Object) -> frozenset[Key]:
        place = _place(obj)
        before = self.decisions.get(place)
        owner = self._forget_page(place)
        if owner is None or owner not in self.placements:
            return frozenset()
        told = frozenset({owner})
        return told if owner in self._assumed else self._noted(told, "PlacementDecision", place, _obj(before), None)

    def _forget_page(self, place: tuple[str, str]) -> Key | None:
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
        if placement is None or placement["metadata"].get("deletionTimestamp"):
            return None
        if (placement["metadata"].get("annotations") or {}).get(DISABLED) == "true":
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
        entry = self.quarantine.holds("Placement", placement["metadata"])
        if entry is not None:
            self._hold(key, Held(entry))
            return None
        with self.evaluating(key):
            plan = timed_plan(plan_of(placement, self._compile_cel), self._report)
        return self._see(key, plan)

    def _planned(self, key: Key) -> tuple[Plan, Visibility] | None:
        """The plan of a placement and what it sees, both as of now; None when it is not to be evaluated."""
        if key not in self._plans:
            return self._plan(key)
        return self._see(key, self._plans[key][0]) if key in self._unseen else self._plans[key]

    def _see(self, key: Key, plan: Plan) -> tuple[Plan, Visibility] | None:
        """Look at the sets that are bound now, and follow their members from here on."""
        bindings = self.bindings.get(key.namespace, {}).values()
        seen = visible(key.namespace, plan.cluster_sets, bindings, self.rules)
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

    def set_aside_like(self, placement: Mapping[str, Any]) -> Entry | None:
        """The entry of a placement in quarantine that asks the same, for questions about one that need not be saved."""
        wanted = (placement.get("spec") or {}).get("predicates")
        for entry in self.quarantine.entries():
            kind, namespace, name = entry.place
            stored = self.placements.get(Key(namespace, name)) if kind == "Placement" else None
            if stored is None or not entry.is_about(stored["metadata"]):
                continue
            if (stored.get("spec") or {}).get("predicates") == wanted:
                return entry
        return None

    def held(self, key: Key) -> Held | None:
        """Why a placement is not evaluated now, if it is not."""
        if key in self._unseen and key in self.placements:
            self._planned(key)
        return self._held.get(key)

    def held_set(self, name: str) -> Entry | None:
        obj = self.sets.get(name)
        return None if obj is None else self.quarantine.holds("ManagedClusterSet", obj["metadata"])

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
            texts[part] = _subject("Placement", self.placements.get(key), key.namespace, key.name, part).text()
        return texts[part]

    def _set_text(self, name: str) -> bytes:
        return _subject("ManagedClusterSet", self.sets.get(name), "", name).text()

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

    def _noted(
        self, told: frozenset[Any], kind: str, place: tuple[str, str], old: Object | None, new: Object | None
    ) -> frozenset[Any]:
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
            if key.namespace == namespace and (_names(placement, set_name) or self._can_choose_from_none(key))
        ]
        # They look when it is their turn: one set may be bound to thousands of them.
        self._unseen.update(affected)
        return frozenset(affected)

    def _can_choose_from_none(self, key: Key) -> bool:
        planned = self._plans.get(key)
        return planned is not None and not planned[1].eligible_names


def _subject(kind: str, obj: Object | None, namespace: str, name: str, part: str = "") -> Subject:
    metadata = obj["metadata"] if obj is not None else {}
    return Subject(kind, namespace, name, metadata.get("uid") or "", int(metadata.get("generation") or 0), part)


def _is_no_newer(obj: Object, known: Object) -> bool:
    """Whether this is a state of the same object that we have seen, or one from before it."""
    new, old = obj["metadata"], known["metadata"]
    if new.get("uid") != old.get("uid"):
        return False
    ours, theirs = (number_of(each.get("resourceVersion") or "") for each in (old, new))
    return ours is not None and theirs is not None and theirs <= ours


def _names(placement: Object, set_name: str) -> bool:
    wanted: Sequence[str] = (placement.get("spec") or {}).get("clusterSets") or ()
    return not wanted or set_name in wanted


def _key(obj: Object) -> Key:
    return Key(*_place(obj))


def _place(obj: Object) -> tuple[str, str]:
    return (obj["metadata"]["namespace"], obj["metadata"]["name"])


def _obj(page: DecisionPage | None) -> Object | None:
    return None if page is None else page.obj


def _as_object(score: Score | None) -> Object | None:
    """What the fleet keeps of a score, as its object has it."""
    if score is None:
        return None
    status: Object = {"scores": list(score.items)}
    if score.valid_until is not None:
        status["validUntil"] = timestamp(score.valid_until)
    return {"status": status}


def _keys(told: Iterable[Any]) -> Told:
    """Those who have work to do; others read the fleet too, on trial."""
    return frozenset(key for key in told if isinstance(key, Key | SetKey))


def decode(encoded: bytes) -> Object:
    obj: Object = msgspec.json.decode(encoded)
    return obj
