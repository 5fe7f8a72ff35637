"""The SQLite store of the hub: every change in an append-only log, current objects in memory, watches.

`Store` is the door. `store` wires the parts: `database` opens files, `writer` and `plan` write, `log` and
`readers` read, `collection` and `watch` hold what is in memory, `maintenance` keeps the file small.
Knows keys and bytes; has never heard of Kubernetes objects or HTTP.
"""

from muster.hub.storage.backup import Restored, back_up, restore
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
    NewerSchemaError,
    StorageUnavailableError,
    WatchOverflowError,
)
from muster.hub.storage.records import Change, Delete, Event, EventType, Guard, Key, Put, Record, Unchanged, Unmatched
from muster.hub.storage.settings import StoreSettings
from muster.hub.storage.store import Statistics, Store
from muster.hub.storage.watch import Watch

__all__ = [
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
    "NewerSchemaError",
    "Put",
    "Record",
    "Restored",
    "Statistics",
    "StorageUnavailableError",
    "Store",
    "StoreSettings",
    "Unchanged",
    "Unmatched",
    "Watch",
    "WatchOverflowError",
    "back_up",
    "restore",
]
