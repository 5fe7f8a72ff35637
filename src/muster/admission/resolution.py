"""Resolution: ranges, versions and every constraint written into it are read when it is written.

What cannot be read is refused, in the words of `muster resolve`. What is wrong with channels or whole blobs of a
catalog takes out only what it concerns, so it is a warning. Catalogs elsewhere are the controller's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.placement import shortened
from muster.admission.write import NOTHING, Finding, asks_the_same, invalid_object, metadata_of, spec_of
from muster.api.parts import Node
from muster.api.reading import Reader
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.admission.write import Write


class _WrittenCatalog(Node, frozen=True):
    """A catalog with its blobs as they are written; those elsewhere are the controller's matter."""

    name: str = ""
    inline: tuple[JsonObject, ...] = ()


class _WrittenCatalogs(Node, frozen=True):
    catalogs: tuple[_WrittenCatalog, ...] = ()


_CATALOGS: Final = Reader(_WrittenCatalogs)
_MOST_WARNINGS: Final = 5


def spec_checked(write: Write) -> Finding:
    """Refuses what cannot be read, warns of what cannot be used."""
    new = write.new
    if new is None or write.subresource or metadata_of(new).is_going or asks_the_same(write):
        return NOTHING
    spec = spec_of(new)
    from muster.resolution.from_object import spec_causes  # most writes need no resolver, and it takes a while to load

    if causes := spec_causes(spec):
        return invalid_object(causes)
    warnings: list[str] = []
    for warning in _catalog_faults(spec):
        if len(warnings) == _MOST_WARNINGS:
            break
        warnings.append(shortened(warning))
    return Finding(warnings=tuple(warnings))


def _catalog_faults(spec: JsonObject) -> Iterator[str]:
    from muster.resolution import catalog_from_blobs

    for catalog in _CATALOGS.partly(spec).obj.catalogs:
        if not catalog.inline:
            continue
        built = catalog_from_blobs(catalog.name, list(catalog.inline))
        yield from (f"catalog {catalog.name}: {fault}" for fault in built.faults)
        yield from (f"catalog {catalog.name}: {broken.fault}" for broken in built.broken.values())
