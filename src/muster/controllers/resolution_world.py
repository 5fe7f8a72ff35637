"""What the resolution controller knows: resolutions, the ConfigMaps that are catalogs, and the hub's own catalogs.

Objects stay encoded: catalogs are large, and most of what is told changes nothing. It tells through a callback which
resolutions are concerned by a change, and does no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from muster.api.resolution import CATALOG_LABEL
from muster.controllers.agent_world import Place, is_older
from muster.controllers.resolution_jobs import CatalogInput, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Object = dict[str, Any]


class _Meta(msgspec.Struct, frozen=True):
    name: str
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resourceVersion: str = ""  # noqa: N815 - the wire's names
    deletionTimestamp: str | None = None  # noqa: N815


class _ConfigMapName(msgspec.Struct, frozen=True):
    name: str
    keys: tuple[str, ...] = ()


class _Source(msgspec.Struct, frozen=True):
    name: str
    priority: int = 0
    inline: msgspec.Raw = msgspec.Raw()
    configMap: _ConfigMapName | None = None  # noqa: N815


class _Spec(msgspec.Struct, frozen=True):
    catalogs: tuple[_Source, ...] = ()


class _Resolution(msgspec.Struct, frozen=True):
    metadata: _Meta
    spec: _Spec = _Spec()


class _ConfigMap(msgspec.Struct, frozen=True):
    metadata: _Meta
    data: dict[str, str] | None = None
    binaryData: dict[str, str] | None = None  # noqa: N815


class _Whole(msgspec.Struct, frozen=True):
    spec: Object = {}
    status: Object = {}


class _Head(msgspec.Struct, frozen=True):
    metadata: _Meta


_RESOLUTIONS = msgspec.json.Decoder(_Resolution)
_CONFIG_MAPS = msgspec.json.Decoder(_ConfigMap)
_HEADS = msgspec.json.Decoder(_Head)
_WHOLES = msgspec.json.Decoder(_Whole)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A resolution at one moment, with what its catalogs are at that moment."""

    revision: str
    generation: int
    spec: Object
    status: Object
    identity: object  # equal identities have equal answers
    catalogs: tuple[_Source, ...]
    read: Callable[[_Source], CatalogInput]

    def job(self) -> Job:
        spec = msgspec.Raw(msgspec.json.encode(self.spec, order="sorted"))
        return Job(spec, [self.read(source) for source in self.catalogs])


