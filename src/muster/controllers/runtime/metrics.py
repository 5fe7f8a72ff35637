"""What controllers measure, under the names and with the buckets that Open Cluster Management's users know.

`answers` serves them on loopback; the hub adds them to its own. One registry per manager, so that two in one process
do not count each other's work.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


SCHEDULING: Final = "placement_scheduling"
# Powers of ten as upstream's arithmetic gives them: the bounds are part of the name of a series.
_BUCKETS: Final = (1e-06, 9.999999999999999e-06, 9.999999999999999e-05, 0.001, 0.01, 0.1, 1, 10, 100, 1000)
_WHOLE: Final = re.compile(rb'(?<=le=")(\d+)\.0(?=")|(?<= )(\d+)\.0$', re.MULTILINE)

_BOUND_FIRST: Final = re.compile(rb'\{(le="[^"]+"),([^}]+)\}')


class _ReadCounter(Collector):
    """A counter that somebody else keeps."""

    def __init__(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        self._name, self._help, self._read = name, help_text, read

    def collect(self) -> Iterator[CounterMetricFamily]:
        yield CounterMetricFamily(self._name, self._help, value=self._read())


class Waiting(Protocol):
    """A queue, whatever its keys are: how many wait, and for how many seconds the oldest has."""

    def __len__(self) -> int: ...
    @property
    def waited(self) -> float: ...


class ControllerMetrics:
    """Durations of the placement controller, and counts of every controller's work."""

    def __init__(self) -> None:
        # Nobody reads the series of creation times, and the known names come without them.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library leaves it untyped
        self.registry = CollectorRegistry()
        ProcessCollector(namespace="muster_controllers", registry=self.registry)
        self._scheduling = self._durations(
            "scheduling_scheduling", "How long in seconds it takes to schedule a placement."
        )
        self._binding = self._durations(
            "scheduling_bind", "How long in seconds it takes to write a placement's decisions."
        )
        self._cel = self._durations("scheduling_cel", "[ALPHA] How long in seconds it takes to schedule a placement.")
        self._plugins = Histogram(
            "scheduling_plugin_duration_seconds",
            "How long in seconds a plugin runs in a schedule.",
            ("name", "plugin_type", "plugin_name"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._errors = self._counter("muster_controller_errors", "Reconciliations that failed.", "controller")
        self._conflicts = self._counter(
            "muster_controller_conflicts", "Writes that came second and were tried again.", "controller"
        )
        self._decisions = self._counter("muster_placement_decision_writes", "PlacementDecisions written.", "deed")
        self.queues: dict[str, Waiting] = {}
        self._depth = Gauge("workqueue_depth", "Keys that wait.", ("name",), registry=self.registry)

    def _durations(self, name: str, help_text: str) -> Histogram:
        return Histogram(f"{name}_duration_seconds", help_text, ("name",), buckets=_BUCKETS, registry=self.registry)

    def _counter(self, name: str, help_text: str, label: str) -> Counter:
        return Counter(name, help_text, (label,), registry=self.registry)

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """A number that is read whenever the metrics are."""
        Gauge(name, help_text, registry=self.registry).set_function(read)

    def counter(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """The same for a number that only grows."""
        self.registry.register(_ReadCounter(name, help_text, read))

    def durations(self, name: str, help_text: str) -> Callable[[float], None]:
        """A histogram of seconds; what it returns takes one more."""
        return Histogram(f"{name}_duration_seconds", help_text, buckets=_BUCKETS, registry=self.registry).observe

    def tally(self, name: str, help_text: str, label: str) -> Callable[[str], None]:
        """A counter by the values of a label; what it returns counts one more."""
        counter = self._counter(name, help_text, label)
        return lambda value: counter.labels(value).inc()

    def watch_queue(self, name: str, queue: Waiting) -> None:
        self.queues[name] = queue
        self._depth.labels(name).set_function(lambda: len(queue))
        # Nothing has failed yet: who looks at rates must see the zero.
        self._errors.labels(name)
        self._conflicts.labels(name)

    def count_error(self, controller: str) -> None:
        self._errors.labels(controller).inc()

    def count_conflict(self, controller: str) -> None:
        self._conflicts.labels(controller).inc()

    def count_decision(self, deed: str) -> None:
        self._decisions.labels(deed).inc()

    @contextmanager
    def scheduling(self) -> Iterator[None]:
        with _timed(self._scheduling):
            yield

    @contextmanager
    def binding(self) -> Iterator[None]:
        with _timed(self._binding):
            yield

    def observe_cel(self, seconds: float) -> None:
        """The time that went into a placement's expressions since it was scheduled last."""
        self._cel.labels(SCHEDULING).observe(seconds)

    def observe_plugin(self, kind: str, name: str, seconds: float) -> None:
        self._plugins.labels(SCHEDULING, kind, name).observe(seconds)

    def render(self) -> bytes:
        # As Go writes it: whole numbers without a point, the bound after the other labels.
        text = _WHOLE.sub(rb"\1\2", generate_latest(self.registry))
        return _BOUND_FIRST.sub(rb"{\2,\1}", text)


@contextmanager
def _timed(histogram: Histogram) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        histogram.labels(SCHEDULING).observe(time.perf_counter() - started)
