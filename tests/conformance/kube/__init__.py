"""The recorded behaviour of kube-apiserver 1.36 and of Kubernetes' selectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.kube.admission import run_reviews
from tests.conformance.kube.golden import run_api, run_watch
from tests.conformance.kube.labels import run_labels
from tests.conformance.kube.selectors import run_selectors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conformance.results import Runner

FILES: Mapping[str, Runner] = {
    "admission_reviews.json": run_reviews,
    "golden_api.json": run_api,
    "golden_watch.json": run_watch,
    "labels.json": run_labels,
    "selectors.json": run_selectors,
}

PENDING: Mapping[str, str] = {
    "gc_observed.json": "the garbage collector",
    "traces/kubectl120.txt": "a reader; tests/e2e drives the real kubectl",
    "traces/kubectl133.txt": "a reader; tests/e2e drives the real kubectl",
    "traces/kubectl136.txt": "a reader; tests/e2e drives the real kubectl",
}
