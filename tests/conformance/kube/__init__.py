"""The recorded behaviour of kube-apiserver 1.36 and of Kubernetes' selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.kube.admission import run_reviews
from tests.conformance.kube.crds import run_definitions
from tests.conformance.kube.garbage import run_garbage
from tests.conformance.kube.golden import API, WATCH
from tests.conformance.kube.labels import LABELS
from tests.conformance.kube.newer import run_certificates, run_events, run_surface
from tests.conformance.kube.selectors import REFERENCES, SELECTORS
from tests.conformance.kube.traces import TRACES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.results import Runner

FILES: Mapping[str, Runner | Sequence[Runner]] = {
    "admission_reviews.json": run_reviews,
    "gc_observed.json": run_garbage,
    "golden_api.json": API,
    "golden_crds.json": run_definitions,
    "golden_csr.json": run_certificates,
    "golden_events.json": run_events,
    "golden_surface.json": run_surface,
    "golden_watch.json": WATCH,
    "labels.json": LABELS,
    "selectors.json": [SELECTORS, REFERENCES],
    "traces/*.txt": TRACES,
}
