"""Query parameters as the options of a request, read with the leniency and the refusals of a real server.

Called by `verbs` and `watching`. Values stay as written where the API machinery judges them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from muster.cel.values.timestamps import parse_duration
from muster.hub import status
from muster.hub.requests import DeleteOptions, ListOptions, WatchOptions, WriteOptions
from muster.values.causes import quoted

if TYPE_CHECKING:
    from muster.hub.rest.routes import Route

Query = dict[str, list[str]]
_EMPTY: Query = {}
_MAX_PARAMETERS = 100


def parse_query(raw: bytes) -> Query:
    """The parameters by name, values in order."""
    if not raw:
        return _EMPTY
    try:
        pairs = parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError as error:
        raise status.bad_request(f"the query cannot be read: {error}") from None
    found: Query = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def text(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def flag(query: Query, name: str) -> bool | None:
    """Absent is None; `0` and `false` are no; everything else, the bare name included, is yes."""
    values = query.get(name)
    if not values:
        return None
    return values[0] != "0" and values[0].lower() != "false"


def number(query: Query, name: str) -> int | None:
    """A 64-bit integer; an empty value counts as absent."""
    value = text(query, name)
    if not value:
        return None
    digits = value[1:] if value[0] in "+-" else value
    if not digits.isascii() or not digits.isdigit():
        raise status.bad_request(f'strconv.ParseInt: parsing "{value}": invalid syntax')
    if len(digits) > 19 or not -(1 << 63) <= int(value) < 1 << 63:
        raise status.bad_request(f'strconv.ParseInt: parsing "{value}": value out of range')
    return int(value)


def check_timeout(raw: bytes) -> None:
    """Refuse a `timeout` that is no duration. A good one changes nothing: requests end sooner than clients ask for."""
    query = parse_query(raw)
    value = text(query, "timeout")
    if value and not flag(query, "watch") and parse_duration(value) is None:
        problem = f"invalid timeout specified in the request URL - time: invalid duration {quoted(value[:100])}"
        raise status.bad_request(problem)


def write_options(query: Query, user_agent: str) -> WriteOptions:
    if not query:
        return WriteOptions(user_agent=user_agent)
    return WriteOptions(
        dry_run=tuple(query.get("dryRun", ())),
        field_manager=text(query, "fieldManager"),
        field_validation=text(query, "fieldValidation"),
        force=flag(query, "force"),
        user_agent=user_agent,
    )


def list_options(query: Query) -> ListOptions:
    if not query:
        return ListOptions()
    return ListOptions(
        label_selector=text(query, "labelSelector"),
        field_selector=text(query, "fieldSelector"),
        limit=number(query, "limit") or 0,
        continue_token=text(query, "continue"),
        resource_version=text(query, "resourceVersion"),
        resource_version_match=text(query, "resourceVersionMatch"),
        send_initial_events=flag(query, "sendInitialEvents"),
    )


def watch_options(query: Query, route: Route) -> WatchOptions:
    """The options of a watch. The old path form names one object; that is a field selector like any other."""
    fields = text(query, "fieldSelector")
    if route.name:
        named = f"metadata.name={route.name}"
        fields = f"{fields},{named}" if fields else named
    number(query, "limit")  # ignored by a watch, but it must be a number
    seconds = number(query, "timeoutSeconds")
    return WatchOptions(
        label_selector=text(query, "labelSelector"),
        field_selector=fields,
        resource_version=text(query, "resourceVersion"),
        resource_version_match=text(query, "resourceVersionMatch"),
        continue_token=text(query, "continue"),
        bookmarks=bool(flag(query, "allowWatchBookmarks")),
        send_initial_events=flag(query, "sendInitialEvents"),
        timeout=None if seconds is None or seconds <= 0 else float(seconds),
    )


def delete_options(query: Query) -> DeleteOptions:
    if not query:
        return DeleteOptions()
    return DeleteOptions(
        dry_run=tuple(query.get("dryRun", ())),
        grace_period_seconds=number(query, "gracePeriodSeconds"),
        propagation_policy=query["propagationPolicy"][0] if "propagationPolicy" in query else None,
        orphan_dependents=flag(query, "orphanDependents"),
    )
