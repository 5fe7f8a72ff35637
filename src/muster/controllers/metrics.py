"""What controllers measure, under the names and with the buckets that Open Cluster Management's users know."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import Histogram

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUCKETS = tuple(1e-6 * 10**power for power in range(10))
_SCHEDULING = Histogram(
    "scheduling_scheduling_duration_seconds",
    "How long in seconds it takes to schedule a placement.",
    ["name"],
    buckets=_BUCKETS,
)
_NAME = "placement_scheduling"


@contextmanager
def observe_scheduling() -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        _SCHEDULING.labels(_NAME).observe(time.perf_counter() - started)
