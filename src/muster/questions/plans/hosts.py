"""What becomes of hosts: their labels, and how classifications fare. May take long, and is done beside the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.fleet_plan import ClassificationPlan, HostLabel, HostPlan
from muster.classification import preview_labels
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.classification import ClassificationChange, Report
    from muster.questions.plans.work import PlanWork

KINDS: Final = ("Agent", "AgentClassification")


def host_plan(work: PlanWork) -> HostPlan | None:
    """None when the plan is about something else. Raises InvalidObjectError."""
    if work.hosts is None:
        return None
    ours = [each for each in work.applied if each["kind"] in KINDS]
    changed = [each for each in ours if "deletionTimestamp" not in each["metadata"]]
    # What a finalizer keeps for a while goes as soon as its labels are gone.
    gone = [*(each for each in work.deleted if each["kind"] in KINDS), *(each for each in ours if each not in changed)]
    found = preview_labels(work.hosts.present, changed, gone, trusting=work.hosts.trusting)
    return HostPlan(
        tuple(map(_classification, found.classifications)),
        tuple(HostLabel(each.namespace, each.agent, each.key, each.before, each.after) for each in found.labels),
    )


def _classification(change: ClassificationChange) -> ClassificationPlan:
    before, after = change.before, change.after
    return ClassificationPlan(
        change.namespace,
        change.name,
        created=before is None,
        deleted=after is None,
        matched_before=0 if before is None else before.matched,
        matched_after=0 if after is None else after.matched,
        errors_before=0 if before is None else before.errors,
        errors_after=0 if after is None else after.errors,
        conditions=() if after is None else tuple(_conditions(after)),
    )


def _conditions(report: Report) -> Iterator[JsonObject]:
    for kind, (status, reason, message) in report.conditions.items():
        yield {"type": kind, "status": status, "reason": reason, "message": message}
