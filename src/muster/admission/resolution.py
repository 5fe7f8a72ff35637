"""Resolution: ranges, versions and every constraint written into it are read when it is written.

What cannot be read is refused, in the words of `muster resolve`. What is wrong with channels or whole blobs of a
catalog takes out only what it concerns, so it is a warning. Catalogs elsewhere are the controller's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.placement import shortened
from muster.admission.write import NOTHING, UPDATE, Finding, invalid_object, spec_of
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.admission.write import Write

_MOST_WARNINGS: Final = 5


def spec_checked(write: Write) -> Finding:
    """Refuses what cannot be read, warns of what cannot be used."""
    new = write.new
    if new is None or write.subresource or "deletionTimestamp" in new["metadata"]:
        return NOTHING
    spec = spec_of(new)
    if write.operation == UPDATE and spec == spec_of(write.old):
        return NOTHING
    from muster.resolution.from_object import spec_causes  # most writes need no resolver, and it takes a while to load

    if causes := spec_causes(spec):
        return invalid_object(causes)
    warnings: list[str] = []
    for warning in _catalog_faults(spec):
        if len(warnings) == _MOST_WARNINGS:
            break
        warnings.append(shortened(warning))
    return Finding(warnings=tuple(warnings))


def _catalog_faults(spec: JsonMapping) -> Iterator[str]:
    from muster.resolution import catalog_from_blobs

    for catalog in spec.get("catalogs") or ():
        if not catalog.get("inline"):
            continue
        built = catalog_from_blobs(catalog["name"], catalog["inline"])
        yield from (f"catalog {catalog['name']}: {fault}" for fault in built.faults)
        yield from (f"catalog {catalog['name']}: {broken.fault}" for broken in built.broken.values())
