"""The annotation in which kubectl remembers what it applied from its own side, as far as server-side apply heeds it.

When kubectl goes over to applying on the server, it may take the fields it owned by that annotation, and the
annotation is kept up to date for the day it goes back. Other managers never touch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.metadata import annotations_of, metadata_of
from muster.hub.patches.comparison import applied_fields, compare
from muster.hub.patches.field_sets import difference, path_text, paths, union
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.hub.patches.structure import MapType

KUBECTL = "kubectl"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def last_applied(config: JsonObject) -> str:
    """The annotation for a configuration: itself, without the annotation."""
    annotations = {key: value for key, value in annotations_of(config).items() if key != LAST_APPLIED}
    kept = {key: value for key, value in metadata_of(config).items() if key != "annotations"}
    plain = {**config, "metadata": kept | ({"annotations": annotations} if annotations else {})}
    return msgspec.json.encode(plain, order="sorted").decode() + "\n"


def own_fields(live: JsonObject, type_: MapType) -> frozenset[str]:
    """The fields, as conflicts print them, that kubectl applied and that still have the value it gave them."""
    text = annotations_of(live).get(LAST_APPLIED)
    try:
        config = msgspec.json.decode(text) if isinstance(text, str) else None
    except (msgspec.DecodeError, UnicodeEncodeError):
        config = None
    if not isinstance(config, dict) or not isinstance(config.get("metadata", {}), dict):
        return frozenset()
    changes = compare(config, live, type_)
    differing = union(changes.modified, union(changes.added, changes.removed))
    return frozenset(path_text(path) for path in paths(difference(applied_fields(config, type_), differing)))
