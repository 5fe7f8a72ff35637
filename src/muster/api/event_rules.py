"""What is checked of an event beyond its types: little in v1, which takes what old recorders send; everything in
events.k8s.io/v1, where an event is complete from the start and only its series goes on. Both see the form of v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.event_forms import Event, read_event
from muster.api.parts import Part
from muster.values.causes import Cause, invalid, required
from muster.values.json import JsonObject
from muster.values.names import qualified_name_problems

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST: Final = 128  # bytes of a name, a reason, an action
_LONGEST_NOTE: Final = 1024
_GO_NAMES: Final = {"uid": "UID", "api_version": "APIVersion"}
# What never changes, and the name a refusal has for it: in the order of the real server, which finds a changed reason
# twice.
_FIXED: Final = (
    ("involvedObject", "involved_object"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "first_timestamp"),
    ("lastTimestamp", "last_timestamp"),
    ("count", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "event_time"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reporting_component"),
    ("reportingInstance", "reporting_instance"),
)


def core_rules(new: JsonObject, _: JsonObject | None) -> Iterator[Cause]:
    yield from _legacy(read_event(new), "reportingComponent")


def group_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    event = read_event(new)
    yield from _legacy(event, "reportingController")
    if old is not None:
        before = read_event(old)
        if event.series != before.series:
            yield from _series(event)
        yield from (found for name, field in _FIXED for found in _unchanged(name, field, event, before))
        return
    yield from _series(event)
    if not event.event_time:
        yield required("eventTime")
    if event.type not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {event.type}")
    deprecated = {
        "firstTimestamp": event.first_timestamp,
        "lastTimestamp": event.last_timestamp,
        "count": event.count,
        "source": event.source.component or event.source.host,
    }
    yield from (invalid(name, "", "needs to be unset") for name, value in deprecated.items() if value)


def _legacy(event: Event, reporter: str) -> Iterator[Cause]:
    """An event lives where its object does; one with a time says who did what, and why."""
    namespace, involved = event.metadata.namespace, event.involved_object.namespace
    if not event.event_time:
        if involved != namespace and not (involved == "" and namespace in {"", "default"}):
            yield invalid("involvedObject.namespace", involved, "does not match event.namespace")
        return
    if not involved and namespace not in {"default", "kube-system"}:
        yield invalid("involvedObject.namespace", involved, "does not match event.namespace")
    controller = event.reporting_component
    if not controller:
        yield required(reporter)
    yield from (invalid(reporter, controller, problem) for problem in qualified_name_problems(controller))
    said = {"reportingInstance": event.reporting_instance, "action": event.action, "reason": event.reason}
    for name, value in said.items():
        if not value:
            yield required(name)
        if _size(value) > _LONGEST:
            yield invalid(name, "", f"can have at most {_LONGEST} characters")
    if _size(event.message) > _LONGEST_NOTE:
        yield invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _series(event: Event) -> Iterator[Cause]:
    if event.series is None:
        return
    if event.series.count < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not event.series.last_observed_time:
        yield required("series.lastObservedTime")


def _unchanged(name: str, field: str, new: Event, old: Event) -> Iterator[Cause]:
    now, before = getattr(new, field), getattr(old, field)
    if now != before:
        yield invalid(name, _go_struct(now) if isinstance(now, Part) else now, "field is immutable")


def _go_struct(value: Part) -> JsonObject:
    """As the real server's own structs have it, which is how its refusals print it."""
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return {_GO_NAMES.get(name, "".join(map(str.capitalize, name.split("_")))): text for name, text in fields.items()}
