"""The hub's own numbers for Prometheus, named as kube-apiserver names them where it has the same number.

One registry per application, so that two hubs in one process do not count each other's requests.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)


class Metrics:
    """Counts requests and watches; `gauge` adds a number that is read when somebody looks."""

    def __init__(self, others: Callable[[], Awaitable[bytes]] | None = None) -> None:
        """`others` gives the metrics of processes that belong to the hub, rendered."""
        self._others = others
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._requests = Counter(
            "apiserver_request_total",
            "Requests by verb, resource and answer.",
            ("verb", "group", "version", "resource", "subresource", "code"),
            registry=self.registry,
        )
        self._durations = Histogram(
            "apiserver_request_duration_seconds",
            "How long requests took, watches excepted.",
            ("verb", "group", "version", "resource", "subresource"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.watches = Gauge(
            "apiserver_longrunning_requests",
            "Watches that are open now.",
            ("group", "resource"),
            registry=self.registry,
        )
        self.watch_events = Counter(
            "apiserver_watch_events_total", "Events sent to watchers.", ("group", "resource"), registry=self.registry
        )
        self.refused = Counter(
            "apiserver_rejected_requests_total",
            "Requests refused to protect the hub.",
            ("reason",),
            registry=self.registry,
        )
        self._counters: dict[tuple[str, ...], Counter] = {}
        self._histograms: dict[tuple[str, ...], Histogram] = {}

    def gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """A number that is read whenever the metrics are."""
        Gauge(name, description, registry=self.registry).set_function(read)

    def observe(self, what: tuple[str, str, str, str, str], code: int, seconds: float | None) -> None:
        """Count a finished request: (verb, group, version, resource, subresource). No time for watches."""
        # Looking labels up costs more than counting, so the children are kept.
        key = (*what, str(code))
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = self._requests.labels(*key)
        counter.inc()
        if seconds is not None:
            histogram = self._histograms.get(what)
            if histogram is None:
                histogram = self._histograms[what] = self._durations.labels(*what)
            histogram.observe(seconds)

    async def render(self) -> bytes:
        own = await asyncio.to_thread(generate_latest, self.registry)
        return own if self._others is None else own + await self._others()
