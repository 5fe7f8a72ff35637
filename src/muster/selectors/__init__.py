"""From what users write to what can match: labels, claims, CEL, identities, purposes, cluster-set membership.

The selectors over objects with purposes are types that others put into their own, see `embedded`.
Names are imported when somebody asks for them: a reason that is read and shown needs no language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.selectors.embedded": (
            "EmbeddedSelector",
            "IdentityLabelPurposeSelector",
            "IdentityLabelSelector",
            "IdentityPurposeSelector",
            "IdentitySelector",
            "LabelExpression",
            "LabelPurposeSelector",
            "LabelSelector",
            "ObjectIdentity",
            "PurposeExpression",
            "PurposeSelector",
        ),
        "muster.selectors.match": ("Match", "Selector", "Verdict"),
        "muster.selectors.specs": (
            "CelSelectorSpec",
            "ClaimSelectorSpec",
            "ClusterSelectorSpec",
            "LabelSelectorSpec",
            "MembershipSpec",
            "PurposedSelectorSpec",
            "SelectorSpec",
            "compile_selector",
            "spec_of",
        ),
    },
)
