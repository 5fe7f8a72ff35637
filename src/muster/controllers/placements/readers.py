"""Who reads the kinds that placements depend on, for mirrors and for whoever has objects of files.

Beside nothing else: a question about files needs these, and neither the health of clusters nor their leases.
"""

from __future__ import annotations

from typing import Final

from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.managed_cluster_set import ManagedClusterSet
from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.placement import Placement
from muster.api.placement_decision import PlacementDecision
from muster.api.reading import Reader

SCORES: Final = Reader(AddOnPlacementScore)
SETS: Final = Reader(ManagedClusterSet)
BINDINGS: Final = Reader(ManagedClusterSetBinding)
DECISIONS: Final = Reader(PlacementDecision)
PLACEMENTS: Final = Reader(Placement)
