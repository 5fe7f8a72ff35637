"""Objects for a world as its mirrors would show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.controllers.mirror import Stored
from muster.controllers.preview import put, remove

if TYPE_CHECKING:
    from muster.api.reading import Reader
    from muster.controllers.mirror import K
    from muster.controllers.placement_world import PlacementWorld, Told

__all__ = ["put", "put_cluster", "remove", "stored_as"]


def stored_as(reader: Reader[K], obj: dict[str, Any]) -> Stored[K]:
    return Stored.of(reader, obj)


def put_cluster(world: PlacementWorld, encoded: bytes) -> Told:
    return world.put_cluster(msgspec.json.decode(encoded)["metadata"]["name"], encoded)
