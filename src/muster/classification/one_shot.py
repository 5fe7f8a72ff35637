"""Classify agents without a server: from plain objects to who gets which label, in one call.

The same rules as the controllers', over the same roster, until nothing changes. `muster classify` prints the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.agent import Agent
from muster.api.reading import Reader
from muster.classification.classification import CLASSIFICATIONS, read_classification
from muster.classification.labels import read_applied
from muster.classification.names import LABEL_PREFIX
from muster.classification.outcomes import EMPTY_INVENTORY
from muster.classification.roster import Roster
from muster.classification.status import report
from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muster.api.agent_classification import AgentClassification
    from muster.api.parts import Identity
    from muster.classification.labels import Taken
    from muster.classification.outcomes import Outcome
    from muster.classification.status import Report

Place = tuple[str, str]
"""Namespace and name."""
_AGENTS: Final = Reader(Agent)


@dataclass(frozen=True, slots=True)
class ClassifiedAgent:
    """An agent, the labels it would carry, and what every classification of its namespace says of it."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    changes: Mapping[str, str | None]
    outcomes: Mapping[str, Outcome]
    missed: Mapping[str, Taken]


@dataclass(frozen=True, slots=True)
class Classified:
    """Agents by namespace and name; how every classification fares in every namespace it counts for."""

    agents: tuple[ClassifiedAgent, ...]
    reports: Mapping[Place, Report]


class Hosts:
    """Agents and classifications of all namespaces: put in, settled, changed, settled again."""

    def __init__(self, *, trusting: bool = False, hold: bool = False) -> None:
        """`hold`: there are classifications that are not shown, whose labels stay."""
        self.trusting = trusting  # what a server has stored is not checked again
        self._hold = hold
        self._rosters: dict[str, Roster] = {}
        self._inventories: dict[Place, bytes | None] = {}

    def put_agent(self, agent: Agent) -> None:
        applied = read_applied(agent.metadata.annotations)
        self.put_host(_place(agent.metadata), agent.metadata.labels, applied, _inventory(agent))

    def put_host(
        self, place: Place, labels: Mapping[str, str], applied: Mapping[str, str], inventory: bytes | None
    ) -> None:
        """An agent by its parts: all labels, those that are recorded as ours, the inventory as it is stored."""
        self._inventories[place] = inventory
        self.roster(place[0]).put_agent(place[1], labels, applied, inventory)

    def change_agent(self, agent: Agent) -> None:
        """What an apply does: labels are added, and the inventory stays where none is given."""
        namespace, name = place = _place(agent.metadata)
        if place not in self._inventories:
            self.put_agent(agent)
            return
        roster = self._rosters[namespace]
        inventory = _inventory(agent) or self._inventories[place]
        self._inventories[place] = inventory
        labels = {**roster.labels(name), **agent.metadata.labels}
        roster.put_agent(name, labels, roster.applied(name), inventory)

    def put_classification(self, obj: AgentClassification) -> None:
        """Without a namespace it counts for every namespace that has something by now.

        Raises InvalidObjectError for a label that cannot be, unless what a server has stored is trusted.
        """
        classification = read_classification(obj)
        if classification.fault and not self.trusting:
            raise InvalidObjectError(f"AgentClassification {classification.name}", classification.fault)
        for namespace in self._counting_for(obj):
            self.roster(namespace).put_classification(classification)

    def remove_agent(self, agent: Agent) -> None:
        place = _place(agent.metadata)
        if self._inventories.pop(place, None) is not None:
            self._rosters[place[0]].remove_agent(place[1])

    def remove_classification(self, obj: AgentClassification) -> None:
        for namespace in self._counting_for(obj):
            self.roster(namespace).remove_classification(obj.metadata.name)

    def _counting_for(self, obj: AgentClassification) -> list[str]:
        own = obj.metadata.namespace
        return [own] if own else list(self._rosters)

    def settle(self) -> None:
        """Put every plan into effect, until there is nothing left to change."""
        for _ in self.settling():
            pass

    def settling(self) -> Iterator[bool]:
        """The same a bit at a time: true where the next bit may take as long as a query may. A query may be paused on
        the way, so that agents have another turn."""
        for namespace, roster in self._rosters.items():
            while due := roster.take_due():
                for name in sorted(due):
                    yield False
                    if not roster.look(name, quick=True):
                        yield True
                    plan = roster.plan(name)
                    if plan is not None and not plan.is_empty:
                        after = changed_labels(roster.labels(name), plan.changes)
                        roster.put_agent(name, after, plan.applied, self._inventories[namespace, name])

    def rosters(self) -> list[tuple[str, Roster]]:
        """By namespace."""
        return sorted(self._rosters.items())

    def labels(self) -> dict[Place, Mapping[str, str]]:
        """The labels of classifications that every agent carries."""
        return {place: self._rosters[place[0]].labels(place[1]) for place in self._inventories}

    def reports(self) -> dict[Place, Report]:
        return {
            (namespace, name): report(roster, classification)
            for namespace, roster in sorted(self._rosters.items())
            for name in sorted(roster.classifications())
            if (classification := roster.classification(name)) is not None
        }

    def classified(self, agent: Agent) -> ClassifiedAgent:
        """An agent that was put in, with the labels that it had then."""
        (namespace, name), before = _place(agent.metadata), agent.metadata.labels
        roster = self._rosters[namespace]
        ours = roster.labels(name)
        kept = {key: value for key, value in before.items() if not key.startswith(LABEL_PREFIX)}
        changes: dict[str, str | None] = {key: value for key, value in ours.items() if before.get(key) != value}
        changes |= {key: None for key in before if key.startswith(LABEL_PREFIX) and key not in ours}
        plan = roster.plan(name)
        missed = {} if plan is None else dict(plan.missed)
        return ClassifiedAgent(namespace, name, {**kept, **ours}, changes, dict(roster.outcomes(name)), missed)

    def roster(self, namespace: str) -> Roster:
        """That of a namespace, which begins with it if it has none."""
        if (known := self._rosters.get(namespace)) is None:
            known = self._rosters[namespace] = Roster(hold=self._hold)
        return known


