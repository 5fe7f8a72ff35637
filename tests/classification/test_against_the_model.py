"""Made-up scenarios: the rosters that the controllers use agree with the plain model of the conformance runner."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.conformance import jq_classification as runner
from tests.conformance import jq_classification_model as model

KEY = f"{model.PREFIX}k"
QUERIES = (
    "true",
    "false",
    ".cpu.count == 2",
    ".cpu.count",
    "empty",
    "true,true",
    ".hostname - 1 == 0",
    ".cpu.(",
    "[.disks[]] | length > 0",
)
INVENTORIES: tuple[dict[str, Any] | None, ...] = (
    None,
    {"cpu": {"count": 2}},
    {"cpu": {"count": 4}, "disks": [{"id": "d"}]},
)
LABELS: tuple[dict[str, str], ...] = (
    {},
    {KEY: "v"},
    {KEY: "QUERYERROR-v"},
    {KEY: "QUERYERROR-old"},
    {KEY: "by-hand"},
    {"rack": "1"},
)
CHECKED: dict[str, Any] = {"classifications": {}}


def a_scenario(chance: random.Random) -> dict[str, Any]:
    """Some agents and classifications come, change and go, with reconciles in between."""
    steps: list[dict[str, Any]] = []
    agents: set[str] = set()
    specs: dict[str, dict[str, str]] = {}
    for _ in range(chance.randrange(3, 14)):
        agent, name = chance.choice("xyz"), chance.choice("pqr")
        match chance.randrange(7):
            case 0 if agent not in agents:
                agents.add(agent)
                given = {"labels": chance.choice(LABELS), "inventory": chance.choice(INVENTORIES)}
                steps.append({"op": "createAgent", "name": agent, **given})
            case 1 if agent in agents:
                steps.append({"op": "updateAgent", "name": agent, "inventory": chance.choice(INVENTORIES)})
            case 2 if agent in agents:
                agents.discard(agent)
                steps.append({"op": "deleteAgent", "name": agent})
            case 3 | 4:
                op = "updateClassification" if name in specs else "createClassification"
                old = specs.get(name) or {"labelKey": chance.choice("kkl"), "labelValue": chance.choice("vw")}
                specs[name] = {**old, "query": chance.choice(QUERIES)}
                steps.append({"op": op, "name": name, "spec": specs[name], "expect": {"allowed": True}})
            case 5 if name in specs:
                del specs[name]
                steps.append({"op": "deleteClassification", "name": name})
                steps += [{"op": "reconcile", "expect": CHECKED}] * 2
            case _:
                op = chance.choice(("reconcileAgents", "reconcileClassifications"))
                steps.append({"op": op, "expect": CHECKED})
    return {"name": "made up", "steps": [*steps, {"op": "reconcile", "expect": CHECKED}]}


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_the_rosters_do_what_the_plain_model_says(start: int) -> None:
    for seed in range(start, start + 50):
        scenario = a_scenario(random.Random(seed))
        checked = [True if "allowed" in each.get("expect", "") else each.get("expect") for each in scenario["steps"]]
        ours = runner._replayed(runner.Ours(), scenario, checked, [])
        expected = runner._replayed(model.Model(frozenset(model.RULES)), scenario, checked, [])
        assert ours == expected, scenario
