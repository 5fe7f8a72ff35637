"""Kinds that a server does not serve, or not yet: they are looked for now and then, and watched once they are there.

A Kubernetes server may have some of our kinds, others later, or upstream's instead. The manager says which kinds it
wants watched; what is missing counts as empty until it comes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from muster.client.errors import UnreachableError
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muster.client import Client, Discovery, ServedResource
    from muster.client.reflector import Reflector

    Make = Callable[[ServedResource], Reflector]

_LOGGER = logging.getLogger(__name__)
_LOOK: Final = 10.0  # seconds


class LateKinds:
    """Reflectors of kinds that may come later. `run` ends when all of them have come."""

    def __init__(self, client: Client, pause: float = _LOOK) -> None:
        self._client = client
        self._pause = pause
        self._missing: dict[str, list[Make]] = {}

    def reflector(self, discovery: Discovery, name: str, make: Make) -> list[Reflector]:
        """The reflector of a kind, if the server serves it; else it is made when it does."""
        found = discovery.find(name)
        if found is not None:
            return [make(found)]
        if name not in self._missing:
            _LOGGER.info("the server has no %s: none are watched until it does", name)
        self._missing.setdefault(name, []).append(make)
        return []

    async def run(self, start: Callable[[Reflector], None]) -> None:
        """Look for what is missing; `start` gets the reflector of each kind that has come."""
        while self._missing:
            await asyncio.sleep(self._pause)
            try:
                discovery = await self._client.discover()
            except (ApiError, UnreachableError) as error:
                _LOGGER.info("kinds cannot be looked for: %s", error)
                continue
            for name in list(self._missing):
                found = discovery.find(name)
                if found is not None:
                    _LOGGER.warning("the server has %s now", name)
                    for make in self._missing.pop(name):
                        start(make(found))


async def discovered(client: Client, essential: Iterable[str]) -> Discovery:
    """What the server serves, once it answers and serves what nothing can be decided without.

    Kinds of an installation come one after the other. A fleet whose clusters cannot be seen yet is not an empty fleet:
    deciding from it would take every decision away.
    """
    pause, told = 0.1, ""
    while True:
        try:
            discovery = await client.discover()
            missing = [name for name in essential if discovery.find(name) is None]
            if not missing:
                return discovery
            trouble = f"it does not serve {', '.join(missing)}; `muster kubernetes install` brings them"
        except (ApiError, UnreachableError) as error:
            trouble = str(error)
        if trouble != told:
            _LOGGER.warning("waiting for the server: %s", trouble)
            told = trouble
        await asyncio.sleep(pause)
        pause = min(pause * 2, 5.0)
