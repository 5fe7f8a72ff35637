"""ManagedClusterSetBinding: named after the set it binds, so that a namespace has one binding of a set at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.admission.write import NOTHING, Finding, refused, spec_of

if TYPE_CHECKING:
    from muster.admission.write import Write


def same_name(write: Write) -> Finding:
    """The binding's name must be the set's."""
    if write.new is None or write.subresource:
        return NOTHING
    if spec_of(write.new).get("clusterSet") == write.new["metadata"].get("name"):
        return NOTHING
    return refused("The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet")
