"""Who listens to what guards are set to and what they remember: those who keep them, and those who only answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.config_map import ConfigMap
from muster.api.placement_guard_record import PLACEMENT_GUARD_RECORD
from muster.api.reading import Reader
from muster.client.reflector import Reflector
from muster.controllers.placements.guards.records import RECORDS
from muster.controllers.runtime.mirror import Mirror

if TYPE_CHECKING:
    from muster.api.placement_guard_record import PlacementGuardRecord
    from muster.client import Client, Discovery, ServedResource
    from muster.client.heads import Place
    from muster.controllers.placements.guards.guarding import PlacementGuards
    from muster.controllers.placements.guards.recorded import RecordedGuards
    from muster.controllers.runtime.containment import Unreadable, UnreadableKind
    from muster.controllers.runtime.late_kinds import LateKinds
    from muster.controllers.runtime.mirror import Stored
    from muster.values.faults import Fault

CONFIG_MAPS: Final = Reader(ConfigMap)
_KIND: Final = PLACEMENT_GUARD_RECORD.key
MISSING: Final = f"the server has no {_KIND}"


def defaults_mirror(keeping: PlacementGuards, known: RecordedGuards, unreadable: UnreadableKind) -> Mirror[ConfigMap]:
    """Of the ConfigMap of guards for all placements."""

    def put(new: Stored[ConfigMap]) -> Fault | None:
        known.put_defaults(new)
        return keeping.put_defaults(new)

    def remove(place: Place) -> None:
        known.remove_defaults(place)
        keeping.remove_defaults(place)

    return Mirror(CONFIG_MAPS, put, remove, unreadable=unreadable)


def records_mirror(known: RecordedGuards, unreadable: UnreadableKind | None = None) -> Mirror[PlacementGuardRecord]:
    """Of records, for those who did not write them."""
    return Mirror(RECORDS, known.put_record, known.remove_record, listed=known.found, unreadable=unreadable)


def following(
    known: RecordedGuards, client: Client, discovery: Discovery, late: LateKinds, unreadable: Unreadable
) -> list[Reflector]:
    """What watches records, once the server has the kind."""

    def watched(resource: ServedResource) -> Reflector:
        return Reflector(client, resource, records_mirror(known, unreadable.of("placementguardrecords")))

    found = late.reflector(discovery, _KIND, watched)
    known.missing = "" if found else MISSING
    return found
