"""Replays the recorded scenarios of assisted-service's AgentClassification against our rules for hosts.

Ours is the real core: admission rules, rosters, plans and reports, as the controllers use them. Where it differs from
the record, the model says whether a rule of docs/differences.md accounts for it: the model without rules must agree
with the record, the model with all rules must agree with us.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from muster.api.agent_classification import rules as admission_rules
from muster.classification import FINALIZER, LABEL_PREFIX, Roster, may_go, read_classification, report
from muster.classification.classification import CLASSIFICATIONS
from muster.values.causes import sentence
from tests.conformance import jq_classification_model as upstream
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.classification import Report

MOST_ROUNDS = 10


@dataclass
class Ours:
    """A namespaced store in memory, and the controllers' steps over it."""

    agents: dict[str, upstream.Agent] = field(default_factory=dict)
    classifications: dict[str, upstream.Stored] = field(default_factory=dict)
    rosters: dict[str, Roster] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    def refusal(self, new: dict[str, str], old: dict[str, str] | None) -> str:
        causes = admission_rules({"spec": new}, None if old is None else {"spec": old})
        return sentence(causes) if causes else ""

    def delete(self, place: str) -> None:
        found = self.classifications[place]
        found.deleting = bool(found.finalizers)
        if not found.finalizers:
            del self.classifications[place]

    def _fed(self, namespace: str) -> Roster:
        """The roster, told of everything in the store."""
        roster = self.rosters.setdefault(namespace, Roster())
        for place, agent in self.agents.items():
            if place.startswith(f"{namespace}/"):
                ours = {key.replace(upstream.PREFIX, LABEL_PREFIX): value for key, value in agent.labels.items()}
                encoded = msgspec.json.encode(agent.inventory)
                roster.put_agent(place.partition("/")[2], ours, agent.applied, encoded)
        for name in set(roster.agents()) - {_name(place) for place in self.agents if place.startswith(f"{namespace}/")}:
            roster.remove_agent(name)
        there = {place: each for place, each in self.classifications.items() if place.startswith(f"{namespace}/")}
        for name in set(roster.classifications()) - {_name(place) for place in there}:
            roster.remove_classification(name)
        for place, stored in there.items():
            metadata = {"name": _name(place), "deletionTimestamp": "now" if stored.deleting else None}
            roster.put_classification(
                read_classification(CLASSIFICATIONS.demanded({"metadata": metadata, "spec": stored.spec}))
            )
        return roster

    def _namespaces(self) -> list[str]:
        return sorted({place.partition("/")[0] for place in (*self.agents, *self.classifications)})

    def reconcile_agents(self) -> None:
        for namespace in self._namespaces():
            roster = self._fed(namespace)
            for name in sorted(roster.agents()):
                plan = roster.plan(name)
                agent = self.agents[f"{namespace}/{name}"]
                assert plan is not None
                agent.applied = dict(plan.applied)
                for key, value in plan.changes.items():
                    label = key.replace(LABEL_PREFIX, upstream.PREFIX)
                    if value is None:
                        del agent.labels[label]
                    else:
                        agent.labels[label] = value

    def reconcile_classifications(self) -> None:
        for place, stored in list(self.classifications.items()):
            namespace, _, name = place.partition("/")
            roster = self._fed(namespace)
            classification = roster.classification(name)
            assert classification is not None
            if stored.deleting and may_go(roster, classification):
                del self.classifications[place]
                continue
            if not stored.deleting:
                stored.finalizers = [FINALIZER]
            self._write_status(place, stored, report(roster, classification))

    def _write_status(self, place: str, stored: upstream.Stored, found: Report) -> None:
        stored.matched, stored.errors = found.matched, found.errors
        status, reason, message = found.conditions["QueryErrors"]
        stored.condition = (status, reason)
        self.messages[place] = message

    def snapshot(self) -> dict[str, Any]:
        return {
            "agents": {place: dict(agent.labels) for place, agent in self.agents.items()},
            "classifications": {
                place: (
                    each.matched,
                    each.errors,
                    each.condition,
                    each.deleting,
                    tuple(upstream.FINALIZER for _ in each.finalizers),
                )
                for place, each in self.classifications.items()
            },
        }


def _name(place: str) -> str:
    return place.partition("/")[2]


World = Ours | upstream.Model


def modelled(scenario: Mapping[str, Any], rules: frozenset[str]) -> list[Any]:
    """What the plain model gives at every checked step under some of our rules."""
    recorded = [_recorded(step) for step in scenario["steps"]]
    return _replayed(upstream.Model(rules), scenario, recorded, [])


def classify(scenario: Mapping[str, Any]) -> Kind:
    """The first rule without which the model would want something else; none when it wants what was recorded."""
    every = frozenset(upstream.RULES)
    expected = modelled(scenario, every)
    if expected == [_recorded(step) for step in scenario["steps"]]:
        return PLAIN
    return Rule(next(rule for rule in upstream.RULES if modelled(scenario, every - {rule}) != expected))


def run(scenario: Mapping[str, Any]) -> dict[str, Any]:
    recorded = [_recorded(step) for step in scenario["steps"]]
    texts: list[bool] = []
    return {"steps": _replayed(Ours(), scenario, recorded, texts), "texts": texts}


