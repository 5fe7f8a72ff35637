"""The part of a plan that is about hosts: which agents would gain, lose or change which label, told to people and
machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.fleet_plan import ClassificationPlan, HostLabel, HostPlan

_SHOWN: Final = 12
# The conditions that are not as they should be unless they say so; the gravest first.
_GOOD: Final = (("QueryValid", "True"), ("QueryPaused", "False"), ("QueryErrors", "False"), ("LabelsApplied", ""))


def plain_hosts(hosts: HostPlan) -> JsonObject:
    """For machines."""
    return {
        "classifications": [
            {
                "namespace": each.namespace,
                "name": each.name,
                "isNew": each.created,
                "isGone": each.deleted,
                "matchedCount": {"before": each.matched_before, "after": each.matched_after},
                "errorCount": {"before": each.errors_before, "after": each.errors_after},
                "conditions": list(each.conditions),
            }
            for each in hosts.classifications
        ],
        "labels": [
            {
                "namespace": each.namespace,
                "agent": each.agent,
                "key": each.key,
                "before": each.before,
                "after": each.after,
            }
            for each in hosts.labels
        ],
    }


def print_hosts(hosts: HostPlan) -> None:
    """For people: how classifications fare, then labels by what happens to them."""
    if not hosts.classifications and not hosts.labels:
        sys.stdout.write("no label of an agent changes\n")
    for change in hosts.classifications:
        _print_classification(change)
    deeds: dict[tuple[str, str], list[str]] = {}
    for label in hosts.labels:
        deeds.setdefault((label.namespace, _deed(label)), []).append(label.agent)
    namespace = None
    for (where, deed), agents in sorted(deeds.items()):
        if where != namespace:
            namespace = where
            touched = len({label.agent for label in hosts.labels if label.namespace == where})
            sys.stdout.write(f"{where}: the labels of {touched} agents change\n")
        _print_deed(deed, agents)


def _print_classification(change: ClassificationPlan) -> None:
    kind = "new, " if change.created else "gone, " if change.deleted else ""
    line = f"{change.namespace}/{change.name}: {kind}{change.matched_before} → {change.matched_after} agents"
    if change.errors_before or change.errors_after:
        line += f", {change.errors_before} → {change.errors_after} errors"
    sys.stdout.write(f"{line}\n")
    sys.stdout.writelines(f"  ! {text}\n" for text in _trouble(change.conditions).splitlines())


def _trouble(conditions: Sequence[JsonMapping]) -> str:
    """What is not as it should be, the gravest first; empty when all is well."""
    by_type = {str(each["type"]): each for each in conditions}
    for kind, good in _GOOD:
        found = by_type.get(kind)
        if found is not None and found["status"] != good:
            return str(found["message"])
    return ""


def _deed(label: HostLabel) -> str:
    if label.before is None:
        return f"+ {label.key}={label.after}"
    if label.after is None:
        return f"- {label.key}={label.before}"
    return f"~ {label.key}={label.before} → {label.after}"


def _print_deed(deed: str, agents: Sequence[str]) -> None:
    shown = ", ".join(agents[:_SHOWN])
    more = f" … and {len(agents) - _SHOWN} more" if len(agents) > _SHOWN else ""
    sys.stdout.write(f"  {deed}: {shown}{more}\n")
