"""ManagedClusterSetBinding: named after the set it binds, so that a namespace has one binding of a set at most, and
made by those who may bind the set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.asking import forbidden, missing_permissions
from muster.admission.write import CREATE, NOTHING, Finding, refused
from muster.api.managed_cluster_set_binding import OTHER_NAME, ManagedClusterSetBinding
from muster.api.reading import Reader
from muster.clustersets.permissions import bind

if TYPE_CHECKING:
    from muster.admission.write import World, Write

BINDINGS: Final = Reader(ManagedClusterSetBinding)


def same_name(write: Write) -> Finding:
    """The binding's name must be the set's."""
    if write.new is None or write.subresource:
        return NOTHING
    binding = BINDINGS.partly(write.new).obj
    if binding.spec.cluster_set == binding.metadata.name:
        return NOTHING
    return refused(OTHER_NAME)


async def permitted(write: Write, world: World) -> Finding:
    """Creating one needs the permission to bind the set. Later the name keeps it at that set."""
    if write.new is None or write.operation != CREATE or write.subresource:
        return NOTHING
    needed = [bind(BINDINGS.partly(write.new).obj.spec.cluster_set)]
    return forbidden(write.asker, await missing_permissions(world, write.asker, needed))
