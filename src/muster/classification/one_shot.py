"""Classify agents without a server: from plain objects to who gets which label, in one call.

The same rules as the controllers', over the same roster, until nothing changes. `muster classify` prints the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from muster.classification.classification import read_classification
from muster.classification.labels import read_applied
from muster.classification.names import LABEL_PREFIX
from muster.classification.outcomes import EMPTY_INVENTORY
from muster.classification.roster import Roster
from muster.classification.status import report
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.classification.classification import Classification
    from muster.classification.outcomes import Outcome
    from muster.classification.status import Report

Object = dict[str, Any]


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
    reports: Mapping[tuple[str, str], Report]


def classify(classifications: Iterable[Mapping[str, Any]], agents: Iterable[Mapping[str, Any]]) -> Classified:
    """A classification without a namespace counts for every namespace that has agents.

    Raises InvalidObjectError for a label that cannot be.
    """
    rosters: dict[str, Roster] = {}
    given = {(agent["metadata"].get("namespace") or "", agent["metadata"]["name"]): agent for agent in agents}
    for (namespace, name), agent in given.items():
        metadata = agent["metadata"]
        rosters.setdefault(namespace, Roster()).put_agent(
            name, metadata.get("labels") or {}, read_applied(metadata.get("annotations")), inventory_of(agent)
        )
    for obj in classifications:
        classification = _checked(obj)
        own = obj["metadata"].get("namespace")
        for namespace in [own] if own else list(rosters):
            rosters.setdefault(namespace, Roster()).put_classification(classification)
    found: list[ClassifiedAgent] = []
    for namespace, roster in sorted(rosters.items()):
        _settle(roster, {name: agent for (where, name), agent in given.items() if where == namespace})
        found += [
            _classified(namespace, name, roster, given[namespace, name]["metadata"].get("labels") or {})
            for name in sorted(roster.agents())
        ]
    return Classified(tuple(found), dict(_reports(rosters)))


def inventory_of(agent: Mapping[str, Any]) -> bytes | None:
    """The inventory of an agent object, encoded. Raises InvalidObjectError for what JSON cannot say."""
    inventory = (agent.get("status") or {}).get("inventory")
    try:
        return None if inventory is None else msgspec.json.encode(inventory)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidObjectError(f"Agent {agent['metadata']['name']}", f"status.inventory: {error}") from error


def seen_inventory(agent: Mapping[str, Any]) -> Any:
    """The inventory of an agent object as queries see it."""
    return msgspec.json.decode(inventory_of(agent) or EMPTY_INVENTORY)


def _checked(obj: Mapping[str, Any]) -> Classification:
    spec = obj.get("spec")
    for name in ("labelKey", "labelValue", "query"):
        if not isinstance(spec, dict) or not isinstance(spec.get(name), str):
            raise InvalidObjectError(f"AgentClassification {obj['metadata']['name']}", f"spec.{name} must be a string")
    classification = read_classification(obj)
    if classification.fault:
        raise InvalidObjectError(f"AgentClassification {classification.name}", classification.fault)
    return classification


def _settle(roster: Roster, agents: Mapping[str, Mapping[str, Any]]) -> None:
    """Put every plan into effect, until there is nothing left to change: a query may be paused on the way."""
    while due := roster.take_due():
        for name in sorted(due):
            plan = roster.plan(name)
            if plan is not None and not plan.is_empty:
                after = changed_labels(roster.labels(name), plan.changes)
                roster.put_agent(name, after, plan.applied, inventory_of(agents[name]))


def changed_labels(labels: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Labels after changes, where None removes one."""
    merged = {**labels, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def _classified(namespace: str, name: str, roster: Roster, before: Mapping[str, str]) -> ClassifiedAgent:
    ours = roster.labels(name)
    kept = {key: value for key, value in before.items() if not key.startswith(LABEL_PREFIX)}
    changes: dict[str, str | None] = {key: value for key, value in ours.items() if before.get(key) != value}
    changes |= {key: None for key in before if key.startswith(LABEL_PREFIX) and key not in ours}
    plan = roster.plan(name)
    return ClassifiedAgent(
        namespace,
        name,
        {**kept, **ours},
        changes,
        dict(roster.outcomes(name)),
        {} if plan is None else dict(plan.missed),
    )


def _reports(rosters: Mapping[str, Roster]) -> Iterable[tuple[tuple[str, str], Report]]:
    for namespace, roster in sorted(rosters.items()):
        for name in sorted(roster.classifications()):
            classification = roster.classification(name)
            if classification is not None:
                yield (namespace, name), report(roster, classification)
