"""What is checked of an event beyond its types: little in v1, which takes what old recorders send; everything in
events.k8s.io/v1, where an event is complete from the start and only its series goes on. Both see the form of v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.causes import Cause, invalid, required
from muster.values.json import Json, JsonObject
from muster.values.names import qualified_name_problems

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST: Final = 128  # bytes of a name, a reason, an action
_LONGEST_NOTE: Final = 1024
_REFERENCE: Final = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_GO_NAMES: Final = {"uid": "UID", "apiVersion": "APIVersion"}
# In the order of the real server, which finds a changed reason twice.
_FIXED: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingController",
    "reportingInstance",
)


def core_rules(new: JsonObject, _: JsonObject | None) -> Iterator[Cause]:
    yield from _legacy(new, "reportingComponent")


def group_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    yield from _legacy(new, "reportingController")
    if old is not None:
        if (new.get("series") or None) != (old.get("series") or None):
            yield from _series(new)
        yield from (found for name in _FIXED for found in _unchanged(name, new, old))
        return
    yield from _series(new)
    if not new.get("eventTime"):
        yield required("eventTime")
    if new.get("type") not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {new.get('type', '')}")
    yield from (
        invalid(name, "", "needs to be unset") for name in ("firstTimestamp", "lastTimestamp", "count") if new.get(name)
    )
    source = new.get("source") or {}
    if source.get("component") or source.get("host"):
        yield invalid("source", "", "needs to be unset")


def _legacy(event: JsonObject, reporter: str) -> Iterator[Cause]:
    """An event lives where its object does; one with a time says who did what, and why."""
    namespace = (event.get("metadata") or {}).get("namespace", "")
    involved = (event.get("involvedObject") or {}).get("namespace", "")
    if not event.get("eventTime"):
        if involved != namespace and not (involved == "" and namespace in {"", "default"}):
            yield invalid("involvedObject.namespace", involved, "does not match event.namespace")
        return
    if not involved and namespace not in {"default", "kube-system"}:
        yield invalid("involvedObject.namespace", involved, "does not match event.namespace")
    controller = event.get("reportingComponent") or ""
    if not controller:
        yield required(reporter)
    yield from (invalid(reporter, controller, problem) for problem in qualified_name_problems(controller))
    for name in ("reportingInstance", "action", "reason"):
        value = event.get(name) or ""
        if not value:
            yield required(name)
        if _size(value) > _LONGEST:
            yield invalid(name, "", f"can have at most {_LONGEST} characters")
    if _size(event.get("message") or "") > _LONGEST_NOTE:
        yield invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _series(event: JsonObject) -> Iterator[Cause]:
    series = event.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")


def _unchanged(name: str, new: JsonObject, old: JsonObject) -> Iterator[Cause]:
    field = "reportingComponent" if name == "reportingController" else name
    now, before = _plain(field, new.get(field)), _plain(field, old.get(field))
    if now != before:
        yield invalid(name, now, "field is immutable")


def _plain(field: str, value: Json) -> Json:
    """A value as the real server's own structs have it, which is how its refusals print it."""
    match field:
        case "involvedObject":
            return _go_struct(value or {}, _REFERENCE)
        case "related":
            return None if value is None else _go_struct(value, _REFERENCE)
        case "source":
            return _go_struct(value or {}, ("component", "host"))
        case "firstTimestamp" | "lastTimestamp" | "eventTime":
            return value or None
        case "count":
            return value or 0
        case _:
            return value or ""


def _go_struct(value: JsonObject, names: tuple[str, ...]) -> JsonObject:
    return {_GO_NAMES.get(name, name[0].upper() + name[1:]): value.get(name) or "" for name in names}
