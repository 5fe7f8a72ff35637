"""What the resolution controller knows: resolutions, the ConfigMaps that are catalogs, and the hub's own catalogs.

Objects stay encoded: catalogs are large, and most of what is told changes nothing. It tells through a callback which
resolutions are concerned by a change, and does no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from muster.api.config_map import ConfigMap
from muster.api.parts import Node
from muster.api.reading import Reader
from muster.api.resolution import CATALOG_LABEL, CatalogSource, ResolutionSpec
from muster.client.heads import Place
from muster.controllers.resolutions.jobs import CatalogInput, Job
from muster.values.faults import Fault
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from muster.api.parts import Condition, Identity, PartialObject
    from muster.api.resolution import ConfigMapCatalog, Resolution
    from muster.controllers.runtime.mirror import Stored


class _Whole(Node, frozen=True):
    """Spec and status as they are written."""

    spec: msgspec.Raw = msgspec.Raw(b"{}")
    status: JsonObject = msgspec.field(default_factory=dict)


_CONFIG_MAPS: Final = Reader(ConfigMap)
_WHOLES: Final = Reader(_Whole)
_SPECS: Final = Reader(ResolutionSpec)


class _Known(NamedTuple):
    """A resolution: what is asked of it all the time, and the rest as it came."""

    metadata: Identity
    sources: tuple[CatalogSource, ...]
    conditions: tuple[Condition, ...]
    seconds: int
    encoded: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A resolution at one moment, with what its catalogs are at that moment."""

    revision: str
    generation: int
    spec: msgspec.Raw
    status: JsonObject  # as it is written: it is compared with what is to be written
    conditions: tuple[Condition, ...]
    identity: object  # equal identities have equal answers
    catalogs: tuple[CatalogSource, ...]
    read: Callable[[CatalogSource], CatalogInput]
    seconds: int  # that resolving may take

    def job(self) -> Job:
        spec = msgspec.Raw(msgspec.json.encode(msgspec.json.decode(self.spec), order="sorted"))
        return Job(spec, [self.read(source) for source in self.catalogs])


