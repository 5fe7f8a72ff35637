"""The SQLite store of the hub: every change in an append-only log, current objects in memory, watches.

`Store` is what others use. `store` wires the parts: `database` opens files, `writer` and `plan` write, `log` and
`readers` read, `collection` holds what is in memory, `watch` and `audience` tell of it, `maintenance` keeps the file
small, `mark` and `completeness` notice what has been lost, `sources` reads where nothing can be written, `scratch` has
no file at all.
Knows keys and bytes; has never heard of Kubernetes objects or HTTP.
"""

from muster.hub.storage.audience import Audience, Rendered, Rendering
from muster.hub.storage.backup import Restored, accept_loss, back_up, restore
from muster.hub.storage.errors import (
    BackupError,
    CompactedError,
    ConflictError,
    CorruptDatabaseError,
    DatabaseInUseError,
    DatabaseRefusedError,
    ForeignDatabaseError,
    FutureRevisionError,
    GuardFailedError,
    LostWritesError,
    NewerSchemaError,
    StorageUnavailableError,
    WatchOverflowError,
)
from muster.hub.storage.opening import examine
from muster.hub.storage.records import Change, Delete, Event, EventType, Guard, Key, Put, Record, Unchanged, Unmatched
from muster.hub.storage.scratch import ScratchStore
from muster.hub.storage.settings import StoreSettings
from muster.hub.storage.store import Statistics, Store
from muster.hub.storage.watch import Watch

__all__ = [
    "Audience",
    "BackupError",
    "Change",
    "CompactedError",
    "ConflictError",
    "CorruptDatabaseError",
    "DatabaseInUseError",
    "DatabaseRefusedError",
    "Delete",
    "Event",
    "EventType",
    "ForeignDatabaseError",
    "FutureRevisionError",
    "Guard",
    "GuardFailedError",
    "Key",
    "LostWritesError",
    "NewerSchemaError",
    "Put",
    "Record",
    "Rendered",
    "Rendering",
    "Restored",
    "ScratchStore",
    "Statistics",
    "StorageUnavailableError",
    "Store",
    "StoreSettings",
    "Unchanged",
    "Unmatched",
    "Watch",
    "WatchOverflowError",
    "accept_loss",
    "back_up",
    "examine",
    "restore",
]
