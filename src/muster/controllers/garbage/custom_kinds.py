"""Custom kinds come and go while controllers run: the garbage collector watches the metadata of those there are.

`manager` gives it the definitions to watch; a change of any has it look at what the server serves. Nobody waits for
these kinds: one whose definition goes while it is being listed must not keep the fleet's controllers from starting.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.client.errors import UnreachableError
from muster.client.reflector import Gathered, Reflector
from muster.controllers.garbage.collector import METADATA, METADATA_LIST, collectable
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.client import Client, ServedResource
    from muster.client.reflector import Handler
    from muster.controllers.garbage.collector import GarbageCollector

_LOGGER = logging.getLogger(__name__)
_TOGETHER: Final = 0.2  # seconds in which changes of several definitions are one
_AGAIN: Final = 2.0  # seconds after which a server that does not answer is asked again


def is_custom(resource: ServedResource) -> bool:
    """Whether somebody has defined the kind: it is none that the hub brings."""
    key = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    return key not in RESOURCES


class CustomKinds:
    """A handler of definitions, and the watches of the kinds that they define."""

    def __init__(self, client: Client, garbage: GarbageCollector, shown: Callable[[ServedResource], Handler]) -> None:
        """`shown` makes the handler that shows a kind to the collector."""
        self._client = client
        self._garbage = garbage
        self._shown = shown
        self._changed = asyncio.Event()
        self._watched: dict[ServedResource, tuple[asyncio.Task[None], Handler]] = {}

    def listing(self, _revision: str) -> Gathered:
        return Gathered(self.replace)

    def replace(self, _: Sequence[bytes], _revision: str) -> None:
        self._changed.set()

    def put(self, _: bytes) -> None:
        self._changed.set()

    def remove(self, _: bytes) -> None:
        self._changed.set()

    @property
    def watched(self) -> list[ServedResource]:
        return list(self._watched)

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._changed.wait()
                await asyncio.sleep(_TOGETHER)
                self._changed.clear()
                try:
                    discovery = await self._client.discover()
                except (ApiError, UnreachableError) as error:
                    _LOGGER.warning("custom kinds: %s; again in %.0f s", error, _AGAIN)
                    await asyncio.sleep(_AGAIN)
                    self._changed.set()
                    continue
                self._follow({each for each in collectable(discovery) if is_custom(each)}, tasks)
                self._garbage.serves(discovery)

    def _follow(self, wanted: set[ServedResource], tasks: asyncio.TaskGroup) -> None:
        for resource in self._watched.keys() - wanted:
            task, handler = self._watched.pop(resource)
            task.cancel()
            handler.replace([], "")
        for resource in wanted - self._watched.keys():
            handler = self._shown(resource)
            reflector = Reflector(self._client, resource, handler, accept=(METADATA_LIST, METADATA))
            self._watched[resource] = tasks.create_task(reflector.run()), handler
