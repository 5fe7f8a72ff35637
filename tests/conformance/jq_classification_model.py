"""What assisted-service's two reconcilers do with agents and classifications, and what each of our rules changes in it.

A small model, written from their documented behaviour, that replays a scenario. Without rules it must give what was
recorded; with all rules it says what we expect of ourselves. A rule is named for a scenario when it makes a difference.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muster.errors import EvaluationError, InvalidExpressionError
from muster.jq import compile_query

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "agentclassification.agent-install.openshift.io/"
FINALIZER = "agentclassification.agent-install.openshift.io"

ANSWERS = "a classification's query answers true or false"
COUNTED = "a classification counts its own errors"
FIRST = "the first of two classifications on one key wins"
SHORT = "a classification's value has 1 to 52 characters"
STORED = "a query that does not compile is stored with a warning"
BY_HAND = "a label value set by hand stays"
NOTHING_LEFT = "no classification label is left behind"
NEWER = "classification queries run as in the newest gojq"
EXACT = "inventory numbers are exact"
KEPT = "a query that does not compile takes no label away"
RULES = (STORED, KEPT, SHORT, ANSWERS, NEWER, EXACT, FIRST, BY_HAND, NOTHING_LEFT, COUNTED)

_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_STRANGE = re.compile(r"[^-A-Za-z0-9_.]")
_LONG_NUMBER = re.compile(r"(?<![\w.])[0-9]{16,}(?![\w.])")
_STRUCTS = ("memory", "cpu", "boot", "systemVendor")
_FIELDS = {
    "": ("reportTime", "hostname", "bmcAddress", "bmcV6Address", *_STRUCTS, "interfaces", "disks", "gpus"),
    "memory": ("physicalBytes", "usableBytes"),
    "cpu": ("count", "clockMegahertz", "flags", "modelName", "architecture"),
    "boot": ("currentBootMode", "pxeInterface", "deviceType"),
    "systemVendor": ("serialNumber", "productName", "manufacturer", "virtual"),
    "ioPerf": ("syncDurationMilliseconds",),
}
_ALWAYS = {"interfaces": ("ipV4Addresses", "ipV6Addresses", "flags")}


def stored_inventory(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """An inventory as assisted-service stores it: known fields, without zero values, with its inner structs."""
    result = _without_zeros(given or {}, _FIELDS[""])
    for name in _STRUCTS:
        result[name] = _without_zeros((given or {}).get(name) or {}, _FIELDS[name])
    if "disks" in result:
        result["disks"] = [_disk(disk) for disk in result["disks"]]
    if "interfaces" in result:
        always = dict.fromkeys(_ALWAYS["interfaces"])
        result["interfaces"] = [
            {**always, **_without_zeros(each), **{name: each.get(name) for name in always}}
            for each in result["interfaces"]
        ]
    return result


def _without_zeros(given: Mapping[str, Any], fields: tuple[str, ...] | None = None) -> dict[str, Any]:
    return {
        name: value
        for name, value in given.items()
        if (fields is None or name in fields) and value not in (0, "", False, None, [])
    }


def _disk(given: Mapping[str, Any]) -> dict[str, Any]:
    eligibility = given.get("installationEligibility") or {}
    return {
        **_without_zeros(given),
        "id": given.get("id", ""),
        "installationEligibility": {
            **_without_zeros(eligibility),
            "notEligibleReasons": eligibility.get("notEligibleReasons"),
        },
        "ioPerf": _without_zeros(given.get("ioPerf") or {}, _FIELDS["ioPerf"]),
    }


def is_wrong(spec: Mapping[str, str]) -> bool:
    """Whether a label is none, in its error form too: one word as the key, 1 to 52 characters as the value, which does
    not begin as error forms do. Said here once more, and not asked of admission."""
    key, value = spec.get("labelKey", ""), spec.get("labelValue", "")
    return (
        not re.fullmatch(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", key)
        or not re.fullmatch(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,50}[A-Za-z0-9])?", value)
        or value.startswith("QUERYERROR")
    )


@dataclass
class Agent:
    labels: dict[str, str]
    inventory: dict[str, Any]
    applied: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)  # by query


@dataclass
class Stored:
    """A classification in the store."""

    spec: dict[str, str]
    finalizers: list[str] = field(default_factory=list)
    deleting: bool = False
    matched: int = 0
    errors: int = 0
    condition: tuple[str, str] | None = None


@dataclass
class Model:
    """The state of a scenario under some rules."""

    rules: frozenset[str]
    agents: dict[str, Agent] = field(default_factory=dict)
    classifications: dict[str, Stored] = field(default_factory=dict)

    # ---------------------------------------------------------------------------------------------------- requests

    def allowed(self, new: dict[str, str], old: dict[str, str] | None, recorded: bool) -> bool:
        """Upstream's answer is the recorded one; rules change it."""
        refused = is_wrong(new) if old is None else any(new[name] != old[name] for name in ("labelKey", "labelValue"))
        if STORED in self.rules and not recorded and not refused:
            return True
        if SHORT in self.rules and recorded and refused:
            return False
        return recorded

    def delete(self, place: str) -> None:
        found = self.classifications[place]
        if found.finalizers:
            found.deleting = True
        else:
            del self.classifications[place]

    # --------------------------------------------------------------------------------------------------- reconciling

    def reconcile_agents(self) -> None:
        for place, agent in self.agents.items():
            for stored in self._claiming(place):
                if not stored.deleting:
                    query = stored.spec["query"]
                    agent.said[query] = self._outcome(query, agent.inventory)
            if FIRST in self.rules:
                self._by_first(place, agent)
            else:
                for stored in self._claiming(place):
                    self._apply(agent, stored)
            if NOTHING_LEFT in self.rules:
                self._remove_orphans(place, agent)

    def _there(self, agent: str) -> dict[str, Stored]:
        namespace = agent.partition("/")[0]
        found = {place: each for place, each in self.classifications.items() if place.partition("/")[0] == namespace}
        return dict(sorted(found.items()))

    def _claiming(self, agent: str) -> list[Stored]:
        """Those of the agent's namespace; a label that we would have refused is never set, should one be stored."""
        found = self._there(agent).values()
        return [each for each in found if SHORT not in self.rules or not is_wrong(each.spec)]

    def _apply(self, agent: Agent, stored: Stored, before: str | None = None) -> None:
        key, value = PREFIX + stored.spec["labelKey"], stored.spec["labelValue"]
        before = before or agent.labels.get(key)
        outcome = "false" if stored.deleting else agent.said[stored.spec["query"]]
        if outcome == "false":
            if agent.labels.get(key) in (value, f"QUERYERROR-{value}"):
                del agent.labels[key]
            return
        stays = outcome == "true" or (outcome == "invalid" and before == value)
        wanted = _STRANGE.sub("", value if stays else f"QUERYERROR-{value}")
        if not _VALUE.fullmatch(wanted) or self._is_by_hand(agent, key, {value, f"QUERYERROR-{value}"}):
            return
        agent.labels[key] = agent.applied[key] = wanted

    def _by_first(self, place: str, agent: Agent) -> None:
        groups: dict[str, list[Stored]] = {}
        for stored in self._claiming(place):
            groups.setdefault(stored.spec["labelKey"], []).append(stored)
        for key, group in groups.items():
            values = {each.spec["labelValue"] for each in group}
            values |= {f"QUERYERROR-{value}" for value in values}
            living = [each for each in group if not each.deleting and agent.said[each.spec["query"]] != "false"]
            label = PREFIX + key
            if living and not self._is_by_hand(agent, label, values):
                before = agent.labels.pop(label, None)
                said = [agent.said[each.spec["query"]] for each in living]
                sure = (
                    each
                    for each, outcome in zip(living, said, strict=True)
                    if outcome != "invalid" or before == each.spec["labelValue"]
                )
                self._apply(agent, next(sure, living[0]), before)
            elif not living and agent.labels.get(label) in values:
                del agent.labels[label]

    def _is_by_hand(self, agent: Agent, key: str, ours: set[str]) -> bool:
        current = agent.labels.get(key)
        if BY_HAND not in self.rules or current is None or current.startswith("QUERYERROR-"):
            return False
        return current not in ours and agent.applied.get(key) != current

    def _remove_orphans(self, place: str, agent: Agent) -> None:
        there = self._there(place).values()
        claimed = {
            (PREFIX + each.spec["labelKey"], prefix + each.spec["labelValue"])
            for each in there
            for prefix in ("", "QUERYERROR-")
        }
        for key, value in list(agent.labels.items()):
            ours = value.startswith("QUERYERROR-") or agent.applied.get(key) == value
            if key.startswith(PREFIX) and ours and (key, value) not in claimed:
                del agent.labels[key]

    def reconcile_classifications(self) -> None:
        for place, stored in list(self.classifications.items()):
            if not stored.deleting and FINALIZER not in stored.finalizers:
                stored.finalizers.append(FINALIZER)
            matched, errors, carrying = self._counted(place, stored)
            waits = carrying if NOTHING_LEFT in self.rules else matched
            if stored.deleting and (not waits or (FIRST in self.rules and self._twins(place, stored))):
                stored.finalizers.remove(FINALIZER)
                if not stored.finalizers:
                    del self.classifications[place]
                continue
            stored.matched, stored.errors = matched, errors
            stored.condition = ("True", "HasQueryErrors") if errors else ("False", "NoQueryErrors")

    def _twins(self, place: str, stored: Stored) -> bool:
        """Whether another one, not being deleted, wants the same label."""
        return any(
            other is not stored
            and not other.deleting
            and all(other.spec[name] == stored.spec[name] for name in ("labelKey", "labelValue"))
            for other in self._there(place).values()
        )

    def _counted(self, place: str, stored: Stored) -> tuple[int, int, int]:
        matched = errors = carrying = 0
        key, value = PREFIX + stored.spec["labelKey"], stored.spec["labelValue"]
        shared = FIRST in self.rules and self._twins(place, stored)
        for where, agent in self.agents.items():
            if where.partition("/")[0] != place.partition("/")[0]:
                continue
            current = agent.labels.get(key)
            said = None if stored.deleting else agent.said.get(stored.spec["query"])
            told_apart = shared and said is not None
            matched += current == value and (not told_apart or said == "true")
            if COUNTED in self.rules:
                errors += said in ("error", "invalid") or (current == f"QUERYERROR-{value}" and not told_apart)
            else:
                errors += (current or "").startswith("QUERYERROR")
            carrying += current in (value, f"QUERYERROR-{value}")
        return matched, errors, carrying

    # ----------------------------------------------------------------------------------------------------- the query

    def _outcome(self, query: str, inventory: Mapping[str, Any]) -> str:
        seen: Any = deepcopy(inventory)
        if NEWER not in self.rules:
            query = query.replace("error(null)", "empty") if query.strip() else "."
        if EXACT not in self.rules:
            query = _LONG_NUMBER.sub(lambda found: str(int(float(found[0]))), query)
            seen = _rounded(seen)
        try:
            outputs = compile_query(query).run(seen)
        except InvalidExpressionError:
            return "invalid" if KEPT in self.rules else "error"
        except EvaluationError:
            return "error"
        if len(outputs) != 1 or (ANSWERS in self.rules and not isinstance(outputs[0], bool)):
            return "error"
        return "true" if outputs[0] is True else "false"

    # ---------------------------------------------------------------------------------------------------- what is there

    def snapshot(self) -> dict[str, Any]:
        return {
            "agents": {place: dict(agent.labels) for place, agent in self.agents.items()},
            "classifications": {
                place: (each.matched, each.errors, each.condition, each.deleting, tuple(each.finalizers))
                for place, each in self.classifications.items()
            },
        }


def _rounded(value: Any) -> Any:
    """Numbers as Go's decoder keeps them."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return int(float(value)) if type(value) is int else value