def judge(scenario: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    """Every checked step as the model with all rules has it; without rules the model must give what was recorded."""
    recorded = [_recorded(step) for step in scenario["steps"]]
    expected = modelled(scenario, frozenset(upstream.RULES)) if isinstance(kind, Rule) else recorded
    wrong = [
        f"step {number}: {got} instead of {wanted}"
        for number, (got, wanted) in enumerate(zip(ours["steps"], expected, strict=True), start=1)
        if got != wanted
    ]
    if isinstance(kind, Rule) and (plain := modelled(scenario, frozenset())) != recorded:
        wrong.append(f"the model without rules gives {plain} instead of the record")
    text_ok = all(ours["texts"]) if ours["texts"] else None
    return Verdict(tuple(wrong), text_ok, remarks="" if text_ok is not False else "a text is not upstream's")


def _recorded(step: dict[str, Any]) -> Any:
    """A step's expectation in the form that replays give; None when nothing is checked."""
    expect = step.get("expect")
    if expect is None:
        return None
    if "allowed" in expect:
        return expect["allowed"]
    return {
        "agents": expect["agents"],
        "classifications": {
            place: (
                each["matchedCount"],
                each["errorCount"],
                next(((c["status"], c["reason"]) for c in each["conditions"] if c["type"] == "QueryErrors"), None),
                each["deleting"],
                tuple(each["finalizers"]),
            )
            for place, each in expect["classifications"].items()
        },
    }


def _replayed(world: World, scenario: Mapping[str, Any], recorded: list[Any], texts: list[bool]) -> list[Any]:
    """What every checked step gives."""
    results: list[Any] = []
    for step, expected in zip(scenario["steps"], recorded, strict=True):
        answer = _performed(world, step, expected, texts)
        if expected is None:
            results.append(None)
        elif isinstance(expected, bool):
            results.append(answer)
        else:
            results.append(world.snapshot())
            if isinstance(world, Ours):
                texts += _texts(world, step["expect"]["classifications"])
    return results


def _performed(world: World, step: dict[str, Any], expected: Any, texts: list[bool]) -> bool | None:
    place = f"{step.get('namespace', 'ns1')}/{step.get('name', '')}"
    match step["op"]:
        case "createAgent":
            labels = dict(step.get("labels") or {})
            world.agents[place] = upstream.Agent(labels, upstream.stored_inventory(step.get("inventory")))
        case "updateAgent":
            if "inventory" in step:
                world.agents[place].inventory = upstream.stored_inventory(step["inventory"])
            if "labels" in step:
                world.agents[place].labels = dict(step["labels"] or {})
        case "deleteAgent":
            world.agents.pop(place, None)
        case "createClassification" | "updateClassification":
            return _written(world, place, step, expected is not False, texts)
        case "deleteClassification":
            if place in world.classifications:
                world.delete(place)
        case "reconcileAgents":
            world.reconcile_agents()
        case "reconcileClassifications":
            world.reconcile_classifications()
        case "reconcile":
            for _ in range(MOST_ROUNDS):
                before = world.snapshot()
                world.reconcile_agents()
                world.reconcile_classifications()
                if world.snapshot() == before:
                    break
        case other:
            raise ValueError(f"unknown step {other!r}")
    return None


def _written(world: World, place: str, step: dict[str, Any], recorded: bool, texts: list[bool]) -> bool:
    present = world.classifications.get(place)
    old = present.spec if present is not None else None
    if isinstance(world, Ours):
        refusal = world.refusal(step["spec"], old)
        allowed = not refusal
        if refusal and not recorded and "Label modified" not in step["expect"]["message"]:
            texts += [text in refusal for text in _reasons(step["expect"]["message"])]
    else:
        allowed = world.allowed(step["spec"], old, recorded)
    if allowed or step.get("skipWebhook"):
        if present is not None:
            present.spec = step["spec"]
        else:
            world.classifications[place] = upstream.Stored(step["spec"])
    return allowed


def _reasons(message: str) -> list[str]:
    """What a refusal says of the label; what it says of the query is our warning's business."""
    parts = message.strip("[]").split(", spec: Invalid value: ")
    reasons = [part.removeprefix("spec: Invalid value: ").partition('": ')[2] for part in parts]
    return [reason for reason in reasons if "label" in reason or "name part" in reason]


def _texts(world: Ours, expected: Mapping[str, Any]) -> list[bool]:
    """Whether the condition's message begins as upstream's, where both have the same count."""
    return [
        world.messages[place].startswith(condition["message"])
        for place, each in expected.items()
        if place in world.messages and world.classifications[place].errors == each["errorCount"]
        for condition in each["conditions"]
        if condition["type"] == "QueryErrors"
    ]


_STEP = {
    **dict.fromkeys(keys("op namespace name labels inventory spec skipWebhook note webhook")),
    "expect": keys("allowed message agents classifications"),
}
CLASSIFICATION = Suite(
    cases=lambda data: data["scenarios"],
    name=lambda scenario: str(scenario["name"]),
    classify=classify,
    running=by(run),
    judge=judge,
    shape={
        **dict.fromkeys(keys("name source note engineVersionDependent orderDependent differsOnRealApiServer")),
        "steps": _STEP,
    },
)
