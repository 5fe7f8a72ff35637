"""Owner references, of every kind: naming an owner is a way to have an object deleted, so it needs that permission.

As the admission plugin OwnerReferencesPermissionEnforcement of Kubernetes has it, which few clusters turn on: who
changes the owners of an object must be allowed to delete it; who makes it block the deletion of an owner, also when
creating it, must be allowed to update the owner's `finalizers`. Called for every write, before the checks of the kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.write import CREATE, NOTHING, Finding, metadata_of, name_of, refused
from muster.api import RESOURCES
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.admission.write import World, Write
    from muster.api.parts import OwnerReference
    from muster.api.resource import Resource

_BATCH: Final = 1000  # owners that are asked about together
_SHOWN: Final = 80
CANNOT_DELETE: Final = "cannot set an ownerRef on a resource you can't delete"
_NO_FINALIZERS: Final = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"
)


def change_owners(old: JsonMapping | None, new: JsonMapping | None) -> bool:
    """Whether a write names other owners than before. Cheap: every write is asked."""
    return new is not None and _references(new) != _references(old)


async def permitted(write: Write, world: World) -> Finding:
    """Refuses owners that the writer may not give to the object."""
    if not change_owners(write.old, write.new):
        return NOTHING
    if write.operation != CREATE:
        # Whoever creates an object decides about nothing that was there before.
        name = name_of(write)
        place = name if write.resource == "namespaces" else write.namespace
        if await world.missing(write.asker, "delete", write.resource, (name,), place):
            return _forbidden(write, CANNOT_DELETE, f"delete {write.resource}")
    for (version, kind), names in _newly_blocked(write.old, write.new).items():
        owner = _resource_of(version, kind)
        if owner is None:
            why = f"cannot find RESTMapping for APIVersion {version[:_SHOWN]} Kind {kind[:_SHOWN]}"
            return _forbidden(write, f"cannot set blockOwnerDeletion in this case because {why}")
        address = f"{owner.plural}/finalizers" + (f".{owner.group}" if owner.group else "")
        place = write.namespace if owner.namespaced else ""
        for start in range(0, len(names), _BATCH):
            if await world.missing(write.asker, "update", address, names[start : start + _BATCH], place):
                return _forbidden(write, _NO_FINALIZERS, f"update {address}")
    return NOTHING


def _references(obj: JsonMapping | None) -> Sequence[Json]:
    """As they are written: every write is asked whether they are others, and nearly none has any."""
    metadata = None if obj is None else obj.get("metadata")
    found = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return found if isinstance(found, list) else []


def _newly_blocked(old: JsonObject | None, new: JsonObject | None) -> dict[tuple[str, str], list[str]]:
    """Names of owners, by apiVersion and kind, whose deletion the object blocks and did not before."""
    before = {each.uid for each in _blocking(old)}
    found: dict[tuple[str, str], list[str]] = {}
    for each in _blocking(new):
        if each.uid not in before:
            found.setdefault((each.api_version, each.kind), []).append(each.name)
    return found


def _blocking(obj: JsonObject | None) -> Iterator[OwnerReference]:
    return (each for each in metadata_of(obj).owner_references if each.block_owner_deletion)


def _resource_of(api_version: str, kind: str) -> Resource | None:
    """The resource that a reference means, if we know it."""
    group, _, version = api_version.rpartition("/")
    for each in RESOURCES.values():
        if (each.group, each.kind) == (group, kind) and each.version(version) is not None:
            return each
    return None


def _forbidden(write: Write, why: str, needed: str = "") -> Finding:
    asked = f": user {go_quote(write.asker.name)} needs the permission to {needed}" if needed else ""
    text = f"{write.resource} {go_quote(name_of(write))} is forbidden: {why}{asked}"
    return refused(text, 403, "Forbidden", by_hook=False)
