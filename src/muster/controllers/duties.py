"""What controllers keep true on a server: everything, or a part of it where somebody else keeps the rest.

The manager asks which controllers to run, the placements' world whose a placement is. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Names who schedules a placement. One that names somebody else is never ours, one that names us always is.
SCHEDULER: Final = "muster.dev/scheduler"
OUR_NAME: Final = "muster"
#: How Open Cluster Management's own controller is told to keep away; so are we, unless the placement names us.
DISABLED: Final = "cluster.open-cluster-management.io/experimental-scheduling-disable"


@dataclass(frozen=True, slots=True)
class Duties:
    """Which controllers run. `only_named`: of placements, only those that name us are scheduled."""

    only_named: bool = False
    sets: bool = True  # status of sets and bindings, the built-in sets
    clusters: bool = True  # taints and availability
    hosts: bool = True
    resolutions: bool = True
    histories: bool = True  # of placements

    def keeps_away(self, annotations: Mapping[str, str]) -> str | None:
        """The annotation because of which a placement is not ours to schedule; None if it is ours.

        >>> Duties().keeps_away({}), Duties(only_named=True).keeps_away({})
        (None, 'muster.dev/scheduler')
        """
        named = annotations.get(SCHEDULER)
        if named is not None:
            return None if named == OUR_NAME else SCHEDULER
        if self.only_named:
            return SCHEDULER
        return DISABLED if annotations.get(DISABLED) == "true" else None


ALONE: Final = Duties()
#: Beside Open Cluster Management's controllers, which keep sets, taints and leases. Kinds of our own stay ours.
BESIDE: Final = Duties(only_named=True, sets=False, clusters=False)
#: In the place of Open Cluster Management's placement controller, within its role.
INSTEAD: Final = Duties(sets=False, clusters=False, hosts=False, resolutions=False, histories=False)
