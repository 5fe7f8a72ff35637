"""The PlacementHistory object: within its bounds, and written back with what others have in it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.api.placement_history import Cause, DecidedClusters, HistoryEntry
from muster.controllers.placements.history_record import (
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_REVISIONS,
    Record,
    extended,
    revision_of,
)
from muster.controllers.placements.readers import PLACEMENTS
from muster.controllers.runtime.mirror import Stored
from tests.builders import a_placement

if TYPE_CHECKING:
    from muster.api.placement import Placement

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def an_entry(number: int, padding: str = "") -> HistoryEntry:
    causes = (Cause(note=padding),) if padding else ()
    return HistoryEntry(f"2026-01-01T00:00:{number % 60:02d}Z", 0, number, number + 1, causes=causes)


def a_stored_placement(generation: int, **spec: Any) -> Stored[Placement]:
    placement = a_placement("p1", **spec)
    placement["metadata"] |= {"uid": "u", "generation": generation}
    return Stored.of(PLACEMENTS, placement)


def a_record() -> Record:
    return Record.new(a_stored_placement(1).obj.metadata)


def test_a_history_keeps_the_newest_entries_and_specs() -> None:
    kept = a_record()
    for number in range(60):
        revision = revision_of(a_stored_placement(number + 1, numberOfClusters=number), None, NOW)
        kept = extended(kept, [an_entry(number)], [revision], DecidedClusters(number, "d"))
    assert [each.before for each in kept.history.changes] == list(range(60 - MOST_ENTRIES, 60))
    assert [each.revision for each in kept.history.revisions] == list(range(61 - MOST_REVISIONS, 61))
    assert kept.body()["decided"] == {"count": 59, "digest": "d"}


def test_a_history_is_bounded_in_bytes() -> None:
    entries = [an_entry(number, "x" * 10_000) for number in range(40)]
    kept = extended(a_record(), entries, [], DecidedClusters(1, "d"))
    assert kept.history.changes == tuple(entries[-12:])
    assert len(json.dumps(kept.body()["changes"])) <= MOST_BYTES


def test_a_spec_that_is_too_large_is_not_kept() -> None:
    huge = a_stored_placement(2, predicates=[{"requiredClusterSelector": {"x": "y" * MOST_BYTES}}])
    kept = a_record()
    for placement in (a_stored_placement(1), huge):
        kept = extended(kept, [], [revision_of(placement, None, NOW)], DecidedClusters(0, "d"))
    assert [each.revision for each in kept.history.revisions] == [1]


def test_a_spec_that_comes_back_unchanged_is_no_new_revision() -> None:
    kept = a_record()
    for generation in (1, 2):
        revision = revision_of(a_stored_placement(generation, numberOfClusters=1), None, NOW)
        kept = extended(kept, [], [revision], DecidedClusters(0, "d"))
    assert [each.revision for each in kept.history.revisions] == [1]


def test_what_a_server_has_beside_the_history_is_written_back_as_it_was() -> None:
    """Its metadata belong to others too, and an entry as an older version wrote it stays what it was."""
    placement = a_stored_placement(1, odd={"kept": True})
    stored = extended(a_record(), [an_entry(1)], [revision_of(placement, None, NOW)], DecidedClusters(1, "d")).body()
    stored["metadata"] |= {"resourceVersion": "7", "labels": {"a": "b"}, "managedFields": [{"manager": "m"}]}
    read = Record.read(json.loads(json.dumps(stored)))
    assert read.body() == stored
    assert read.body()["revisions"][0]["spec"] == {"odd": {"kept": True}}
    assert (read.revision, read.since, read.belongs_to(placement.obj.metadata)) == ("7", "2026-01-01T00:00:01Z", True)
    fresh = read.replaced_by(a_record())
    assert (fresh.revision, fresh.history.changes) == ("7", ())


def test_a_history_that_cannot_be_read_in_part_is_read_for_the_rest() -> None:
    """Whatever a server without our schema has stored: one odd entry does not stop the next one."""
    odd = {
        "metadata": {"name": "p1"},
        "decided": None,
        "changes": [7, {"time": "t", "causes": "none"}],
        "revisions": {},
    }
    read = Record.read(odd)
    assert (read.since, read.history.revisions, read.history.decided) == ("t", (), None)
