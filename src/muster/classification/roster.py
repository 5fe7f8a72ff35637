"""The agents and classifications of one namespace, with what every query says of every agent, kept up to date.

The controllers feed it what they see and ask it two things: which labels an agent must carry (`plan`), and how a
classification fares (`tally`). It says who has to be looked at again: agents in `take_due`, classifications in
`take_touched`. A query runs for an agent only when what it can see of the inventory is new to it.
It does not know where objects come from, and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from muster.classification.labels import by_label, plan_labels
from muster.classification.names import LABEL_PREFIX
from muster.classification.outcomes import EMPTY_INVENTORY, MATCH, NO_MATCH, Verdict, failed
from muster.classification.projection import Layout
from muster.classification.queries import Query, Work
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from muster.classification.classification import Classification
    from muster.classification.labels import LabelPlan
    from muster.classification.outcomes import Outcome
    from muster.classification.projection import Key, Row


_NO_LAYOUT = Layout()


@dataclass(slots=True)
class _Agent:
    name: str
    labels: Mapping[str, str]  # those under our prefix
    applied: Mapping[str, str]
    inventory: bytes
    changed: bool = True  # the inventory, since the queries last looked
    layout: Layout = _NO_LAYOUT  # of the row
    row: Row = ()  # what the queries saw when they last looked
    said: dict[str, Outcome] = field(default_factory=dict)  # and what each said, by its text
    unasked: Sequence[str] = ()  # those that have to answer again, when there was no time for all
    plan: LabelPlan | None = None  # as long as nothing it depends on changes
    standings: dict[str, Standing] = field(default_factory=dict)  # by classification, where there is something


class Standing(NamedTuple):
    """How an agent counts for a classification."""

    matched: bool = False
    carrying: bool = False
    failed: str | None = None  # the error's text; empty where it is not known
    missed: str | None = None  # what keeps the label out


@dataclass(slots=True)
class Tally:
    """How a classification fares, by agent. Counts come from the labels that agents carry."""

    matched: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)  # with the error's text, where it is known
    carrying: set[str] = field(default_factory=set)
    missed: dict[str, str] = field(default_factory=dict)  # matches without the label, and what keeps it out

    def put(self, agent: str, standing: Standing) -> None:
        for names, there in ((self.matched, standing.matched), (self.carrying, standing.carrying)):
            if there:
                names.add(agent)
            else:
                names.discard(agent)
        for texts, text in ((self.failed, standing.failed), (self.missed, standing.missed)):
            if text is None:
                texts.pop(agent, None)
            else:
                texts[agent] = text


_NO_STANDING = Standing()
_decode = msgspec.json.Decoder().decode
_UNREAD = object()


def _never() -> bool:
    return False


class _Inventory:
    """An inventory that is decoded when somebody asks for it, once."""

    __slots__ = ("_encoded", "_value")

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._value: Json = _UNREAD

    def __call__(self) -> Json:
        if self._value is _UNREAD:
            self._value = _decode(self._encoded)
        return self._value


class Roster:
    """One namespace. Several may count their work together. `hold`: there are classifications that it is not shown."""

    def __init__(self, work: Work | None = None, *, hold: bool = False) -> None:
        self.work = work or Work()
        self._is_partial = hold
        self._agents: dict[str, _Agent] = {}
        self._classifications: dict[str, Classification] = {}
        self._groups: dict[str, list[Classification]] = {}  # by label, in order of name
        self._hold = hold  # a classification is there whose label is not known
        self._queries: dict[str, Query] = {}
        self._layout = _NO_LAYOUT
        self._keys: dict[str, Callable[[Row], Key]] = {}  # by query: what it sees of a row
        self._tallies: dict[str, Tally] = {}
        self._twins: frozenset[str] = frozenset()
        self._due: set[str] = set()
        self._touched: set[str] = set()

    @property
    def is_empty(self) -> bool:
        return not self._agents and not self._classifications

    # ------------------------------------------------------------------------------------------------ what is there

    def put_agent(
        self, name: str, labels: Mapping[str, str], applied: Mapping[str, str], inventory: bytes | None
    ) -> None:
        """An agent is new or changed. `inventory` is JSON as stored."""
        ours = {key: value for key, value in labels.items() if key.startswith(LABEL_PREFIX)}
        inventory = inventory or EMPTY_INVENTORY
        agent = self._agents.get(name)
        if agent is None:
            self._agents[name] = agent = _Agent(name, {}, applied, inventory)
        elif agent.inventory == inventory and agent.labels == ours and agent.applied == applied:
            return
        elif agent.inventory != inventory:
            agent.changed = True
            agent.inventory = inventory
        self._due.add(name)
        if agent.labels != ours or agent.applied != applied:
            agent.labels, agent.applied, agent.plan = ours, applied, None
            self._count(agent, self._classifications.values())

    def remove_agent(self, name: str) -> None:
        agent = self._agents.pop(name, None)
        if agent is None:
            return
        self._due.discard(name)
        for classification in agent.standings:
            self._touched.add(classification)
            self._tallies[classification].put(name, _NO_STANDING)

    def put_classification(self, classification: Classification) -> None:
        """A classification is new or changed. Its status is looked at in any case, its agents only if it matters."""
        self._touched.add(classification.name)
        before = self._classifications.get(classification.name)
        classification = classification.after(before)
        if before == classification:
            return
        self._classifications[classification.name] = classification
        self._tallies.setdefault(classification.name, Tally())
        self._regroup(classification.label)

    def remove_classification(self, name: str) -> None:
        gone = self._classifications.pop(name, None)
        if gone is not None:
            del self._tallies[name]
            for agent in self._agents.values():
                agent.standings.pop(name, None)
            self._touched.add(name)
            self._regroup(gone.label)

    def classification(self, name: str) -> Classification | None:
        return self._classifications.get(name)

    def is_held(self, classification: Classification) -> bool:
        """Whether its query is not run: it is held itself, or another of the namespace with the same query is."""
        return classification.query not in self._queries

    def query(self, classification: Classification) -> Query:
        return self._queries[classification.query]

    def has_agent(self, name: str) -> bool:
        return name in self._agents

    def agents(self) -> Iterable[str]:
        return self._agents

    def classifications(self) -> Iterable[str]:
        return self._classifications

    def _regroup(self, label: str) -> None:
        """The classifications have changed: who shares what, which queries are in use, who is looked at again."""
        members = sorted(self._classifications.values(), key=lambda each: each.name)
        self._groups = by_label(members)
        self._hold = self._is_partial or any(not each.usable and not each.deleting for each in members)
        texts = {each.query for each in members if not each.held} - {each.query for each in members if each.held}
        known = self._queries
        self._queries = {text: known[text] if text in known else Query(text, self.work) for text in sorted(texts)}
        paths = frozenset().union(*(query.paths for query in self._queries.values()))
        if paths != self._layout.paths:
            self._layout = Layout(paths)
        self._keys = {text: self._layout.key_of(query.paths) for text, query in self._queries.items()}
        self._twins = frozenset(each.name for each in members if any(each.is_twin_of(other) for other in members))
        self._touched.update(each.name for each in members if each.label == label)
        self._due.update(self._agents)
        affected = [each for each in members if each.label == label]
        for agent in self._agents.values():
            agent.plan = None
            self._count(agent, affected)

    # --------------------------------------------------------------------------------------------- who is concerned

    def take_due(self) -> set[str]:
        """The agents to plan again, since this was last asked."""
        due, self._due = self._due, set()
        return due

    def take_touched(self) -> set[str]:
        """The classifications whose tally may have changed, since this was last asked."""
        touched, self._touched = self._touched, set()
        return touched

    # ------------------------------------------------------------------------------------------------------ answers

    def look(self, name: str, is_enough: Callable[[], bool] = _never, *, quick: bool = False) -> bool:
        """Ask the queries that have not seen an agent's inventory, or not this part of it. Whether all have answered.

        It can take as long as the queries may; `is_enough` is asked after each of them. A quick look gives each only
        a small budget and leaves those that need more for another time.
        """
        agent = self._agents.get(name)
        if agent is None:
            return True
        said, inventory = agent.said, _Inventory(agent.inventory)
        try:
            agent.unasked = unasked = self._unasked(agent, inventory)
        except Exception as error:  # whatever an inventory holds, it concerns this agent
            self._fail(agent, f"the inventory cannot be read: {error}")
            return True
        later: list[str] = []
        for position, text in enumerate(unasked, start=1):
            query = self._queries[text]
            was_paused = query.paused is not None
            key = self._keys[text](agent.row)
            outcome = query.outcome(key, inventory, quick=quick, host=name, whole=agent.inventory)
            if outcome is None:
                later.append(text)
            elif said.get(text) is not outcome:
                if outcome.exhausted and query.is_paused and not was_paused:
                    self._forget(text)
                said[text] = outcome
                agent.plan = None
            if is_enough():
                later += unasked[position:]
                break
        agent.unasked = later or ()
        return not later

    def plan(self, name: str) -> LabelPlan | None:
        """What to change on an agent when every query has been asked; None when there is no such agent."""
        self.look(name)
        return self.plan_so_far(name)

    def plan_so_far(self, name: str) -> LabelPlan | None:
        """What to change on an agent by what the queries have said by now."""
        agent = self._agents.get(name)
        if agent is None:
            return None
        if agent.plan is None:
            agent.plan = plan_labels(agent.labels, agent.applied, self._groups, agent.said, hold=self._hold)
            self._count(agent, self._classifications.values())
        return agent.plan

    def labels(self, agent: str) -> Mapping[str, str]:
        """The labels under our prefix that an agent carries."""
        return self._agents[agent].labels

    def applied(self, agent: str) -> Mapping[str, str]:
        """The labels that an agent's record says are ours, by key without the prefix."""
        return self._agents[agent].applied

    def inventory(self, agent: str) -> bytes:
        """What queries see of an agent, as JSON."""
        return self._agents[agent].inventory

    def outcome(self, agent: str, classification: Classification) -> Outcome | None:
        """What a classification says of an agent; None if it has not been asked."""
        return self._agents[agent].said.get(classification.query)

    def outcomes(self, agent: str) -> Iterable[tuple[str, Outcome]]:
        """What every classification said of an agent, as far as it has been asked."""
        said = self._agents[agent].said
        for name, each in sorted(self._classifications.items()):
            if each.query in said:
                yield name, said[each.query]

    def tally(self, name: str) -> Tally:
        return self._tallies[name]

    def has_living_twin(self, classification: Classification) -> bool:
        """Whether another classification, not being deleted, answers for the same label."""
        group = self._groups.get(classification.label, ())
        return any(other.is_twin_of(classification) and not other.deleting for other in group)

    def _unasked(self, agent: _Agent, inventory: _Inventory) -> Sequence[str]:
        """The queries that have not answered for what the agent is now. Its row is up to date afterwards."""
        queries, said, layout, before = self._queries, agent.said, self._layout, (agent.row, agent.layout)
        if len(said) > len(queries):
            for text in said.keys() - queries.keys():
                del said[text]
        has_changed, agent.changed = agent.changed, False
        if has_changed and agent.layout is _NO_LAYOUT:
            said.clear()  # nobody has seen anything of it yet
        unheard = queries.keys() - said.keys()
        if has_changed or (unheard and agent.layout is not layout):
            agent.row, agent.layout = layout.row(inventory()), layout
        if len(unheard) == len(queries):
            return list(queries)
        unheard.update(agent.unasked)
        if has_changed and before != (agent.row, layout):
            changed = layout.changed(agent.row, *before)
            unheard.update(text for text, query in queries.items() if not changed.isdisjoint(query.paths))
        if has_changed:
            # A budget may have been exhausted by what the query does not see.
            unheard.update(text for text, outcome in said.items() if outcome.exhausted)
        return [text for text in queries if text in unheard] if unheard else ()

    def _fail(self, agent: _Agent, text: str) -> None:
        """No query can see anything of the agent, and so each fails on it."""
        agent.said = dict.fromkeys(self._queries, failed(text))
        agent.row, agent.layout, agent.unasked, agent.plan = (), _NO_LAYOUT, (), None

    def _forget(self, text: str) -> None:
        """The query has just been paused: what it said before holds no longer, and those who wait need not."""
        for agent in self._agents.values():
            agent.said.pop(text, None)
        self._due.update(self._agents)
        self._touched.update(each.name for each in self._classifications.values() if each.query == text)

    def _count(self, agent: _Agent, classifications: Iterable[Classification]) -> None:
        """Bring the tallies of some classifications in line with an agent."""
        labels, said, standings = agent.labels, agent.said, agent.standings
        missed = agent.plan.missed if agent.plan is not None else {}
        for each in classifications:
            current = labels.get(each.label)
            outcome = None if each.deleting or not each.usable else said.get(each.query)
            if current is None and (outcome is None or outcome is NO_MATCH or (outcome is MATCH and not missed)):
                standing = _NO_STANDING
            else:
                taken = missed.get(each.name)
                standing = self._standing(each, current, outcome, None if taken is None else str(taken))
            name = each.name
            if standing != standings.get(name, _NO_STANDING):
                self._touched.add(name)
                self._tallies[name].put(agent.name, standing)
                if standing == _NO_STANDING:
                    del standings[name]
                else:
                    standings[name] = standing

    def _standing(
        self, each: Classification, current: str | None, outcome: Outcome | None, missed: str | None
    ) -> Standing:
        verdict = None if outcome is None else outcome.verdict
        shared = outcome is not None and each.name in self._twins  # the label alone does not tell twins apart
        failed: str | None = None
        if verdict is Verdict.FAILED or (current == each.error_value and not shared):
            failed = outcome.text if outcome is not None else ""
        matched = current == each.value and (not shared or verdict is Verdict.MATCH)
        return Standing(matched, each.owns(current), failed, missed)
