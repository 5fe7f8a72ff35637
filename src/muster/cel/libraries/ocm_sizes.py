"""How large the parts of a ManagedCluster may be: the bounds that static cost estimates of its expressions rest on.

One table for fields, scores and parsed JSON. `managed_cluster_sizes` is given to `Program.estimate`; whoever admits
expressions compares the greatest cost with STATIC_COST_LIMIT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.costs.ranges import Range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.operands import SizePath

STATIC_COST_LIMIT = 10_000_000  # of one expression, as Kubernetes has it for a rule of a CRD

_CLUSTER = "managedCluster"
ANYTHING_ELSE = 1024  # elements or characters of a field that the table does not name

# A star stands for any element, key or value. Sizes are the most elements, entries or characters.
LARGEST: Mapping[tuple[str, ...], int] = {
    (_CLUSTER,): 8,
    (_CLUSTER, "metadata"): 20,
    (_CLUSTER, "metadata", "name"): 253,
    (_CLUSTER, "metadata", "labels"): 128,
    (_CLUSTER, "metadata", "labels", "*"): 63,
    (_CLUSTER, "metadata", "annotations"): 128,
    (_CLUSTER, "metadata", "annotations", "*"): 65_536,
    (_CLUSTER, "spec", "taints"): 64,
    (_CLUSTER, "spec", "managedClusterClientConfigs"): 16,
    (_CLUSTER, "status", "clusterClaims"): 128,
    (_CLUSTER, "status", "clusterClaims", "*", "name"): 253,
    (_CLUSTER, "status", "clusterClaims", "*", "value"): 1024,
    (_CLUSTER, "status", "properties"): 128,
    (_CLUSTER, "status", "properties", "*", "name"): 253,
    (_CLUSTER, "status", "properties", "*", "value"): 1024,
    (_CLUSTER, "status", "conditions"): 64,
    (_CLUSTER, "status", "version", "kubernetes"): 64,
    (_CLUSTER, "status", "capacity"): 64,
    (_CLUSTER, "status", "capacity", "*"): 64,
    (_CLUSTER, "status", "allocatable"): 64,
    (_CLUSTER, "status", "allocatable", "*"): 64,
    ("@scores",): 64,  # items of one AddOnPlacementScore
}
_STEPS = frozenset({"@items", "@keys", "@values", "@indices"})


def managed_cluster_sizes(path: SizePath, _: Type) -> Range | None:
    """The size under a path. What came out of a call is at most as large as a field without a bound of its own."""
    general = tuple("*" if step in _STEPS else step for step in path)
    labels = (*general[:-1], "*")  # labels["env"] and labels.env are values too
    return Range(0, LARGEST.get(general, LARGEST.get(labels, ANYTHING_ELSE)))
