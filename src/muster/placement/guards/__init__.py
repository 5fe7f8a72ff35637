"""Guards: which removals of a placement may happen now, and why others wait.

`placement_guard` and `fleet_guards` read settings, `verdict` judges a change, `change_digest` names it for an approval,
`recorded` keeps what a sliding window remembers. Pure: the placement controller asks before it writes, plans before
anybody does. Knows no fleet, no schedule and no server.
"""

from muster.placement.guards.digests import change_digest
from muster.placement.guards.settings import (
    ANNOTATIONS,
    APPROVAL,
    NO_FLEET_GUARDS,
    PREFIX,
    Brake,
    FleetGuards,
    Guard,
    fleet_guards,
    placement_guard,
    unknown_annotations,
)
from muster.placement.guards.verdicts import NO_MEMORY, FleetState, Memory, Verdict, remembered, verdict
from muster.placement.guards.window import Removed, missed, recorded, removed_within, without

__all__ = [
    "ANNOTATIONS",
    "APPROVAL",
    "NO_FLEET_GUARDS",
    "NO_MEMORY",
    "PREFIX",
    "Brake",
    "FleetGuards",
    "FleetState",
    "Guard",
    "Memory",
    "Removed",
    "Verdict",
    "change_digest",
    "fleet_guards",
    "missed",
    "placement_guard",
    "recorded",
    "remembered",
    "removed_within",
    "unknown_annotations",
    "verdict",
    "without",
]
