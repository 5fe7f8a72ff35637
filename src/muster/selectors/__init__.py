"""From what users write to what can match: labels, claims, CEL, identities, purposes, cluster-set membership."""

from muster.selectors.match import Match, Selector, Verdict
from muster.selectors.specs import (
    CelSelectorSpec,
    ClaimSelectorSpec,
    ClusterSelectorSpec,
    LabelSelectorSpec,
    MembershipSpec,
    PurposedSelectorSpec,
    SelectorSpec,
    compile_selector,
    spec_of,
)

__all__ = [
    "CelSelectorSpec",
    "ClaimSelectorSpec",
    "ClusterSelectorSpec",
    "LabelSelectorSpec",
    "Match",
    "MembershipSpec",
    "PurposedSelectorSpec",
    "Selector",
    "SelectorSpec",
    "Verdict",
    "compile_selector",
    "spec_of",
]
