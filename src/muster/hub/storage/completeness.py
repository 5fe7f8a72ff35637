"""Whether a database holds everything that was acknowledged, by its high-water mark.

Called when a store is opened, before anything of it is written: what is refused here stays as it was.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from muster.hub.storage import log
from muster.hub.storage.errors import CorruptDatabaseError, LostWritesError
from muster.hub.storage.mark import NO_IDENTITY, mark_path, read_mark

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from muster.hub.storage.mark import Extent, Mark

_LOGGER = logging.getLogger(__name__)
WAY_OUT = (
    "nothing has been touched. Restore a backup with `muster hub restore`, put the right files back, or go on with "
    "what is there with `muster hub repair --accept-loss`"
)


def refuse_missing_database(path: Path, mark: Mark | None) -> None:
    """There is no database: right for a new directory, not for one in which writes were acknowledged."""
    if mark is not None and mark.settled:
        raise LostWritesError(
            path,
            mark.extent.revision,
            None,
            f"the database is missing; {WAY_OUT}; to begin anew, remove {path.name}-mark and {path.name}-lock too",
        )


def mark_of(path: Path, connection: sqlite3.Connection) -> Mark | None:
    """The mark of a database that has been opened. The two know each other, or this refuses them."""
    identity = log.identity(connection)
    mark = read_mark(path, identity or NO_IDENTITY)
    if mark is None:
        if identity is None:
            return None
        newest = log.newest_revision(connection)
        raise CorruptDatabaseError(
            path,
            f"ends at revision {newest}, and its mark {mark_path(path).name} is missing: whether later writes were "
            f"acknowledged cannot be told; {WAY_OUT}",
        )
    if identity == mark.identity or (identity is None and not mark.settled):
        return mark
    raise CorruptDatabaseError(
        path,
        f"is not the database of its mark {mark_path(path).name}, which says that writes up to revision "
        f"{mark.extent.revision} were acknowledged: one of them is from elsewhere, or from another time; {WAY_OUT}",
    )


def refuse_incomplete(path: Path, connection: sqlite3.Connection, mark: Mark | None, extent: Extent) -> None:
    """The objects that were found are those that the mark knows of, or come after it."""
    if mark is None or not mark.settled:
        return
    acknowledged = mark.extent
    if extent.revision < acknowledged.revision:
        missing = acknowledged.revision - extent.revision
        raise LostWritesError(
            path,
            acknowledged.revision,
            extent.revision,
            f"the database with its write-ahead log ends at revision {extent.revision}: "
            f"{missing} {'change is' if missing == 1 else 'changes are'} missing; {WAY_OUT}",
        )
    then = log.extent_before(connection, extent, acknowledged.revision)
    if then is None:
        _LOGGER.warning(
            "%s: the mark is of revision %d, and history goes back to %d only: whether everything up to there was kept "
            "cannot be told",
            path,
            acknowledged.revision,
            log.compacted_revision(connection),
        )
    elif then != acknowledged:
        raise LostWritesError(
            path,
            acknowledged.revision,
            extent.revision,
            f"at that revision the database has {then.objects} objects, and they are not the {acknowledged.objects} "
            f"that were acknowledged: parts of the files are from another time; {WAY_OUT}",
        )
