"""Classifications and rosters with boring defaults."""

from __future__ import annotations

from typing import Any

import msgspec

from muster.classification import LABEL_PREFIX, Classification, Roster, read_classification
from muster.classification.classification import CLASSIFICATIONS

SIZE = f"{LABEL_PREFIX}size"


def a_classification(
    name: str = "c", key: str = "size", value: str = "medium", query: str = "true", *, deleting: bool = False
) -> Classification:
    metadata = {"name": name, **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {})}
    spec = {"labelKey": key, "labelValue": value, "query": query}
    return read_classification(CLASSIFICATIONS.demanded({"metadata": metadata, "spec": spec}))


def a_roster(*classifications: Classification, **agents: dict[str, Any]) -> Roster:
    """Agents by name with their inventories, without labels."""
    roster = Roster()
    for name, inventory in agents.items():
        put(roster, name, inventory)
    for each in classifications:
        roster.put_classification(each)
    return roster


def put(
    roster: Roster,
    name: str,
    inventory: dict[str, Any],
    labels: dict[str, str] | None = None,
    applied: dict[str, str] | None = None,
) -> None:
    roster.put_agent(name, labels or {}, applied or {}, msgspec.json.encode(inventory))


def settle(roster: Roster, inventories: dict[str, dict[str, Any]]) -> int:
    """Put plans into effect until nothing is left to do; how many writes that took."""
    writes = 0
    while due := roster.take_due():
        for name in sorted(due):
            plan = roster.plan(name)
            if plan is not None and not plan.is_empty:
                writes += 1
                after = {**roster.labels(name), **plan.changes}
                present = {key: value for key, value in after.items() if value is not None}
                put(roster, name, inventories[name], present, dict(plan.applied))
    return writes
