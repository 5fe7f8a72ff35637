"""Objects for a world as its mirrors would show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.controllers.placements.preview import put, remove
from muster.controllers.runtime.mirror import Stored

if TYPE_CHECKING:
    from muster.api.reading import Reader
    from muster.controllers.placements.keys import Woken
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.mirror import K

__all__ = ["put", "put_cluster", "remove", "stored_as"]


def stored_as(reader: Reader[K], obj: dict[str, Any]) -> Stored[K]:
    return Stored.of(reader, obj)


def put_cluster(world: PlacementWorld, encoded: bytes) -> Woken:
    return world.put_cluster(msgspec.json.decode(encoded)["metadata"]["name"], encoded)
