"""From what users write to what can match: labels, claims, CEL, identities, purposes, cluster-set membership.

The selectors over objects with purposes are types that others put into their own, see `embedded`.
"""

from muster.selectors.embedded import (
    EmbeddedSelector,
    IdentityLabelPurposeSelector,
    IdentityLabelSelector,
    IdentityPurposeSelector,
    IdentitySelector,
    LabelExpression,
    LabelPurposeSelector,
    LabelSelector,
    ObjectIdentity,
    PurposeExpression,
    PurposeSelector,
)
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
    "EmbeddedSelector",
    "IdentityLabelPurposeSelector",
    "IdentityLabelSelector",
    "IdentityPurposeSelector",
    "IdentitySelector",
    "LabelExpression",
    "LabelPurposeSelector",
    "LabelSelector",
    "LabelSelectorSpec",
    "Match",
    "MembershipSpec",
    "ObjectIdentity",
    "PurposeExpression",
    "PurposeSelector",
    "PurposedSelectorSpec",
    "Selector",
    "SelectorSpec",
    "Verdict",
    "compile_selector",
    "spec_of",
]
