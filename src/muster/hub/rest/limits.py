"""What one request may cost: body size, nesting, YAML expansion, watchers, time. Read by every module of this package.

Each limit is a clear answer to the client, never an exhausted process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muster.hub import status

MAX_DEPTH = 100  # levels of nesting in a body; the deepest real objects have less than twenty
MAX_YAML_NODES = 200_000  # after aliases are expanded
ABORT = "muster.abort"  # the ASGI extension by which the server lets an answer drop its connection


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings; the defaults suit one hub on a small machine."""

    body_bytes: int = 3 * 1024 * 1024
    body_seconds: float = 60.0  # a client has this long to send its body
    write_seconds: float = 60.0  # a client that takes nothing for this long is cut off
    request_seconds: float = 60.0  # everything but a watch
    watches: int = 10_000
    watch_seconds: float = 1800.0  # at least, when the client names no time-out; at most twice that
    requests_in_flight: int = 2_000


def check_depth(value: Any, *, openings: int = MAX_DEPTH + 1, unbounded: bool = False) -> None:
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
