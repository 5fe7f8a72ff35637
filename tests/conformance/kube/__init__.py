"""The recorded behaviour of kube-apiserver 1.36 and of Kubernetes' selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.kube.admission import run_reviews
from tests.conformance.kube.garbage import run_garbage
from tests.conformance.kube.golden import run_api, run_watch
from tests.conformance.kube.labels import run_labels
from tests.conformance.kube.newer import run_certificates, run_events, run_surface
from tests.conformance.kube.selectors import run_selectors
from tests.conformance.kube.traces import run_traces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conformance.results import Runner

FILES: Mapping[str, Runner] = {
    "admission_reviews.json": run_reviews,
    "gc_observed.json": run_garbage,
    "golden_api.json": run_api,
    "golden_csr.json": run_certificates,
    "golden_events.json": run_events,
    "golden_surface.json": run_surface,
    "golden_watch.json": run_watch,
    "labels.json": run_labels,
    "selectors.json": run_selectors,
    "traces/kubectl120.txt": run_traces,
    "traces/kubectl133.txt": run_traces,
    "traces/kubectl136.txt": run_traces,
}
