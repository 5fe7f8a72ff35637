"""Classify agents without a server: from plain objects to who gets which label, in one call.

The same rules as the controllers', over the same roster, until nothing changes. `muster classify` prints the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.classification.classification import CLASSIFICATIONS, read_classification
from muster.classification.labels import read_applied
from muster.classification.names import LABEL_PREFIX
from muster.classification.outcomes import EMPTY_INVENTORY
from muster.classification.roster import Roster
from muster.classification.status import report
from muster.errors import InvalidObjectError
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.classification.classification import Classification
    from muster.classification.outcomes import Outcome
    from muster.classification.status import Report

Place = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class ClassifiedAgent:
    """An agent, the labels it would carry, and what every classification of its namespace says of it."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    changes: Mapping[str, str | None]
    outcomes: Mapping[str, Outcome]
    missed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Classified:
    """Agents by namespace and name; how every classification fares in every namespace it counts for."""

    agents: tuple[ClassifiedAgent, ...]
    reports: Mapping[Place, Report]


class Hosts:
    """Agents and classifications of all namespaces: put in, settled, changed, settled again."""

    def __init__(self, *, trusting: bool = False) -> None:
        self.trusting = trusting  # what a server has stored is not checked again
        self._rosters: dict[str, Roster] = {}
        self._inventories: dict[Place, bytes | None] = {}

    def put_agent(self, agent: JsonMapping) -> None:
        metadata = agent["metadata"]
        namespace, name = metadata.get("namespace") or "", metadata["name"]
        self._inventories[namespace, name] = inventory = inventory_of(agent)
        applied = read_applied(metadata.get("annotations"))
        self._roster(namespace).put_agent(name, metadata.get("labels") or {}, applied, inventory)

    def change_agent(self, agent: JsonMapping) -> None:
        """What an apply does: labels are added, and the inventory stays where none is given."""
        metadata = agent["metadata"]
        namespace, name = metadata.get("namespace") or "", metadata["name"]
        if (namespace, name) not in self._inventories:
            self.put_agent(agent)
            return
        roster = self._rosters[namespace]
        inventory = inventory_of(agent) or self._inventories[namespace, name]
        self._inventories[namespace, name] = inventory
        labels = {**roster.labels(name), **(metadata.get("labels") or {})}
        roster.put_agent(name, labels, roster.applied(name), inventory)

    def put_classification(self, obj: JsonMapping) -> None:
        """Without a namespace it counts for every namespace that has something by now.

        Raises InvalidObjectError for a label that cannot be.
        """
        classification = _trusted(obj) if self.trusting else _checked(obj)
        own = obj["metadata"].get("namespace")
        for namespace in [own] if own else list(self._rosters):
            self._roster(namespace).put_classification(classification)

    def remove_agent(self, agent: JsonMapping) -> None:
        namespace, name = agent["metadata"].get("namespace") or "", agent["metadata"]["name"]
        if self._inventories.pop((namespace, name), None) is not None:
            self._rosters[namespace].remove_agent(name)

    def remove_classification(self, obj: JsonMapping) -> None:
        own = obj["metadata"].get("namespace")
        for namespace in [own] if own else list(self._rosters):
            self._roster(namespace).remove_classification(obj["metadata"]["name"])

    def settle(self) -> None:
        """Put every plan into effect, until there is nothing left to change: a query may be paused on the way."""
        for namespace, roster in self._rosters.items():
            while due := roster.take_due():
                for name in sorted(due):
                    plan = roster.plan(name)
                    if plan is not None and not plan.is_empty:
                        after = changed_labels(roster.labels(name), plan.changes)
                        roster.put_agent(name, after, plan.applied, self._inventories[namespace, name])

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

    def classified(self, agent: JsonMapping) -> ClassifiedAgent:
        """An agent that was put in, with the labels that it had then."""
        metadata = agent["metadata"]
        namespace, name, before = metadata.get("namespace") or "", metadata["name"], metadata.get("labels") or {}
        roster = self._rosters[namespace]
        ours = roster.labels(name)
        kept = {key: value for key, value in before.items() if not key.startswith(LABEL_PREFIX)}
        changes: dict[str, str | None] = {key: value for key, value in ours.items() if before.get(key) != value}
        changes |= {key: None for key in before if key.startswith(LABEL_PREFIX) and key not in ours}
        plan = roster.plan(name)
        missed = {} if plan is None else dict(plan.missed)
        return ClassifiedAgent(namespace, name, {**kept, **ours}, changes, dict(roster.outcomes(name)), missed)

    def _roster(self, namespace: str) -> Roster:
        return self._rosters.setdefault(namespace, Roster())


def classify(
    classifications: Iterable[JsonMapping], agents: Iterable[JsonMapping], *, trusting: bool = False
) -> Classified:
    """A classification without a namespace counts for every namespace that has agents.

    Raises InvalidObjectError for a label that cannot be, unless the objects come from a server: there it is only a
    classification that labels nobody, as its report says.
    """
    hosts = Hosts(trusting=trusting)
    given = {(agent["metadata"].get("namespace") or "", agent["metadata"]["name"]): agent for agent in agents}
    for agent in given.values():
        hosts.put_agent(agent)
    for obj in classifications:
        hosts.put_classification(obj)
    hosts.settle()
    return Classified(tuple(hosts.classified(agent) for _, agent in sorted(given.items())), hosts.reports())


def inventory_of(agent: JsonMapping) -> bytes | None:
    """The inventory of an agent object, encoded. Raises InvalidObjectError for what JSON cannot say."""
    inventory = (agent.get("status") or {}).get("inventory")
    try:
        return None if inventory is None else msgspec.json.encode(inventory)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidObjectError(f"Agent {agent['metadata']['name']}", f"status.inventory: {error}") from error


def seen_inventory(agent: JsonMapping) -> Json:
    """The inventory of an agent object as queries see it."""
    return msgspec.json.decode(inventory_of(agent) or EMPTY_INVENTORY)


def changed_labels(labels: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Labels after changes, where None removes one."""
    merged = {**labels, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def _trusted(obj: JsonMapping) -> Classification:
    """As a server has stored it: what cannot be read of it is as if it were not there."""
    found = CLASSIFICATIONS.fitted(obj)
    if isinstance(found, Fault):
        raise InvalidObjectError("AgentClassification", str(found))
    return read_classification(found.obj)


def _checked(obj: JsonMapping) -> Classification:
    spec = obj.get("spec")
    for name in ("labelKey", "labelValue", "query"):
        if not isinstance(spec, dict) or not isinstance(spec.get(name), str):
            raise InvalidObjectError(f"AgentClassification {obj['metadata']['name']}", f"spec.{name} must be a string")
    classification = _trusted(obj)
    if classification.fault:
        raise InvalidObjectError(f"AgentClassification {classification.name}", classification.fault)
    return classification
