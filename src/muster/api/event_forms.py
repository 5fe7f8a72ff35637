"""The two forms of an Event, and the way between them. Called by the machinery for every read and write of either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.json import JsonObject

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
        value = (stored.get("source") or {}).get("component") or stored.get("reportingComponent")
    elif below:
        value = (stored.get(name) or {}).get(below)
    else:
        value = stored.get(name)
    return value if isinstance(value, str) else ""
