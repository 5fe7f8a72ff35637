"""How large the parts of a ManagedCluster can be: what makes a worst-case cost mean something.

Sizes are characters of strings, elements of lists and maps. Kubernetes gives hard bounds for names, labels and claims;
the others are generous for what real clusters report. An expression is refused when it would be too expensive on a
cluster of these sizes, and halted when a larger cluster makes it so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cel.ranges import Range
from muster.cel.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.types import Type

# Paths as the estimator names them: fields, @items and @indices of lists, @keys and @values of maps.
BOUNDS: Final[Mapping[tuple[str, ...], int]] = {
    ("metadata", "name"): 253,
    ("metadata", "labels"): 100,
    ("metadata", "labels", "@keys"): 317,
    ("metadata", "labels", "@values"): 63,
    ("metadata", "annotations"): 100,
    ("metadata", "annotations", "@keys"): 317,
    ("metadata", "annotations", "@values"): 4096,
    ("metadata", "finalizers"): 20,
    ("spec", "taints"): 50,
    ("spec", "managedClusterClientConfigs"): 10,
    ("status", "version", "kubernetes"): 64,
    ("status", "capacity"): 50,
    ("status", "allocatable"): 50,
    ("status", "clusterClaims"): 100,
    ("status", "clusterClaims", "@items", "name"): 253,
    ("status", "clusterClaims", "@items", "value"): 1024,
    ("status", "properties"): 100,
    ("status", "properties", "@items", "name"): 253,
    ("status", "properties", "@items", "value"): 1024,
    ("status", "conditions"): 50,
}
SCORES_ITEMS: Final = 100
_SIZED: Final = frozenset({Kind.STRING, Kind.BYTES, Kind.LIST, Kind.MAP, Kind.DYN, Kind.ANY})
TEXT: Final = 1024  # any other string
COLLECTION: Final = 100  # any other list or map, and what parseJSON makes


def size_hints(path: tuple[str, ...], type_: Type) -> Range | None:
    """The size of what stands at a path of an expression's inputs or intermediate values."""
    if type_.kind not in _SIZED:
        return None
    below = path[1:] if path[:1] == ("managedCluster",) else path
    # An element of something dynamic may be that of a list or the key of a map; the estimator says @keys for both.
    known = BOUNDS.get(below) or BOUNDS.get(tuple("@items" if step == "@keys" else step for step in below))
    if known is None and below[:2] in (("metadata", "labels"), ("metadata", "annotations")) and len(below) == 3:
        known = BOUNDS[(*below[:2], "@values")]
    if known is not None:
        return Range(0, known)
    return Range(0, TEXT if type_.kind in (Kind.STRING, Kind.BYTES) else COLLECTION)
