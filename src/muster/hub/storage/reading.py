"""What the answers to questions read of a store: the hub's own, or a mirror of somebody else's server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.hub.storage.records import Key, Record


class StoredObjects(Protocol):
    """Objects as they are now."""

    @property
    def revision(self) -> int: ...

    def get(self, key: Key) -> Record | None: ...

    def scan(self, resource: str, namespace: str | None = None) -> Iterator[Record]:
        """By namespace and name. Later changes do not show in it."""
