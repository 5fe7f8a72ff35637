"""The hub's own numbers for Prometheus, named as kube-apiserver names them where it has the same number.

One registry per application, so that two hubs in one process do not count each other's requests.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)


_What = tuple[str, str, str, str, str]
_LABELS = ("verb", "group", "version", "resource", "subresource")
_BOUNDS = (*map(floatToGoString, _BUCKETS), "+Inf")


class _Times:
    """How long requests of one kind took: how many fell into each bucket, and the sum."""

    __slots__ = ("begun", "counts", "total")

    def __init__(self) -> None:
        self.begun = time.time()
        self.counts = [0] * len(_BOUNDS)
        self.total = 0.0


class _Requests(Collector):
    """Requests, counted by the loop and told to whoever looks, on another thread.

    Two additions for each request, where the library's own counters take a dozen calls and two locks.
    """

    def __init__(self) -> None:
        self._answers: dict[tuple[_What, int], int] = {}
        self._begun: dict[tuple[_What, int], float] = {}  # when the first of them was counted
        self._times: dict[_What, _Times] = {}

    def observe(self, what: _What, code: int, seconds: float | None) -> None:
        key = what, code
        count = self._answers.get(key)
        if count is None:
            self._begun[key] = time.time()
            count = 0
        self._answers[key] = count + 1
        if seconds is not None:
            times = self._times.get(what)
            if times is None:
                times = self._times[what] = _Times()
            times.counts[bisect_left(_BUCKETS, seconds)] += 1
            times.total += seconds

    def collect(self) -> Iterator[Metric]:
        answers = CounterMetricFamily(
            "apiserver_request_total", "Requests by verb, resource and answer.", labels=(*_LABELS, "code")
        )
        for key, count in tuple(self._answers.items()):  # a copy: requests go on meanwhile
            what, code = key
            answers.add_metric((*what, str(code)), count, created=self._begun[key])
        yield answers
        durations = HistogramMetricFamily(
            "apiserver_request_duration_seconds", "How long requests took, watches excepted.", labels=_LABELS
        )
        for what, times in tuple(self._times.items()):
            total, counts = times.total, accumulate(tuple(times.counts))
            durations.add_metric(what, list(zip(_BOUNDS, counts, strict=True)), total)
            durations.add_sample(
                "apiserver_request_duration_seconds_created", dict(zip(_LABELS, what, strict=True)), times.begun
            )
        yield durations


class Metrics:
    """Counts requests and watches; `gauge` adds a number that is read when somebody looks."""

    def __init__(self, others: Callable[[], Awaitable[bytes]] | None = None) -> None:
        """`others` gives the metrics of processes that belong to the hub, rendered."""
        self._others = others
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._requests = _Requests()
        self.registry.register(self._requests)
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

    def gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """A number that is read whenever the metrics are."""
        Gauge(name, description, registry=self.registry).set_function(read)

    def observe(self, what: tuple[str, str, str, str, str], code: int, seconds: float | None) -> None:
        """Count a finished request: (verb, group, version, resource, subresource). No time for watches."""
        self._requests.observe(what, code, seconds)

    async def render(self) -> bytes:
        own = await asyncio.to_thread(generate_latest, self.registry)
        return own if self._others is None else own + await self._others()
