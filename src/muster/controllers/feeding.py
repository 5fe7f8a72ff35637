"""Between reflectors and the world: what a list or an event of one collection means to the world, and who is woken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.controllers.placement_world import Key, SetKey, decode

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
        self._wake = wake
        self._put = put
        self._remove = remove
        self._known: set[tuple[str, str]] = set()

    def replace(self, objects: Sequence[bytes]) -> None:
        there = {_place(obj): obj for obj in map(decode, objects)}
        for namespace, name in self._known - there.keys():
            self._wake(self._remove({"metadata": {"namespace": namespace, "name": name}}))
        for obj in there.values():
            self._wake(self._put(obj))
        self._known = set(there)

    def put(self, encoded: bytes) -> None:
        obj = decode(encoded)
        self._known.add(_place(obj))
        self._wake(self._put(obj))

    def remove(self, encoded: bytes) -> None:
        obj = decode(encoded)
        self._known.discard(_place(obj))
        self._wake(self._remove(obj))


class ClusterFeed:
    """Clusters stay encoded: the fleet reads from them only what somebody needs."""

    def __init__(
        self,
        world: PlacementWorld,
        clusters: ClusterController,
        wake: Callable[[Iterable[Key | SetKey]], None],
    ) -> None:
        self._world = world
        self._clusters = clusters
        self._wake = wake

    def replace(self, objects: Sequence[bytes]) -> None:
        world = self._world
        there = {_NAMES.decode(encoded).metadata.name for encoded in objects}
        for name in world.fleet.names(world.fleet.rows().tolist()):
            if name not in there:
                self._wake(world.remove_cluster(name))
        world.put_clusters(objects)
        self._wake(world.placements)
        self._wake(SetKey(name) for name in world.sets)
        self._clusters.look_at(objects)

    def put(self, encoded: bytes) -> None:
        self._wake(self._world.put_cluster(encoded))
        self._clusters.look_at((encoded,))

    def remove(self, encoded: bytes) -> None:
        self._wake(self._world.remove_cluster(_NAMES.decode(encoded).metadata.name))


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


def _place(obj: Object) -> tuple[str, str]:
    return (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
