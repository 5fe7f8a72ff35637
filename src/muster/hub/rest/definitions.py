"""CustomResourceDefinition objects of our kinds, read-only: what tools that list custom kinds expect to find.

Made from the registry by `api.crds`, never stored: the hub's kinds are part of the program. A watch of them sends what
exists and then waits, because they do not change while the hub runs.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec

from muster.api.crds import CUSTOM_RESOURCE_DEFINITION, GROUP, custom_resource_definitions
from muster.hub import status
from muster.hub.requests import Answer, ListAnswer, WatchEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from muster.api.resource import Resource
    from muster.hub.requests import Target

_PLURAL = CUSTOM_RESOURCE_DEFINITION.plural


def is_definition(resource: Resource) -> bool:
    return resource.group == GROUP and resource.plural == _PLURAL


class Definitions:
    """The CustomResourceDefinitions by name."""

    def __init__(self, resources: Iterable[Resource], since: str) -> None:
        """`since` is their creation time: when this hub started."""
        found = custom_resource_definitions(resources, since)
        self._objects = {name: msgspec.json.encode(found[name]) for name in sorted(found)}

    def get(self, target: Target) -> Answer:
        found = self._objects.get(target.name)
        if found is None:
            raise status.not_found(GROUP, _PLURAL, target.name)
        return Answer(200, found)

    def listed(self, target: Target) -> ListAnswer:
        found = list(self._objects.values())
        return ListAnswer(target, "1", found, sum(map(len, found)))

    def events(self) -> list[WatchEvent]:
        return [WatchEvent("ADDED", found, 1) for found in self._objects.values()]


class FixedStream:
    """A watch of things that do not change: the events, then silence until it is closed or its time is over."""

    def __init__(self, events: Sequence[WatchEvent], timeout: float) -> None:
        self._events = events
        self._timeout = timeout
        self._closed = asyncio.Event()
        self.holds = 0
        self.begun: Callable[[], None] = lambda: None

    async def __aiter__(self) -> AsyncIterator[Sequence[WatchEvent]]:
        if self._events:
            yield self._events
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                await self._closed.wait()

    def close(self) -> None:
        self._closed.set()
