"""What a replica measures of its serving, and health as one sentence per part. Served by `health.py`."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class ServingMetrics:
    """One registry per replica."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(namespace="muster_serving", registry=self.registry)
        self._webhooks = Counter(
            "muster_webhook_requests", "Reviews answered.", ("path", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "muster_webhook_seconds", "How long reviews took.", ("path",), buckets=_BUCKETS, registry=self.registry
        )

    @contextmanager
    def webhook(self, path: str) -> Iterator[Callable[[int], None]]:
        """While a review is answered; tell it the code."""
        started, told = time.perf_counter(), [500]
        try:
            yield lambda code: told.__setitem__(0, code)
        finally:
            self._webhooks.labels(path, str(told[0])).inc()
            self._seconds.labels(path).observe(time.perf_counter() - started)

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        Gauge(name, help_text, registry=self.registry).set_function(read)

    def render(self) -> bytes:
        return generate_latest(self.registry)
