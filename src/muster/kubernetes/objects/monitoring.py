"""For the Prometheus operator, by a setting: where our metrics are, and what somebody should be told of.

Rules name metrics that the controllers and the serving part really have; a test compares them. What to do about each is
said in docs/guides/kubernetes.md under the rule's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.kubernetes.objects.common import named
from muster.kubernetes.objects.workload import SELECTOR
from muster.kubernetes.settings import NAME
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

_GROUP: Final = "monitoring.coreos.com/v1"
#: Stands for the job and namespace of our Pods in expressions.
_OURS: Final = "{ours}"


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing to be told of."""

    name: str
    expression: str
    lasting: str
    severity: str
    summary: str


ALERTS: Final = (
    Alert(
        "MusterDown",
        f"absent(up{_OURS} == 1)",
        "5m",
        "critical",
        "No Pod of Muster answers: decisions stand still, and writes that need a webhook are refused.",
    ),
    Alert(
        "MusterFleetShrank",
        f"max(muster_fleet_clusters{_OURS}) < 0.7 * max(max_over_time(muster_fleet_clusters{_OURS}[10m]))",
        "1m",
        "critical",
        "More than 30 % of the clusters have left the fleet within ten minutes.",
    ),
    Alert(
        "MusterCertificateEnds",
        f"min(muster_certificate_seconds_left{_OURS}) < 14 * 86400",
        "1h",
        "warning",
        "The certificate of the webhooks has less than two weeks left, and nobody has renewed it.",
    ),
    Alert(
        "MusterReconciliationsFail",
        f"sum by (controller) (rate(muster_controller_errors_total{_OURS}[5m])) > 0.1",
        "10m",
        "warning",
        "The controller {{ $labels.controller }} has kept failing for ten minutes.",
    ),
    Alert(
        "MusterQueueWaits",
        f"min by (name) (min_over_time(workqueue_depth{_OURS}[10m])) > 100",
        "5m",
        "warning",
        "More than 100 keys have waited for the controller {{ $labels.name }} for ten minutes.",
    ),
    Alert(
        "MusterSchedulingSlow",
        f"histogram_quantile(0.99, sum by (le) (rate(scheduling_scheduling_duration_seconds_bucket{_OURS}[5m]))) > 1",
        "10m",
        "warning",
        "One schedule in a hundred takes longer than a second.",
    ),
    Alert(
        "MusterDecisionsSlow",
        f"histogram_quantile(0.99, sum by (le) (rate(scheduling_bind_duration_seconds_bucket{_OURS}[5m]))) > 10",
        "10m",
        "warning",
        "One write of decisions in a hundred takes longer than ten seconds.",
    ),
    Alert(
        "MusterObjectsUnreadable",
        f"max by (kind) (muster_unreadable_objects_now{_OURS}) > 0",
        "5m",
        "warning",
        "{{ $value }} objects of kind {{ $labels.kind }} cannot be read; their last good state counts.",
    ),
    Alert(
        "MusterObjectsQuarantined",
        f"max(muster_quarantined_objects{_OURS}) > 0",
        "1m",
        "warning",
        "{{ $value }} objects are set aside because their evaluation has killed or hung the controllers.",
    ),
    Alert(
        "MusterQueriesPaused",
        f"increase(muster_classification_pauses_total{_OURS}[15m]) > 0",
        "0m",
        "warning",
        "Queries over hosts were paused because they exhausted their budget.",
    ),
    Alert(
        "MusterEventsDropped",
        f"increase(muster_events_dropped_total{_OURS}[15m]) > 0",
        "0m",
        "info",
        "Events were not recorded because too many waited.",
    ),
)


def monitoring(settings: HomeSettings) -> Iterator[JsonObject]:
    home = settings.namespace
    yield named(_GROUP, "ServiceMonitor", NAME, home) | {
        "spec": {
            "selector": {"matchLabels": dict(SELECTOR)},
            "endpoints": [{"port": "metrics", "path": "/metrics", "interval": "30s"}],
        }
    }
    rules = [_rule(each, home) for each in ALERTS]
    yield named(_GROUP, "PrometheusRule", NAME, home) | {"spec": {"groups": [{"name": NAME, "rules": rules}]}}


def _rule(alert: Alert, namespace: str) -> JsonObject:
    ours = f'{{job="{NAME}",namespace="{namespace}"}}'
    return {
        "alert": alert.name,
        "expr": alert.expression.replace(_OURS, ours),
        "for": alert.lasting,
        "labels": {"severity": alert.severity},
        "annotations": {"summary": alert.summary},
    }
