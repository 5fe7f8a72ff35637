"""What a schedule came to, in the form in which OCM's scenarios record it, with what only ours has beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from muster.placement import ScheduleResult
    from tests.conformance.ocm_world import World


def shown(first: ScheduleResult, result: ScheduleResult, world: World) -> dict[str, Any]:
    fleet = first.cycle.fleet
    upstreams = ("PlacementSatisfied", "PlacementMisconfigured")
    return {
        "selected": result.selected if result.fault is None else list(world.own),
        "numberOfSelectedClusters": len(result.ranked),
        "decisions": [
            {
                "name": page.name,
                "groupName": page.group_name,
                "groupIndex": str(page.group_index),
                "clusters": list(page.clusters),
            }
            for page in result.pages()
        ],
        "decisionGroups": msgspec.json.decode(msgspec.json.encode(result.decision_groups())),
        "conditions": {kind: msgspec.to_builtins(result.conditions[kind]) for kind in upstreams},
        "filterResults": _filters(first),
        "prioritizerResults": sorted(
            (
                {
                    "name": each.name,
                    "weight": each.weight,
                    "scores": dict(zip(fleet.names(first.feasible.tolist()), each.scores.tolist(), strict=True)),
                }
                for each in first.scorers
            ),
            key=lambda each: str(each["name"]),
        ),
        "totalScores": first.total_scores(),
        "selectedByRank": first.selected_by_rank,
        "unscheduled": first.unscheduled,
        "requeueAt": result.requeue_at.strftime("%Y-%m-%dT%H:%M:%SZ") if result.requeue_at else None,
        "decisionOrder": [name for page in result.pages() for name in page.clusters],
        "scores": {name: score for name, score in result.total_scores().items() if name in result.selected},
        "groups": [list(fleet.names(group.rows.tolist())) for group in result.groups],
        "scheduleStatus": _status(first),
        "syncError": first.fault.message if first.fault is not None else first.warning,
        "setsUsable": _sets_usable(result),
        "topologies": _topologies(result),
    }


def _status(result: ScheduleResult) -> dict[str, str]:
    if result.fault is not None:
        return {"code": "Misconfigured", "plugin": result.fault.stage, "message": result.fault.message}
    if result.warning:
        heard = [each.scorer for each in result.cycle.plan.scorers if _warning(result, each.scorer) == result.warning]
        return {"code": "Warning", "plugin": heard[-1].name, "message": result.warning}
    return {"code": "Success", "plugin": "", "message": ""}


def _warning(result: ScheduleResult, scorer: Any) -> str:
    found: str = scorer.warning(result.cycle, result.feasible)
    return found


def _sets_usable(result: ScheduleResult) -> dict[str, Any] | None:
    """The condition that names broken sets: status, reason, and for each set in its message why."""
    found = result.conditions.get("ClusterSetsUsable")
    if found is None:
        return None
    return {"status": found.status, "reason": found.reason, "message": found.message}


def _filters(result: ScheduleResult) -> list[dict[str, Any]]:
    shown, names = [], []
    for stage in result.stages:
        names.append(stage.name)
        rows = stage.passing.nonzero()[0].tolist()
        shown.append({"name": ",".join(names), "filteredClusters": sorted(result.cycle.fleet.names(rows))})
    return shown


def _topologies(result: ScheduleResult) -> list[list[str]]:
    """Label values of the selected clusters."""
    return [
        sorted((result.cycle.fleet.load(row)["metadata"].get("labels") or {}).values())
        for row in result.ranked.tolist()
    ]