def classify(
    classifications: Iterable[JsonMapping], agents: Iterable[JsonMapping], *, trusting: bool = False
) -> Classified:
    """A classification without a namespace counts for every namespace that has agents.

    Raises InvalidObjectError for a label that cannot be, unless the objects come from a server: there it is only a
    classification that labels nobody, as its report says.
    """
    hosts = Hosts(trusting=trusting)
    given = {_place(agent.metadata): agent for agent in map(agent_read, agents)}
    for agent in given.values():
        hosts.put_agent(agent)
    for obj in classifications:
        hosts.put_classification(classification_read(obj, trusting=trusting))
    hosts.settle()
    return Classified(tuple(hosts.classified(agent) for _, agent in sorted(given.items())), hosts.reports())


def agent_read(agent: JsonMapping) -> Agent:
    """An agent as people write it. Raises InvalidObjectError for an inventory that JSON cannot say."""
    found = _AGENTS.partly(dict(agent))
    if (fault := found.fault_in("status.inventory")) is not None:
        raise InvalidObjectError(f"Agent {found.obj.metadata.name}", f"status.inventory: {fault.message}")
    return found.obj


def classification_read(obj: JsonMapping, *, trusting: bool = False) -> AgentClassification:
    """A classification as people write it. Raises InvalidObjectError for one that says too little.

    Where a server has stored it, what cannot be read of it is as if it were not there.
    """
    found = CLASSIFICATIONS.partly(dict(obj))
    spec = obj.get("spec")
    for name in () if trusting else ("labelKey", "labelValue", "query"):
        if not isinstance(spec, dict) or not isinstance(spec.get(name), str):
            raise InvalidObjectError(f"AgentClassification {found.obj.metadata.name}", f"spec.{name} must be a string")
    return found.obj


def queried_inventory(agent: JsonMapping) -> Json:
    """The inventory of an agent as queries see it."""
    return msgspec.json.decode(_inventory(agent_read(agent)) or EMPTY_INVENTORY)


def _inventory(agent: Agent) -> bytes | None:
    """As it is stored; None where there is none."""
    encoded = bytes(agent.status.inventory)
    return None if encoded in (b"", b"null") else encoded


def _place(metadata: Identity) -> Place:
    return metadata.namespace, metadata.name


def changed_labels(labels: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Labels after changes, where None removes one."""
    merged = {**labels, **changes}
    return {key: value for key, value in merged.items() if value is not None}
