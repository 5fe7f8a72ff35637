"""Alerts name metrics that the controllers have, and each has its section in the guide."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from muster.client import Client, Connection
from muster.controllers.manager import Manager
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.monitoring import ALERTS
from muster.kubernetes.settings import HomeSettings

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "kubernetes.md"
_METRIC = re.compile(r"\b(?:muster|workqueue|scheduling)_[a-z_]+")


def test_every_metric_of_an_alert_is_one_that_the_controllers_have() -> None:
    async def families() -> set[str]:
        async with Client(Connection("https://muster.invalid")) as client:
            names = set()
            for family in Manager(client).metrics.registry.collect():
                suffixes = (
                    ("_total",) if family.type == "counter" else ("_bucket",) if family.type == "histogram" else ("",)
                )
                names |= {family.name + suffix for suffix in suffixes}
            return names

    served = {"muster_certificate_seconds_left"}  # by the serving part, as `test_certificates` finds it
    known = asyncio.run(families()) | served
    named = {name for alert in ALERTS for name in _METRIC.findall(alert.expression)}
    assert named
    assert named <= known


def test_every_alert_is_explained_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [alert.name for alert in ALERTS if f"`{alert.name}`" not in text] == []


def test_expressions_ask_for_our_pods_alone() -> None:
    (found,) = [
        each for each in objects(HomeSettings(monitoring=True, namespace="fleet")) if each["kind"] == "PrometheusRule"
    ]
    expressions = [each["expr"] for each in found["spec"]["groups"][0]["rules"]]
    assert len(expressions) == len(ALERTS)
    assert all('{job="muster",namespace="fleet"}' in each and "{ours}" not in each for each in expressions)
