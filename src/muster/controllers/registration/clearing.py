"""What goes with a cluster: first its add-ons, then its works, while its agent may still clean up behind them; then the
rights of its agent. The namespace stays, for what users have in it.

Used by the registration controller, one look at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.parts import Node, ObjectMeta
from muster.api.reading import Reader
from muster.controllers.registration import objects
from muster.values.api_paths import collection_path, object_path
from muster.values.json_members import list_at

if TYPE_CHECKING:
    from muster.controllers.registration.keeping import Keeper

#: In the order in which they are deleted: one kind is gone before the next one goes.
KINDS: Final = (
    (objects.ADDONS, "v1alpha1", "managedclusteraddons"),
    (objects.WORKS, "v1", "manifestworks"),
)
_PRIORITY: Final = "open-cluster-management.io/cleanup-priority"
_LAST: Final = 100


class _Kept(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


_OBJECTS: Final = Reader(_Kept)


class Clearing:
    """Speaks to the server through a keeper."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    async def remaining(self, cluster: str) -> str:
        """Delete what is next; what is still there, for people, or nothing."""
        for kind in KINDS:
            found = await self._keeper.get(collection_path(*kind, cluster))
            items = [_OBJECTS.of(each).metadata for each in list_at(found or {}, "items") if isinstance(each, dict)]
            if not items:
                continue
            first = min(priority_of(each) for each in items)
            for each in items:
                if priority_of(each) == first and not each.is_going:
                    await self._keeper.delete_at(object_path(*kind, cluster, each.name), each.resource_version)
            pending = sum(bool(each.finalizers) for each in items)
            return (
                f"The resource {kind[2]} is remaning, the remaining count is {len(items)}, "
                f"the finalizer pending count is {pending}"
            )
        return ""

    async def remove_rights(self, cluster: str) -> None:
        """Everything by which an agent of the cluster could do anything."""
        for part in objects.PARTS:
            await self._keeper.delete(objects.part_binding(cluster, part))
        await self._keeper.delete(objects.own_binding(cluster))
        await self._keeper.delete(objects.own_role(cluster, accepted=False))
        await self._keeper.delete(objects.lease(cluster))


def priority_of(metadata: ObjectMeta) -> int:
    """Lower ones go first; what is no number from 0 to 100 counts as 0."""
    text = metadata.annotations.get(_PRIORITY, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= _LAST else 0
