"""Resolution: ranges, versions and every constraint written into it are read when it is written.

What cannot be read is refused, in the words of `muster resolve`. What is wrong with channels or whole blobs of a
catalog takes out only what it concerns, so it is a warning. Catalogs elsewhere are the controller's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.placement import shortened
from muster.admission.write import NOTHING, Finding, asks_the_same, invalid_object, metadata_of, spec_of
from muster.api.reading import Reader
from muster.api.resolution import ResolutionSpec
from muster.values.causes import invalid_without_value
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.admission.write import Write

_MOST_WARNINGS: Final = 5
_SPECS: Final = Reader(ResolutionSpec)


def spec_checked(write: Write) -> Finding:
    """Refuses what cannot be read, warns of what cannot be used."""
    new = write.new
    if new is None or write.subresource or metadata_of(new).is_going or asks_the_same(write):
        return NOTHING
    spec = spec_of(new)
    from muster.resolution.from_object import spec_causes  # most writes need no resolver, and it takes a while to load

    read = _SPECS.fitted(spec)
    if isinstance(read, Fault):
        return invalid_object([invalid_without_value(f"spec.{read.path}" if read.path else "spec", read.message)])
    unread = (invalid_without_value(f"spec.{each.path}", each.message) for each in read.faults)
    if causes := [*spec_causes(read.obj), *unread]:
        return invalid_object(causes)
    warnings: list[str] = []
    for warning in _catalog_faults(read.obj):
        if len(warnings) == _MOST_WARNINGS:
            break
        warnings.append(shortened(warning))
    return Finding(warnings=tuple(warnings))


def _catalog_faults(spec: ResolutionSpec) -> Iterator[str]:
    from muster.resolution import catalog_from_blobs

    for catalog in spec.catalogs:
        if blobs := catalog.blobs():
            built = catalog_from_blobs(catalog.name, blobs)
            yield from (f"catalog {catalog.name}: {fault}" for fault in built.faults)
            yield from (f"catalog {catalog.name}: {broken}" for broken in built.broken.values())
