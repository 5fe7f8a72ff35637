"""What one request may cost: body size, nesting, YAML expansion, watchers, time. Read by every module of this package.

Each limit is a clear answer to the client, never an exhausted process.
"""

from __future__ import annotations

from dataclasses import dataclass

from muster.hub import status
from muster.values.json import Json
from muster.values.limits import Unit, limit

MAX_DEPTH = 100  # levels of nesting in a body; the deepest real objects have less than twenty
MAX_YAML_NODES = 200_000  # after aliases are expanded


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings; the defaults suit one hub on a small machine."""

    body_bytes: int = limit(
        3 * 1024 * 1024,
        "body bytes",
        "The body of a request. A stored object has 3 MiB at most in any case.",
        "413 `RequestEntityTooLarge`",
        Unit.BYTES,
    )
    body_seconds: float = limit(
        60.0, "body seconds", "The time a client has to send its body.", "408", Unit.SECONDS, least=0.1
    )
    write_seconds: float = limit(
        60.0,
        "write seconds",
        "The time in which a client has to take something of what waits for it.",
        "the connection ends",
        Unit.SECONDS,
        least=0.1,
    )
    request_seconds: float = limit(
        60.0, "request seconds", "The time for a request that is no watch.", "504", Unit.SECONDS, least=0.1
    )
    requests_in_flight: int = limit(
        2_000, "requests in flight", "Requests of all users that are being answered.", "429, Retry-After 1", least=0
    )
    watches: int = limit(10_000, "watches", "Watches of all users that are open.", "429, Retry-After 5", least=0)
    watch_seconds: float = 1800.0  # at least, when the client names no time-out; at most twice that
    connections: int = limit(
        20_000, "connections", "Connections that are open, with or without credentials.", "the connection ends"
    )


def check_depth(value: Json, *, openings: int = MAX_DEPTH + 1, unbounded: bool = False) -> None:
    """Refuse a value that nests deeper than MAX_DEPTH. `openings` bounds the depth: few braces need no look."""
    if unbounded:
        raise status.bad_request(f"the body nests deeper than {MAX_DEPTH} levels")
    if openings <= MAX_DEPTH:
        return
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for node in level
            for item in (node.values() if isinstance(node, dict) else node)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return
    raise status.bad_request(f"the body nests deeper than {MAX_DEPTH} levels")
