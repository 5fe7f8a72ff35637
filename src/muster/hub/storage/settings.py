"""The settings of the store, with the reason for each default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from muster.hub.storage.schema import FIRST_FORMAT
from muster.values.limits import Unit, limit


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How much history is kept, and how much is done at once."""

    #: Compaction runs this often; zero turns it off.
    compaction_interval: timedelta = timedelta(minutes=1)
    #: History younger than this is kept: a client that was away for so long resumes its watch.
    keep_history: timedelta = timedelta(minutes=5)
    #: And so many revisions are kept whatever their age.
    keep_revisions: int = 1000
    #: A transaction of compaction is sized to last about so long; writers wait at most for one.
    compaction_step: timedelta = timedelta(milliseconds=10)
    #: Commits that wait together are written together, up to so many and so many bytes.
    batch_commits: int = 256
    batch_bytes: int = 8 * 1024 * 1024
    #: Events kept in memory for each resource: watches that start within them need no disk.
    history_events: int = limit(
        8192, "history events", "Events of one kind kept in memory for watches.", "older ones are read from the log"
    )
    history_bytes: int = limit(
        32 * 1024 * 1024,
        "history bytes",
        "The same in bytes.",
        "older ones are read from the log; a watch that still waits to send them ends",
        Unit.BYTES,
    )
    history_total_bytes: int = limit(
        32 * 1024 * 1024,
        "history total bytes",
        "The same for all kinds together.",
        "those of the kind with the most are read from the log",
        Unit.BYTES,
    )
    #: What may wait for the reader of one watch; one that is further behind is cut off.
    watch_events: int = limit(
        4096, "watch buffer events", "Events that wait for the reader of one watch.", "the watch ends"
    )
    watch_bytes: int = limit(16 * 1024 * 1024, "watch buffer bytes", "The same in bytes.", "the watch ends", Unit.BYTES)
    #: The write-ahead log is moved into the database once it is at most this large.
    checkpoint_bytes: int = 32 * 1024 * 1024
    #: The page cache of the connection that writes, and of each that reads.
    cache_bytes: int = 8 * 1024 * 1024
    #: In which format objects are written (see `muster.hub.upgrades`); a database with a later one is refused.
    format: int = FIRST_FORMAT


DEFAULT_SETTINGS = StoreSettings()
