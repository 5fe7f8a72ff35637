"""The two forms of an Event, the way between them, and what can be read of either.

Called by the machinery for every read and write of an event, and by its rules and columns, which read the form of v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.parts import Identity, Node, Part
from muster.api.reading import Reader
from muster.values.json import JsonObject
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    Object = JsonObject

GROUP: Final = "events.k8s.io"
CORE: Final = "v1"  # the version that events are stored in

# What a field of v1 is called in events.k8s.io; the others have the same name in both.
_NAMES: Final[Mapping[str, str]] = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_BACK: Final = {new: old for old, new in _NAMES.items()}
# What every event shows, whether it has something to say or not.
CORE_ZERO: Final[JsonObject] = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}
GROUP_ZERO: Final[JsonObject] = {
    "eventTime": None,
    "regarding": {},
    "deprecatedSource": {},
    "deprecatedFirstTimestamp": None,
    "deprecatedLastTimestamp": None,
}
_OMITTED: Final = ("reportingController", "reportingInstance")  # of the newer group, when they are empty


class ObjectReference(Part, frozen=True):
    """Another object, in the order in which a real server prints one."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class EventSource(Part, frozen=True):
    component: str = ""
    host: str = ""


class EventSeries(Part, frozen=True):
    count: int = 0
    last_observed_time: str | None = None


class Event(Node, frozen=True):
    """As v1 has it."""

    metadata: Identity = Identity()
    involved_object: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    reason: str = ""
    message: str = ""
    type: str = ""
    action: str = ""
    source: EventSource = EventSource()
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    count: int = 0
    series: EventSeries | None = None
    reporting_component: str = ""
    reporting_instance: str = ""

    @property
    def reporter(self) -> str:
        """Who reported it: newer recorders have a field of their own for it."""
        return self.source.component or self.reporting_component


_READER: Final = Reader(Event)


def read_event(obj: Object) -> Event:
    """An event in either form."""
    return _READER.of(as_core(obj, CORE))


def as_core(obj: Object, _: str) -> Object:
    """The event as v1 shows it; itself if it is in that form."""
    if obj.get("apiVersion", CORE) == CORE:
        return obj
    event = {_BACK.get(name, name): value for name, value in obj.items()}
    return _identity(CORE) | CORE_ZERO | event | _identity(CORE)


def as_group(obj: Object, _: str) -> Object:
    """The event as events.k8s.io/v1 shows it; itself if it is in that form."""
    version = f"{GROUP}/v1"
    if obj.get("apiVersion") == version:
        return obj
    event = {_NAMES.get(name, name): value for name, value in obj.items()}
    for name in _OMITTED:
        if event.get(name) == "":
            del event[name]
    return _identity(version) | GROUP_ZERO | event | _identity(version)


def _identity(version: str) -> Object:
    """What an object begins with; laid over it once more, because the other form has named itself there."""
    return {"apiVersion": version, "kind": "Event"}


def core_field(stored: Object, field: str) -> str:
    """What a field selector of either group compares with. Who reported an event is its source if nothing else is."""
    name, _, below = field.partition(".")
    name = _BACK.get(name, name)
    if name == "source":
        return read_event(stored).reporter
    return text_at(stored, name, below) if below else text_at(stored, name)
