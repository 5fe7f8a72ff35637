"""About hub/rest/metrics.py: requests are told as the library's own counters tell them."""

from __future__ import annotations

import asyncio
import re

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram, enable_created_metrics, generate_latest

from muster.hub.rest import metrics
from muster.hub.rest.metrics import Metrics

LABELS = ("verb", "group", "version", "resource", "subresource")
PODS = ("get", "", "v1", "pods", "")
CLUSTERS = ("patch", "g", "v1", "clusters", "status")


def told(text: bytes) -> list[str]:
    """What is told of requests, without the moments at which something was counted first."""
    lines = [line for line in text.decode().splitlines() if "apiserver_request_" in line]
    return [re.sub(r"(_created\{.*\}) .*", r"\1", line) for line in lines]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([PODS, CLUSTERS]),
            st.sampled_from([200, 409]),
            st.one_of(st.none(), st.sampled_from([0.0, 0.001, 0.0011, 0.3, 60.0, 61.0])),
        ),
        max_size=20,
    )
)
def test_requests_are_counted_as_the_library_counts_them(
    requests: list[tuple[tuple[str, str, str, str, str], int, float | None]],
) -> None:
    enable_created_metrics()  # type: ignore[no-untyped-call]  # as in the hub's process: the controllers switch them off
    ours, theirs = Metrics(), CollectorRegistry()
    counter = Counter(
        "apiserver_request_total", "Requests by verb, resource and answer.", (*LABELS, "code"), registry=theirs
    )
    histogram = Histogram(
        "apiserver_request_duration_seconds",
        "How long requests took, watches excepted.",
        LABELS,
        buckets=metrics._BUCKETS,
        registry=theirs,
    )
    for what, code, seconds in requests:
        ours.observe(what, code, seconds)
        counter.labels(*what, str(code)).inc()
        if seconds is not None:
            histogram.labels(*what).observe(seconds)
    assert told(asyncio.run(ours.render())) == told(generate_latest(theirs))
