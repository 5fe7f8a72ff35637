"""Rules for Prometheus and dashboards for Grafana, for the hub: `python -m release.observing` writes them.

Rules are those of the Kubernetes home (`muster.kubernetes.objects.monitoring`), for any job called muster, and the
hub's own. A test gives all expressions to promtool and compares every metric with those that a running hub has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from muster.kubernetes.objects.monitoring import ALERTS, Alert

DEPLOY: Final = Path(__file__).resolve().parents[1] / "deploy"
_OURS: Final = "{ours}"
_JOB: Final = 'job=~"muster.*"'
HUB_ALERTS: Final = (
    Alert(
        "MusterHubErrors",
        f'sum(rate(apiserver_request_total{{{_JOB},code=~"5.."}}[5m])) > 0.1',
        "10m",
        "warning",
        "The hub has answered requests with server errors for ten minutes.",
    ),
    Alert(
        "MusterHubSlow",
        "histogram_quantile(0.99, sum by (le) (rate(apiserver_request_duration_seconds_bucket"
        f'{{{_JOB},verb!="LIST"}}[5m]))) > 1',
        "10m",
        "warning",
        "One request in a hundred takes longer than a second.",
    ),
    Alert(
        "MusterHubRefuses",
        f"sum by (reason) (rate(apiserver_rejected_requests_total{{{_JOB}}}[5m])) > 1",
        "5m",
        "warning",
        "The hub refuses requests to protect itself: {{ $labels.reason }}.",
    ),
    Alert(
        "MusterRemovalsHeld",
        f"max(muster_placements_held{{{_JOB}}}) > 0",
        "0m",
        "warning",
        "{{ $value }} placements hold removals that somebody has to approve.",
    ),
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture: a title, what it says, expressions with their legends, and the unit."""

    title: str
    text: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 12


def _quantiles(metric: str, more: str = "") -> tuple[tuple[str, str], ...]:
    return tuple(
        (
            f"histogram_quantile({q}, sum by (le) (rate({metric}_bucket{{{_JOB}{more}}}[$__rate_interval])))",
            f"p{int(q * 100)}",
        )
        for q in (0.5, 0.99)
    )


def _now(metric: str, title: str, text: str) -> Panel:
    return Panel(title, text, ((f"max({metric}{{{_JOB}}})", ""),), kind="stat", width=6)


