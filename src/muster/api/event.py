"""Event: something that happened to an object, for people to read. In two groups: `v1` and `events.k8s.io/v1`.

Both show the same objects, which are stored as `v1` has them: the newer group has other names for some fields, takes
only events that are complete, and lets nothing of them change but their series. `event_forms` translates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.ages import UNKNOWN, age
from muster.api.builtin import builtin
from muster.api.event_forms import CORE_ZERO, GROUP, GROUP_ZERO, as_core, as_group, core_field, read_event
from muster.api.event_rules import core_rules, group_rules
from muster.api.resource import PrinterColumn
from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from datetime import datetime

    from muster.api.resource import Resource


def _last_seen(obj: JsonObject, now: datetime) -> object:
    event = read_event(obj)
    observed = None if event.series is None else event.series.last_observed_time
    return _ago((observed, event.last_timestamp, event.event_time), now)


def _first_seen(obj: JsonObject, now: datetime) -> object:
    event = read_event(obj)
    return _ago((event.first_timestamp, event.event_time), now)


def _ago(moments: tuple[str | None, ...], now: datetime) -> str:
    """The age of the first of these moments that is known."""
    known = next(filter(None, moments), None)
    return UNKNOWN if known is None else age(known, now)


def _object(obj: JsonObject, _: datetime) -> object:
    involved = read_event(obj).involved_object
    kind = involved.kind.lower()
    return f"{kind}/{involved.name}" if involved.name else kind


def _subobject(obj: JsonObject, _: datetime) -> object:
    return read_event(obj).involved_object.field_path


def _source(obj: JsonObject, _: datetime) -> object:
    event = read_event(obj)
    host = event.source.host or event.reporting_instance
    return f"{event.reporter}, {host}" if host else event.reporter


def _message(obj: JsonObject, _: datetime) -> object:
    return read_event(obj).message.strip()


def _count(obj: JsonObject, _: datetime) -> object:
    event = read_event(obj)
    repeated = 0 if event.series is None else event.series.count
    return next(filter(None, (repeated, event.count)), 1)


def _name(obj: JsonObject, _: datetime) -> object:
    return read_event(obj).metadata.name


def _text(field: str, title: str) -> PrinterColumn:
    return PrinterColumn(title, "string", description=f"The event's {field}.", cell=lambda obj, _: obj.get(field, ""))


_COLUMNS: Final = (
    PrinterColumn("Last Seen", "string", description="When it last happened.", cell=_last_seen),
    _text("type", "Type"),
    _text("reason", "Reason"),
    PrinterColumn("Object", "string", description="The object it is about.", cell=_object),
    PrinterColumn("Subobject", "string", description="The part it is about.", priority=1, cell=_subobject),
    PrinterColumn("Source", "string", description="Who reported it.", priority=1, cell=_source),
    PrinterColumn("Message", "string", description="What happened.", cell=_message),
    PrinterColumn("First Seen", "string", description="When it first happened.", priority=1, cell=_first_seen),
    PrinterColumn("Count", "string", description="How often it happened.", priority=1, cell=_count),
    PrinterColumn("Name", "string", description="The event's name.", format="name", priority=1, cell=_name),
)
_REFERENCE: Final = ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")


def _reference(description: str) -> Schema:
    properties = {name: parts.string() for name in _REFERENCE}
    return parts.obj(description, properties=properties) | {"x-kubernetes-map-type": "atomic"}


def _source_schema() -> Schema:
    return parts.obj("Who reported it.", properties={"component": parts.string(), "host": parts.string()})


_SHARED: Final = {name: parts.string() for name in ("action", "reason", "reportingInstance", "type")} | {
    "eventTime": parts.time("When it happened.", nullable=True),
    "related": _reference("Another object that matters."),
    "series": parts.obj(
        "How often it happened.",
        properties={"count": parts.integer(), "lastObservedTime": parts.time(nullable=True)},
    ),
}


def _family() -> tuple[Resource, ...]:
    return (EVENT, GROUP_EVENT)


EVENT: Final = builtin(
    "Event",
    "events",
    parts.obj(
        "Something that happened to an object.",
        ("involvedObject",),
        _SHARED
        | {
            "count": parts.integer("How often it happened."),
            "firstTimestamp": parts.time("When it first happened.", nullable=True),
            "lastTimestamp": parts.time("When it last happened.", nullable=True),
            "involvedObject": _reference("The object it is about."),
            "message": parts.string("What happened."),
            "reportingComponent": parts.string("Who reported it."),
            "source": _source_schema(),
        },
    ),
    _COLUMNS,
    short_names=("ev",),
    rules=core_rules,
    selectable_fields=(
        *(f".involvedObject.{name}" for name in _REFERENCE),
        ".reason",
        ".reportingComponent",
        ".source",
        ".type",
    ),
    selectable=core_field,
    zero=CORE_ZERO,
    convert=as_core,
    family=_family,
)

GROUP_EVENT: Final = builtin(
    "Event",
    "events",
    parts.obj(
        "Something that happened to an object.",
        ("eventTime",),
        _SHARED
        | {
            "deprecatedCount": parts.integer("How often it happened, of an event that v1 took."),
            "deprecatedFirstTimestamp": parts.time("When it first happened, of an event that v1 took.", nullable=True),
            "deprecatedLastTimestamp": parts.time("When it last happened, of an event that v1 took.", nullable=True),
            "deprecatedSource": _source_schema(),
            "note": parts.string("What happened."),
            "regarding": _reference("The object it is about."),
            "reportingController": parts.string("Who reported it."),
        },
    ),
    _COLUMNS,
    group=GROUP,
    short_names=("ev",),
    rules=group_rules,
    selectable_fields=(*(f".regarding.{name}" for name in _REFERENCE), ".reason", ".reportingController", ".type"),
    selectable=core_field,
    zero=GROUP_ZERO,
    convert=as_group,
    family=_family,
)
