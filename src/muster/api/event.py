"""Event: something that happened to an object, for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from muster.api import parts
from muster.api.ages import UNKNOWN, age
from muster.api.builtin import builtin
from muster.api.resource import PrinterColumn
from muster.values.causes import Cause, invalid

if TYPE_CHECKING:
    from datetime import datetime

Object = dict[str, Any]


def rules(new: Object, _: Object | None) -> list[Cause]:
    """An event lives where its object does; events about cluster-scoped objects live in `default`."""
    namespace = (new.get("metadata") or {}).get("namespace", "")
    involved = (new.get("involvedObject") or {}).get("namespace", "")
    if involved != namespace and not (involved == "" and namespace in {"", "default"}):
        return [invalid("involvedObject.namespace", involved, "does not match event.namespace")]
    return []


def _last_seen(obj: Object, now: datetime) -> object:
    series = obj.get("series") or {}
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or obj.get("eventTime")
    count = series.get("count") or obj.get("count") or 0
    first = obj.get("firstTimestamp") or obj.get("eventTime")
    if count > 1 and first:
        return f"{_ago(last, now)} (x{count} over {_ago(first, now)})"
    return _ago(last, now)


def _ago(moment: object, now: datetime) -> str:
    return age(moment, now) if moment else UNKNOWN


def _first_seen(obj: Object, now: datetime) -> object:
    return _ago(obj.get("firstTimestamp") or obj.get("eventTime"), now)


def _object(obj: Object, _: datetime) -> object:
    involved = obj.get("involvedObject") or {}
    kind, name = involved.get("kind", "").lower(), involved.get("name", "")
    return f"{kind}/{name}" if name else kind


def _subobject(obj: Object, _: datetime) -> object:
    return (obj.get("involvedObject") or {}).get("fieldPath", "")


def _source(obj: Object, _: datetime) -> object:
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def _message(obj: Object, _: datetime) -> object:
    return (obj.get("message") or "").strip()


def _count(obj: Object, _: datetime) -> object:
    return (obj.get("series") or {}).get("count") or obj.get("count") or 1


def _name(obj: Object, _: datetime) -> object:
    return (obj.get("metadata") or {}).get("name", "")


_STRINGS = ("action", "message", "reason", "reportingComponent", "reportingInstance", "type")
_REFERENCE = ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")


def _text(field: str, title: str) -> PrinterColumn:
    return PrinterColumn(title, "string", description=f"The event's {field}.", cell=lambda obj, _: obj.get(field, ""))


EVENT: Final = builtin(
    "Event",
    "events",
    parts.obj(
        "Something that happened to an object.",
        ("involvedObject",),
        {name: parts.string() for name in _STRINGS}
        | {
            "count": parts.integer("How often it happened."),
            "eventTime": parts.time("When it happened.", nullable=True),
            "firstTimestamp": parts.time("When it first happened.", nullable=True),
            "lastTimestamp": parts.time("When it last happened.", nullable=True),
            "involvedObject": parts.obj("The object it is about.", properties={n: parts.string() for n in _REFERENCE}),
            "related": parts.obj("Another object that matters.", properties={n: parts.string() for n in _REFERENCE}),
            "source": parts.obj("Who reported it.", properties={"component": parts.string(), "host": parts.string()}),
            "series": parts.obj(
                "How often it happened.",
                properties={"count": parts.integer(), "lastObservedTime": parts.time()},
            ),
        },
    ),
    (
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
    ),
    short_names=("ev",),
    rules=rules,
    selectable_fields=(
        ".involvedObject.kind",
        ".involvedObject.namespace",
        ".involvedObject.name",
        ".involvedObject.uid",
        ".involvedObject.apiVersion",
        ".involvedObject.resourceVersion",
        ".involvedObject.fieldPath",
        ".reason",
        ".reportingComponent",
        ".type",
    ),
)
