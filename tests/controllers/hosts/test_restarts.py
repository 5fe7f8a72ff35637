"""Host controllers that die at any moment: what is left when they have worked undisturbed once is always the same."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from muster.classification import FINALIZER
from muster.classification import classify as expected_of
from tests.controllers.hosts.running import (
    BASE,
    PREFIX,
    add_agent,
    classify,
    host_controllers,
    report,
)
from tests.controllers.running import Driver, driven_hub, eventually

pytestmark = pytest.mark.e2e

KEYS = ("size", "storage")
VALUES = ("small", "large")
QUERIES = (
    "true",
    "false",
    ".cpu.count > 4",
    ".cpu.count < 4",
    "[.disks[]] | length > 2",
    ".cpu.count",
    ".oops(",
    ".hostname - 1",
)
AGENTS = tuple(f"agent-{number:02}" for number in range(14))  # more than are written at once
CLASSIFICATIONS = tuple(f"c-{number}" for number in range(5))


def inventory(chance: random.Random) -> dict[str, Any]:
    disks = [{"id": f"d{number}", "sizeBytes": number} for number in range(chance.randrange(5))]
    found: dict[str, Any] = {"cpu": {"count": chance.randrange(8)}, "hostname": f"h{chance.randrange(100)}"}
    return {**found, "disks": disks} if disks else found


def attempt(hub: Driver, method: str, path: str, body: Any = None) -> None:
    """Ask for something that may have come too late: the object can be gone by now."""
    hub.hub.request(method, path, json.dumps(body).encode(), {"Content-Type": "application/merge-patch+json"})


def disturb(hub: Driver, chance: random.Random) -> None:
    """Somebody changes something."""
    agents = {each["metadata"]["name"] for each in hub.get(f"{BASE}/agents")["items"]}
    there = {each["metadata"]["name"]: each for each in hub.get(f"{BASE}/agentclassifications")["items"]}
    name = chance.choice(CLASSIFICATIONS)
    match chance.randrange(4):
        case 0:
            agent = chance.choice(AGENTS)
            if agent in agents:
                report(hub, agent, inventory(chance))
            else:
                add_agent(hub, agent, inventory(chance))
        case 1 if name in there:
            attempt(hub, "DELETE", f"{BASE}/agentclassifications/{name}")
        case 2 if name in there:
            attempt(hub, "PATCH", f"{BASE}/agentclassifications/{name}", {"spec": {"query": chance.choice(QUERIES)}})
        case _ if name not in there:
            classify(hub, name, chance.choice(KEYS), chance.choice(VALUES), chance.choice(QUERIES))


def labels(hub: Driver) -> dict[str, dict[str, str]]:
    return {
        each["metadata"]["name"]: each["metadata"].get("labels") or {} for each in hub.get(f"{BASE}/agents")["items"]
    }


def statuses(hub: Driver) -> dict[str, tuple[int, int, list[str]]]:
    """Counts and finalizers of every classification."""
    return {
        each["metadata"]["name"]: (
            each.get("status", {}).get("matchedCount", -1),
            each.get("status", {}).get("errorCount", -1),
            each["metadata"].get("finalizers", []),
        )
        for each in hub.get(f"{BASE}/agentclassifications")["items"]
    }


def play(rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    with driven_hub() as hub:
        for agent in AGENTS[:10]:
            add_agent(hub, agent, inventory(chance))
        for _ in range(rounds):
            with host_controllers(hub.hub, dies_at=chance.randrange(24), before=chance.random() < 0.5):
                for _ in range(chance.randrange(1, 4)):
                    disturb(hub, chance)
                    time.sleep(chance.random() * 0.02)
        with host_controllers(hub.hub):
            living = [
                each
                for each in hub.get(f"{BASE}/agentclassifications")["items"]
                if not each["metadata"].get("deletionTimestamp")
            ]
            bare = hub.get(f"{BASE}/agents")["items"]
            for agent in bare:  # the end must not depend on what was there before
                agent["metadata"].pop("labels", None)
                agent["metadata"].pop("annotations", None)
            wanted = expected_of(living, bare)
            eventually(lambda: labels(hub), {agent.name: dict(agent.labels) for agent in wanted.agents})
            expected = {name: (each.matched, each.errors, [FINALIZER]) for (_, name), each in wanted.reports.items()}
            eventually(lambda: statuses(hub), expected)
            for name in expected:
                hub.send("DELETE", f"{BASE}/agentclassifications/{name}")
            eventually(lambda: statuses(hub), {})
            eventually(lambda: any(key.startswith(PREFIX) for each in labels(hub).values() for key in each), False)


@pytest.mark.parametrize("seed", [1, 2])
def test_controllers_that_die_leave_nothing_wrong_behind(seed: int) -> None:
    play(8, seed)


@pytest.mark.slow
def test_controllers_that_die_a_hundred_times_leave_nothing_wrong_behind() -> None:
    play(100, 3)