DECISIONS: Final = (
    _now("muster_fleet_clusters", "Clusters", "In the fleet now."),
    _now("muster_placements", "Placements", "Kept scheduled."),
    _now("muster_placements_held", "Held", "Placements with removals that wait for an approval."),
    _now("muster_quarantined_objects", "Set aside", "Objects whose evaluation has killed or hung the controllers."),
    Panel("Scheduling", "How long one schedule takes.", _quantiles("scheduling_scheduling_duration_seconds"), "s"),
    Panel(
        "Writing decisions",
        "How long until decisions are written.",
        _quantiles("scheduling_bind_duration_seconds"),
        "s",
    ),
    Panel(
        "Decisions written",
        "By what was done to them.",
        ((f"sum by (deed) (rate(muster_placement_decision_writes_total{{{_JOB}}}[$__rate_interval]))", "{{deed}}"),),
        "ops",
    ),
    Panel("Keys that wait", "By controller.", ((f"max by (name) (workqueue_depth{{{_JOB}}})", "{{name}}"),)),
    Panel(
        "Failures and conflicts",
        "Reconciliations that failed, writes that came second.",
        (
            (
                f"sum by (controller) (rate(muster_controller_errors_total{{{_JOB}}}[$__rate_interval]))",
                "{{controller}} failed",
            ),
            (
                f"sum by (controller) (rate(muster_controller_conflicts_total{{{_JOB}}}[$__rate_interval]))",
                "{{controller}} conflict",
            ),
        ),
        "ops",
    ),
    Panel(
        "CEL",
        "Evaluations, and verdicts that a change of a cluster turned.",
        (
            (f"sum(rate(muster_cel_evaluations_total{{{_JOB}}}[$__rate_interval]))", "evaluations"),
            (f"sum(rate(muster_mask_flips_total{{{_JOB}}}[$__rate_interval]))", "turned"),
        ),
        "ops",
    ),
    Panel(
        "Hosts and operators",
        "Queries over inventories, resolutions by outcome.",
        (
            (f"sum(rate(muster_classification_evaluations_total{{{_JOB}}}[$__rate_interval]))", "queries"),
            (f"sum by (outcome) (rate(muster_resolution_outcomes_total{{{_JOB}}}[$__rate_interval]))", "{{outcome}}"),
        ),
        "ops",
    ),
    Panel(
        "Objects that cannot be read",
        "By kind; their last good state counts.",
        ((f"max by (kind) (muster_unreadable_objects_now{{{_JOB}}})", "{{kind}}"),),
    ),
)
HUB: Final = (
    Panel(
        "Requests",
        "By verb.",
        ((f"sum by (verb) (rate(apiserver_request_total{{{_JOB}}}[$__rate_interval]))", "{{verb}}"),),
        "reqps",
    ),
    Panel(
        "Answers that are errors",
        "By code.",
        ((f'sum by (code) (rate(apiserver_request_total{{{_JOB},code=~"[45].."}}[$__rate_interval]))', "{{code}}"),),
        "reqps",
    ),
    Panel("Duration", "Without lists.", _quantiles("apiserver_request_duration_seconds", ',verb!="LIST"'), "s"),
    Panel("Duration of lists", "", _quantiles("apiserver_request_duration_seconds", ',verb="LIST"'), "s"),
    Panel(
        "Watches",
        "Open now, by resource.",
        ((f"sum by (resource) (apiserver_longrunning_requests{{{_JOB}}})", "{{resource}}"),),
    ),
    Panel(
        "Watch events",
        "Sent, by resource.",
        ((f"sum by (resource) (rate(apiserver_watch_events_total{{{_JOB}}}[$__rate_interval]))", "{{resource}}"),),
        "ops",
    ),
    Panel(
        "Refused to protect the hub",
        "By reason.",
        ((f"sum by (reason) (rate(apiserver_rejected_requests_total{{{_JOB}}}[$__rate_interval]))", "{{reason}}"),),
        "reqps",
    ),
    Panel(
        "Writes",
        "Revisions of the store, and up to where history is gone.",
        (
            (f"max(muster_store_revision{{{_JOB}}})", "newest"),
            (f"max(muster_store_compacted_revision{{{_JOB}}})", "compacted"),
        ),
    ),
    Panel(
        "Memory",
        "Of both processes.",
        (
            (f"max(process_resident_memory_bytes{{{_JOB}}})", "API server"),
            (f"max(muster_controllers_process_resident_memory_bytes{{{_JOB}}})", "controllers"),
        ),
        "bytes",
    ),
    Panel(
        "CPU",
        "Of both processes.",
        (
            (f"sum(rate(process_cpu_seconds_total{{{_JOB}}}[$__rate_interval]))", "API server"),
            (f"sum(rate(muster_controllers_process_cpu_seconds_total{{{_JOB}}}[$__rate_interval]))", "controllers"),
        ),
    ),
)
DASHBOARDS: Final = {
    "muster-decisions": ("Muster: decisions", DECISIONS),
    "muster-hub": ("Muster: hub", HUB),
}


def rules() -> str:
    """The rules file of Prometheus."""
    groups = [
        {"name": name, "rules": [_rule(each) for each in alerts]}
        for name, alerts in (("muster", ALERTS), ("muster-hub", HUB_ALERTS))
    ]
    head = "# Made by `python -m release.observing`. What to do about each: docs/guides/kubernetes.md.\n"
    return head + yaml.safe_dump({"groups": groups}, sort_keys=False, width=120, allow_unicode=True)


def _rule(alert: Alert) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.expression.replace(_OURS, f"{{{_JOB}}}"),
        "for": alert.lasting,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary},
    }


def dashboard(uid: str) -> str:
    """One of the dashboards, as Grafana imports it."""
    title, panels = DASHBOARDS[uid]
    x = y = 0
    shown = []
    for number, panel in enumerate(panels, start=1):
        height = 4 if panel.kind == "stat" else 8
        if x + panel.width > 24:
            x, y = 0, y + 8
        shown.append(_panel(number, panel, {"h": height, "w": panel.width, "x": x, "y": y}))
        x += panel.width
        if x >= 24:
            x, y = 0, y + height
    found = {
        "uid": uid,
        "title": title,
        "tags": ["muster"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}]
        },
        "panels": shown,
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _panel(number: int, panel: Panel, place: dict[str, int]) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    targets = [
        {"refId": chr(ord("A") + at), "datasource": source, "expr": query, "legendFormat": legend}
        for at, (query, legend) in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": source,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": targets,
    }


def written() -> dict[Path, str]:
    """What is in deploy/, by file."""
    found = {DEPLOY / "prometheus" / "muster.rules.yaml": rules()}
    return found | {DEPLOY / "grafana" / f"{uid}.json": dashboard(uid) for uid in DASHBOARDS}


if __name__ == "__main__":
    for path, text in written().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