class ResolutionWorld:
    """Everything about resolutions, by where it is."""

    def __init__(self, wake: Callable[[Iterable[Place]], None], paths: Mapping[str, str]) -> None:
        self._wake = wake
        self._paths = paths
        self._fingerprints: dict[str, str] = {}
        self._resolutions: dict[Place, _Known] = {}
        self._config_maps: dict[Place, tuple[str, bytes]] = {}  # revision, and the object
        self._users: dict[Place, set[Place]] = {}  # resolutions by the ConfigMap that they name

    def __len__(self) -> int:
        return len(self._resolutions)

    def __iter__(self) -> Iterator[Place]:
        return iter(tuple(self._resolutions))

    # --- what is told

    def put_resolution(self, new: Stored[Resolution]) -> Fault | None:
        """What is wrong with the rest of its spec is found when it is resolved, and told in its status."""
        catalogs = (each for each in new.faults if each.path == "spec" or each.path.startswith("spec.catalogs"))
        if (fault := next(catalogs, None)) is not None:
            return fault
        place = new.place
        self._forget_uses(place)
        # The blobs stay in the object, not here once more.
        sources = tuple(
            msgspec.structs.replace(each, inline=msgspec.Raw(b"[]" if each.is_inline else b""))
            for each in new.obj.spec.catalogs
        )
        conditions, seconds = new.obj.status.conditions, new.obj.spec.time_limit_seconds
        self._resolutions[place] = _Known(new.obj.metadata, sources, conditions, seconds, new.encoded)
        for source in sources:
            if source.config_map is not None:
                self._users.setdefault(Place(place.namespace, source.config_map.name), set()).add(place)
        self._wake((place,))
        return new.fault

    def remove_resolution(self, place: Place) -> None:
        self._forget_uses(place)
        self._resolutions.pop(place, None)

    def _forget_uses(self, place: Place) -> None:
        known = self._resolutions.get(place)
        for source in known.sources if known is not None else ():
            if source.config_map is not None:
                used = Place(place.namespace, source.config_map.name)
                users = self._users.get(used, set())
                users.discard(place)
                if not users:
                    self._users.pop(used, None)

    def put_config_map(self, new: Stored[PartialObject]) -> Fault | None:
        """Values stay in the object until somebody resolves with them."""
        place, revision = new.place, new.obj.metadata.resource_version
        self._config_maps[place] = (revision, new.encoded)
        self._wake(sorted(self._users.get(place, ())))
        return new.fault

    def remove_config_map(self, place: Place) -> None:
        if self._config_maps.pop(place, None) is not None:
            self._wake(sorted(self._users.get(place, ())))

    def put_fingerprint(self, name: str, value: str) -> None:
        """What a catalog of the hub's settings looks like now."""
        if self._fingerprints.get(name) != value:
            self._fingerprints[name] = value
            self._wake(
                place
                for place, known in self._resolutions.items()
                if any(is_named(source) and source.name == name for source in self._all(known.sources))
            )

    # --- what is asked

    def snapshot(self, place: Place) -> Snapshot | None:
        """The resolution as it is; None if it is gone or going."""
        known = self._resolutions.get(place)
        if known is None or known.metadata.is_going:
            return None
        metadata, sources, found = known.metadata, self._all(known.sources), _WHOLES.read(known.encoded)
        whole = _Whole() if isinstance(found, Fault) else found.obj
        versions = tuple(self._version(place.namespace, source) for source in sources)
        return Snapshot(
            revision=metadata.resource_version,
            generation=metadata.generation,
            spec=whole.spec,
            status=whole.status,
            conditions=known.conditions,
            identity=(metadata.uid, metadata.generation, versions),
            catalogs=sources,
            read=lambda source: self._input(place.namespace, source),
            seconds=known.seconds,
        )

    def saved_spec(self, place: Place) -> msgspec.Raw | None:
        """The spec of a resolution as it is written; None if it is gone or going."""
        found = self.snapshot(place)
        return None if found is None else found.spec

    def sources(self, spec: bytes) -> tuple[CatalogSource, ...]:
        """The catalogs that a spec names, all of the hub's own if none; what is wrong with it is found by others."""
        found = _SPECS.read(spec)
        return self._all(() if isinstance(found, Fault) else found.obj.catalogs)

    def inputs(self, namespace: str, sources: Iterable[CatalogSource]) -> list[CatalogInput]:
        """What is in catalogs now, for somebody in a namespace."""
        return [self._input(namespace, source) for source in sources]

    def _all(self, sources: tuple[CatalogSource, ...]) -> tuple[CatalogSource, ...]:
        return sources or tuple(CatalogSource(name) for name in sorted(self._paths))

    def _version(self, namespace: str, source: CatalogSource) -> str:
        if source.config_map is not None:
            return self._config_maps.get(Place(namespace, source.config_map.name), ("", b""))[0]
        return self._fingerprints.get(source.name, "") if is_named(source) else ""

    def _input(self, namespace: str, source: CatalogSource) -> CatalogInput:
        name, priority = source.name, source.priority
        if source.is_inline:
            return CatalogInput(name, priority, inline=True)
        if source.config_map is None:
            if name not in self._paths:
                known = f"; it has {', '.join(sorted(self._paths))}" if self._paths else ""
                text = (
                    f"the hub has no catalog of this name{known}; its administrator gives them with --catalog NAME=PATH"
                )
                return CatalogInput(name, priority, missing=text)
            return CatalogInput(name, priority, path=self._paths[name], fingerprint=self._fingerprints.get(name, ""))
        return self._of_config_map(namespace, source, source.config_map)

    def _of_config_map(self, namespace: str, source: CatalogSource, named: ConfigMapCatalog) -> CatalogInput:
        known = self._config_maps.get(Place(namespace, named.name))
        if known is None:
            text = f'ConfigMap {named.name} is not there, or lacks the label {CATALOG_LABEL}: "true"'
            return CatalogInput(source.name, source.priority, missing=text)
        found = _CONFIG_MAPS.read(known[1])
        if isinstance(found, Fault):
            text = f"ConfigMap {named.name} cannot be read: {found}"
            return CatalogInput(source.name, source.priority, missing=text)
        texts, binaries = found.obj.data, found.obj.binary_data
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


def is_named(source: CatalogSource) -> bool:
    """Whether it is one of the hub's own."""
    return not source.is_inline and source.config_map is None