class ResolutionWorld:
    """Everything about resolutions, by where it is."""

    def __init__(self, wake: Callable[[Iterable[Place]], None], paths: Mapping[str, str]) -> None:
        self._wake = wake
        self._paths = paths
        self._fingerprints: dict[str, str] = {}
        self._resolutions: dict[Place, tuple[_Resolution, bytes]] = {}
        self._config_maps: dict[Place, tuple[str, bytes]] = {}  # revision, and the object
        self._users: dict[Place, set[Place]] = {}  # resolutions by the ConfigMap that they name

    def __len__(self) -> int:
        return len(self._resolutions)

    def __iter__(self) -> Iterator[Place]:
        return iter(tuple(self._resolutions))

    # --- what is told

    def put_resolution(self, encoded: bytes) -> Place:
        found = _RESOLUTIONS.decode(encoded)
        place = Place(found.metadata.namespace, found.metadata.name)
        known = self._resolutions.get(place)
        if known is not None and is_older(found.metadata.resourceVersion, known[0].metadata.resourceVersion):
            return place  # the answer to a write of ours came before the watch
        self._forget_uses(place)
        # The blobs stay in the object, not here once more.
        light = tuple(
            _Source(each.name, each.priority, msgspec.Raw(b"[]" if each.inline else b""), each.configMap)
            for each in found.spec.catalogs
        )
        self._resolutions[place] = (_Resolution(found.metadata, _Spec(light)), encoded)
        for source in light:
            if source.configMap is not None:
                self._users.setdefault(Place(place.namespace, source.configMap.name), set()).add(place)
        self._wake((place,))
        return place

    def remove_resolution(self, place: Place) -> None:
        self._forget_uses(place)
        self._resolutions.pop(place, None)

    def _forget_uses(self, place: Place) -> None:
        known = self._resolutions.get(place)
        for source in known[0].spec.catalogs if known is not None else ():
            if source.configMap is not None:
                used = Place(place.namespace, source.configMap.name)
                users = self._users.get(used, set())
                users.discard(place)
                if not users:
                    self._users.pop(used, None)

    def put_config_map(self, encoded: bytes) -> Place:
        metadata = _HEADS.decode(encoded).metadata
        place = Place(metadata.namespace, metadata.name)
        known = self._config_maps.get(place)
        self._config_maps[place] = (metadata.resourceVersion, encoded)
        if known is None or known[0] != metadata.resourceVersion:
            self._wake(sorted(self._users.get(place, ())))
        return place

    def remove_config_map(self, place: Place) -> None:
        if self._config_maps.pop(place, None) is not None:
            self._wake(sorted(self._users.get(place, ())))

    def put_fingerprint(self, name: str, value: str) -> None:
        """What a catalog of the hub's settings looks like now."""
        if self._fingerprints.get(name) != value:
            self._fingerprints[name] = value
            self._wake(
                place
                for place, (resolution, _) in self._resolutions.items()
                if any(self._is_named(source) and source.name == name for source in self._sources(resolution))
            )

    # --- what is asked

    def snapshot(self, place: Place) -> Snapshot | None:
        """The resolution as it is; None if it is gone or going."""
        known = self._resolutions.get(place)
        if known is None or known[0].metadata.deletionTimestamp is not None:
            return None
        resolution, encoded = known
        whole, metadata = _WHOLES.decode(encoded), resolution.metadata
        sources = self._sources(resolution)
        versions = tuple(self._version(place.namespace, source) for source in sources)
        return Snapshot(
            revision=metadata.resourceVersion,
            generation=metadata.generation,
            spec=whole.spec,
            status=whole.status,
            identity=(metadata.uid, metadata.generation, versions),
            catalogs=sources,
            read=lambda source: self._input(place.namespace, source),
        )

    def _sources(self, resolution: _Resolution) -> tuple[_Source, ...]:
        return resolution.spec.catalogs or tuple(_Source(name) for name in sorted(self._paths))

    @staticmethod
    def _is_named(source: _Source) -> bool:
        return not source.inline and source.configMap is None

    def _version(self, namespace: str, source: _Source) -> str:
        if source.configMap is not None:
            return self._config_maps.get(Place(namespace, source.configMap.name), ("", b""))[0]
        return self._fingerprints.get(source.name, "") if self._is_named(source) else ""

    def _input(self, namespace: str, source: _Source) -> CatalogInput:
        name, priority = source.name, source.priority
        if source.inline:
            return CatalogInput(name, priority, inline=True)
        if source.configMap is None:
            if name not in self._paths:
                known = f"; it has {', '.join(sorted(self._paths))}" if self._paths else ""
                text = (
                    f"the hub has no catalog of this name{known}; its administrator gives them with --catalog NAME=PATH"
                )
                return CatalogInput(name, priority, missing=text)
            return CatalogInput(name, priority, path=self._paths[name], fingerprint=self._fingerprints.get(name, ""))
        return self._of_config_map(namespace, source, source.configMap)

    def _of_config_map(self, namespace: str, source: _Source, named: _ConfigMapName) -> CatalogInput:
        known = self._config_maps.get(Place(namespace, named.name))
        if known is None:
            text = f'ConfigMap {named.name} is not there, or lacks the label {CATALOG_LABEL}: "true"'
            return CatalogInput(source.name, source.priority, missing=text)
        found = _CONFIG_MAPS.decode(known[1])
        texts, binaries = found.data or {}, found.binaryData or {}
        wanted = named.keys or tuple({**texts, **binaries})
        if absent := [key for key in wanted if key not in texts and key not in binaries]:
            text = f"ConfigMap {named.name} has no value {', '.join(sorted(absent))}"
            return CatalogInput(source.name, source.priority, missing=text)
        if not wanted:
            return CatalogInput(source.name, source.priority, missing=f"ConfigMap {named.name} is empty")
        return CatalogInput(
            source.name,
            source.priority,
            texts={key: texts[key] for key in wanted if key in texts},
            binaries={key: binaries[key] for key in wanted if key in binaries},
        )
