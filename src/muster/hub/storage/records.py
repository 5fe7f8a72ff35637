"""The words of the store: keys, records, changes, guards and events.

The API machinery builds changes and reads records; watch streams send events. Values are the
JSON of an object as bytes, made once and shared by everybody: the store never looks inside.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable


class Key(NamedTuple):
    """Which object. `resource` is the plural with its group, as in `placements.cluster.open-cluster-management.io`.

    `namespace` is empty for cluster-scoped objects. Keys sort as lists do: by namespace, then by name.
    """

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


# Records are the bulk of the memory: a Struct without garbage-collector header is the smallest
# thing that has names, and a hundred thousand of them do not slow down a collection.
class Record(msgspec.Struct, frozen=True, gc=False):
    """One state of one object. `metadata.resourceVersion` inside `value` equals `revision`."""

    key: Key
    revision: int
    created_revision: int
    value: bytes


class Put(msgspec.Struct, frozen=True, gc=False):
    """Create or replace an object. Its value is `head + str(revision) + tail`.

    expected: 0 means that the object must not exist, n that it must be at revision n, None that anything goes.
    """

    key: Key
    head: bytes
    tail: bytes
    expected: int | None


class Delete(msgspec.Struct, frozen=True, gc=False):
    """Remove an object. The value is its last state with the deletion's revision, for watchers and the log.

    expected: n means that the object must be at revision n, None that it must only exist.
    """

    key: Key
    head: bytes
    tail: bytes
    expected: int | None


Change = Put | Delete


class Unchanged(msgspec.Struct, frozen=True, gc=False):
    """A guard: nothing here changed after `revision`.

    Here is one object, or a namespace of a resource (name None), or all of a resource (both None).
    """

    resource: str
    namespace: str | None
    name: str | None
    revision: int


class Unmatched(msgspec.Struct, frozen=True):
    """A guard: nothing of a resource that was written after `revision` matches. What else goes on there is no matter.

    `matches` is given keys and values on the writer's thread, within its transaction: quick, and without side effects.
    """

    resource: str
    revision: int
    matches: Callable[[Key, bytes], bool]


Guard = Unchanged | Unmatched


class EventType(Enum):
    """What happened to an object, in the words of a Kubernetes watch."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Event:
    """One change, shared by all who watch. `previous` is the state that it replaced, if there was one."""

    type: EventType
    record: Record
    previous: Record | None
    #: Whatever the readers of watches encode from this event, made by the first and used by all.
    encodings: dict[Hashable, bytes] = field(default_factory=dict, compare=False, repr=False)


def size_of(events: Iterable[Event]) -> int:
    """How many bytes the new states have."""
    return sum([len(event.record.value) for event in events])
