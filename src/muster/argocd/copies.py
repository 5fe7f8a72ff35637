"""Copies of collections, kept true by reflectors: the encoded objects by namespace and name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.client.heads import Place, head_of
from muster.client.reflector import Gathered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Copy:
    """All objects of a kind. `changed` hears of every change after the first list, with the object."""

    def __init__(self, changed: Callable[[bytes], None] = lambda _: None) -> None:
        self.objects: dict[Place, bytes] = {}
        self._changed = changed

    def listing(self, revision: str) -> Gathered:  # noqa: ARG002 - the protocol
        return Gathered(self.replace)

    def replace(self, objects: Sequence[bytes], revision: str) -> None:  # noqa: ARG002 - as lists are told
        found = {_place(each): each for each in objects}
        for place, encoded in found.items():
            if self.objects and self.objects.get(place) != encoded:
                self._changed(encoded)
        self.objects = found

    def put(self, encoded: bytes) -> None:
        self.objects[_place(encoded)] = encoded
        self._changed(encoded)

    def remove(self, encoded: bytes) -> None:
        self.objects.pop(_place(encoded), None)
        self._changed(encoded)


def _place(encoded: bytes) -> Place:
    metadata = head_of(encoded).metadata
    return Place(metadata.namespace, metadata.name)
