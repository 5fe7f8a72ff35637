"""The names by which classifications and agents are tied: label keys, annotations, the finalizer, condition types."""

from __future__ import annotations

from typing import Final

from muster.api.agent_classification import ERROR_PREFIX, LABEL_PREFIX

FINALIZER: Final = f"{LABEL_PREFIX}finalizer"
UPDATED_AT: Final = f"{LABEL_PREFIX}updatedat"
"""Annotation: when the labels of an agent were last changed by us."""

APPLIED: Final = f"{LABEL_PREFIX}applied"
"""Annotation: the labels of an agent that we keep, as JSON by key. It tells our labels from those set by hand, even
when the classification that wanted them is gone."""

QUERY_VALID: Final = "QueryValid"
QUERY_ERRORS: Final = "QueryErrors"
QUERY_PAUSED: Final = "QueryPaused"
LABELS_APPLIED: Final = "LabelsApplied"

__all__ = [
    "APPLIED",
    "ERROR_PREFIX",
    "FINALIZER",
    "LABELS_APPLIED",
    "LABEL_PREFIX",
    "QUERY_ERRORS",
    "QUERY_PAUSED",
    "QUERY_VALID",
    "UPDATED_AT",
]
