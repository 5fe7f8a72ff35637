"""The objects that placements choose by, as the server has them: the world and its helpers share them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.api.placement import Placement
    from muster.controllers.placements.keys import Key
    from muster.controllers.runtime.mirror import Stored
    from muster.placement import Rule


@dataclass(frozen=True, slots=True)
class PlacementObjects:
    """Placements, sets with their rules, and bindings by namespace and set."""

    placements: dict[Key, Stored[Placement]] = field(default_factory=dict)
    sets: dict[str, Stored[ManagedClusterSet]] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)  # a set that is misconfigured keeps its last good one
    bindings: dict[str, dict[str, Stored[ManagedClusterSetBinding]]] = field(default_factory=dict)
