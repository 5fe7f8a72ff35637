"""The part of `muster plan` that is about hosts: which agents would gain, lose or change which label."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from muster.cli.classify.output import plain_conditions, trouble
from muster.cli.inputs.host_objects import host_objects, namespace_of, placed
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.classification import ClassificationChange, LabelChange, LabelPreview, Report

KINDS = ("Agent", "AgentClassification")
_SHOWN = 12


def planned_labels(
    changes: Iterable[JsonObject],
    fleet: list[str] | None,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None = None,
    *,
    delete: bool = False,
    with_status: bool = True,
) -> LabelPreview | None:
    """What applying or deleting objects would do to the labels of agents; None when they are about something else.

    Without their status, files say nothing about inventories.
    """
    from muster.classification import preview_labels

    wanted = [obj for obj in changes if obj["kind"] in KINDS]
    if not wanted:
        return None
    if not with_status:
        wanted = [{key: value for key, value in obj.items() if key != "status"} for obj in wanted]
    present = host_objects(fleet, context, kubeconfig, everywhere=True)
    meant = namespace or present.namespace
    if meant:
        wanted = [placed(obj, namespace_of(obj) or meant) for obj in wanted]
    there = [*present.agents, *present.classifications]
    return preview_labels(there, *(([], wanted) if delete else (wanted, [])), trusting=present.is_live)


def plain_preview(preview: LabelPreview) -> JsonObject:
    """For machines."""
    return {
        "classifications": [
            {
                "namespace": each.namespace,
                "name": each.name,
                "isNew": each.before is None,
                "isGone": each.after is None,
                "matchedCount": {"before": _matched(each.before), "after": _matched(each.after)},
                "errorCount": {"before": _errors(each.before), "after": _errors(each.after)},
                "conditions": plain_conditions(each.after) if each.after is not None else [],
            }
            for each in preview.classifications
        ],
        "labels": [
            {
                "namespace": each.namespace,
                "agent": each.agent,
                "key": each.key,
                "before": each.before,
                "after": each.after,
            }
            for each in preview.labels
        ],
    }


def print_preview(preview: LabelPreview) -> None:
    """For people: how classifications fare, then labels by what happens to them."""
    if not preview.classifications and not preview.labels:
        sys.stdout.write("no label of an agent changes\n")
    for change in preview.classifications:
        _print_classification(change)
    deeds: dict[tuple[str, str], list[str]] = {}
    for label in preview.labels:
        deeds.setdefault((label.namespace, _deed(label)), []).append(label.agent)
    namespace = None
    for (where, deed), agents in sorted(deeds.items()):
        if where != namespace:
            namespace = where
            touched = len({label.agent for label in preview.labels if label.namespace == where})
            sys.stdout.write(f"{where}: the labels of {touched} agents change\n")
        _print_deed(deed, agents)


def _matched(report: Report | None) -> int:
    return report.matched if report is not None else 0


def _errors(report: Report | None) -> int:
    return report.errors if report is not None else 0


def _print_classification(change: ClassificationChange) -> None:
    before, after = change.before, change.after
    kind = "new, " if before is None else "gone, " if after is None else ""
    line = f"{change.namespace}/{change.name}: {kind}{_matched(before)} → {_matched(after)} agents"
    if _errors(before) or _errors(after):
        line += f", {_errors(before)} → {_errors(after)} errors"
    sys.stdout.write(f"{line}\n")
    if after is not None:
        sys.stdout.writelines(f"  ! {text}\n" for text in trouble(after).splitlines())


def _deed(label: LabelChange) -> str:
    if label.before is None:
        return f"+ {label.key}={label.after}"
    if label.after is None:
        return f"- {label.key}={label.before}"
    return f"~ {label.key}={label.before} → {label.after}"


def _print_deed(deed: str, agents: Sequence[str]) -> None:
    shown = ", ".join(agents[:_SHOWN])
    more = f" … and {len(agents) - _SHOWN} more" if len(agents) > _SHOWN else ""
    sys.stdout.write(f"  {deed}: {shown}{more}\n")
