"""Between reflectors and the world: what a list or an event of one collection means to the world, and who is woken.

Every object is taken in behind a guard: one that cannot be read leaves what was known of it, and keeps out no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.client.heads import head_of
from muster.controllers.containment import unguarded
from muster.controllers.placement_world import Key, SetKey, UnreadablePartError, decode
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from muster.client.reflector import Handler
    from muster.controllers.clusters import ClusterController
    from muster.controllers.placement_world import PlacementWorld

Object = dict[str, Any]


class _Name(msgspec.Struct, gc=False):
    name: str


class _Named(msgspec.Struct, gc=False):
    metadata: _Name


_NAMES = msgspec.json.Decoder(_Named)


class ObjectFeed:
    """Feeds a collection into the world. A new list is a put for each object, and a remove for each that is missing."""

    def __init__(
        self,
        wake: Callable[[Iterable[Key | SetKey]], None],
        put: Callable[[Object], Iterable[Key | SetKey]],
        remove: Callable[[Object], Iterable[Key | SetKey]],
    ) -> None:
        self.guard = unguarded()
        self._wake = wake
        self._put = put
        self._remove = remove
        self._known: set[tuple[str, str]] = set()

    def replace(self, objects: Sequence[bytes]) -> None:
        there = {head_of(encoded).place: encoded for encoded in objects}
        for place in self._known - there.keys():
            self._drop(place)
        for encoded in there.values():
            self.guard.take(encoded, self._take)
        self._known = set(there)

    def put(self, encoded: bytes) -> None:
        self._known.add(head_of(encoded).place)
        self.guard.take(encoded, self._take)

    def remove(self, encoded: bytes) -> None:
        place = head_of(encoded).place
        self._known.discard(place)
        self._drop(place)

    def _take(self, encoded: bytes) -> None:
        try:
            self._wake(self._put(decode(encoded)))
        except UnreadablePartError as error:
            self._wake(error.told)
            raise

    def _drop(self, place: tuple[str, str]) -> None:
        obj = {"metadata": {"namespace": place[0], "name": place[1]}}
        self.guard.drop(place, lambda: self._wake(self._remove(obj)))


class ClusterFeed:
    """Clusters stay encoded: the fleet reads from them only what somebody needs."""

    def __init__(
        self,
        world: PlacementWorld,
        clusters: ClusterController,
        wake: Callable[[Iterable[Key | SetKey]], None],
    ) -> None:
        self.guard = unguarded()
        self._world = world
        self._clusters = clusters
        self._wake = wake

    def replace(self, objects: Sequence[bytes]) -> None:
        world = self._world
        there: set[str] = set()
        readable: list[bytes] = []
        for encoded in objects:
            try:
                there.add(_NAMES.decode(encoded).metadata.name)
                readable.append(encoded)
            except (msgspec.MsgspecError, RecursionError):
                there.add(head_of(encoded).metadata.name)
                self.guard.take(encoded, self._take)
        for name in world.fleet.names(world.fleet.rows().tolist()):
            if name not in there:
                self._drop(name)
        world.put_clusters(readable)
        self._wake(world.placements)
        self._wake(SetKey(name) for name in world.sets)
        for encoded in readable:
            self.guard.take(encoded, self._look)

    def put(self, encoded: bytes) -> None:
        self.guard.take(encoded, self._take)

    def remove(self, encoded: bytes) -> None:
        self._drop(head_of(encoded).metadata.name)

    def _take(self, encoded: bytes) -> None:
        self._wake(self._world.put_cluster(encoded))
        self._look(encoded)

    def _look(self, encoded: bytes) -> None:
        if fault := self._clusters.look_at(encoded):
            raise InvalidObjectError("", fault)  # the rest of the cluster is in use

    def _drop(self, name: str) -> None:
        self.guard.drop(("", name), lambda: self._wake(self._world.remove_cluster(name)))


class Both:
    """Two listeners to one collection, so that it is watched once."""

    def __init__(self, first: Handler, second: Handler) -> None:
        self._handlers = (first, second)

    def replace(self, objects: Sequence[bytes]) -> None:
        for handler in self._handlers:
            handler.replace(objects)

    def put(self, encoded: bytes) -> None:
        for handler in self._handlers:
            handler.put(encoded)

    def remove(self, encoded: bytes) -> None:
        for handler in self._handlers:
            handler.remove(encoded)
