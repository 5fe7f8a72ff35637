"""Checks on writes beyond the schema: what is filled in, refused or warned of, for every kind.

Plain functions over a write (the old and the new state, who writes) and what they ask to read. The hub calls them in
one transaction with the write; a webhook server calls them with what a Kubernetes API server sends (`review.py`).
Read `write.py` (the vocabulary), then a kind such as `managed_cluster.py`, then `kinds.py` (which kind has which).
"""

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.admission.kinds import KINDS, Settings, mutate, validate
    from muster.admission.write import Asker, Finding, Refusal, World, Write, refused

__all__ = [
    "KINDS",
    "Asker",
    "Finding",
    "Refusal",
    "Settings",
    "World",
    "Write",
    "mutate",
    "refused",
    "validate",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.admission.kinds": (
            "KINDS",
            "Settings",
            "mutate",
            "validate",
        ),
        "muster.admission.write": (
            "Asker",
            "Finding",
            "Refusal",
            "World",
            "Write",
            "refused",
        ),
    },
)
