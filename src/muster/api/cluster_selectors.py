"""Typed views of the selectors over clusters and cluster requests: by identity, by labels, by purposes.

Other kinds nest them. Null and the empty list differ for identities: null restricts nothing, an empty list selects
nothing; so `match_identities` is None or a tuple, and both survive decoding and encoding.
"""

from __future__ import annotations

import msgspec

from muster.api.parts import LabelRequirement, Part


class Identity(Part, frozen=True):
    name: str = ""
    namespace: str = ""


class PurposeRequirement(Part, frozen=True):
    operator: str = ""
    values: tuple[str, ...] = ()


class ClusterSelectorSpec(Part, frozen=True):
    """All three selectors; a cluster must match each."""

    match_identities: tuple[Identity, ...] | None = None
    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()
    match_purposes: tuple[PurposeRequirement, ...] = ()
