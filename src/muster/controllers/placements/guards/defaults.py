"""The fleet's guards: the ConfigMap that holds for every placement, as it is read wherever guards are asked. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from muster.placement.guards import FleetGuards, Guard, fleet_guards

if TYPE_CHECKING:
    from muster.api.config_map import ConfigMap
    from muster.controllers.runtime.mirror import Stored

CONFIG_MAP: Final = "muster-decisions"


def defaults_read(new: Stored[ConfigMap], before: FleetGuards) -> FleetGuards:
    """What the ConfigMap says; `before` is what it said last. What cannot be read of it lets nothing go."""
    found = fleet_guards(new.obj.data)
    unread = tuple(each for each in new.faults if not each.path.startswith("metadata"))
    if unread:
        guard = found.guard or Guard("the fleet")
        found = replace(found, guard=replace(guard, faults=(*guard.faults, *unread)))
    if found.multicluster is None:  # a typing mistake must not delete what others read
        found = replace(found, multicluster=before.multicluster)
    return found
