"""Events: what a controller did, where kubectl describe shows it. Written behind the work, never in its way.

While work waits, an event waits too, for a moment: after a start a thousand decisions make thousands of events, which
would take half of the server from them. None waits where there are so many that soon some would be lost.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.client.fence import LeadershipLostError
from muster.controllers.runtime.conditions import timestamp
from muster.errors import MusterError
from muster.values.api_paths import collection_path
from muster.values.json import JsonObject
from muster.values.messages import event_message

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.api.parts import Identity
    from muster.api.resource import Resource
    from muster.client import Client

_LOGGER = logging.getLogger(__name__)
_MOST_WAITING: Final = 8000
_MANY_WAITING: Final = _MOST_WAITING // 2  # from there on events are written whatever else there is to do
_LOOK: Final = 0.02  # seconds between looks at whether work still waits
_LOOKS: Final = 25


class About(NamedTuple):
    """The object that an event is about."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""
    revision: str = ""

    @classmethod
    def of(cls, resource: Resource, metadata: Identity) -> About:
        """An object of a kind that we know, in the version that we watch it in."""
        return cls(
            resource.api_version(resource.storage_version),
            resource.kind,
            metadata.name,
            metadata.namespace,
            metadata.uid,
            metadata.resource_version,
        )


class EventRecorder:
    """Takes events and writes them when `run` gets to it. One that cannot be written is logged and forgotten."""

    def __init__(
        self,
        client: Client,
        component: str,
        clock: Callable[[], datetime],
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_busy`: whether there is work that the server had better have time for."""
        self._is_busy = is_busy
        self._client = client
        self._component = component
        self._clock = clock
        self._waiting: asyncio.Queue[JsonObject] = asyncio.Queue(_MOST_WAITING)
        self._writing = False
        self.dropped = 0

    def record(self, about: About, reason: str, message: str, kind: str = "Normal") -> None:
        now = timestamp(self._clock())
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{about.name[:230]}.{secrets.token_hex(8)}",
                "namespace": about.namespace or "default",
            },
            "involvedObject": {
                "apiVersion": about.api_version,
                "kind": about.kind,
                "name": about.name,
                "namespace": about.namespace,
                "uid": about.uid,
                "resourceVersion": about.revision,
            },
            "reason": reason,
            "message": event_message(message),
            "type": kind,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            self.dropped += 1

    @property
    def idle(self) -> bool:
        """Nothing waits to be written, and nothing is being written."""
        return self._waiting.empty() and not self._writing

    async def run(self) -> None:
        while True:
            self._writing = False
            event = await self._waiting.get()
            self._writing = True
            await self._wait_for_work()
            path = collection_path("", "v1", "events", event["metadata"]["namespace"])
            try:
                await self._client.request("POST", path, body=event)
            except LeadershipLostError:
                self.dropped += 1  # whoever leads now tells what it does
            except (MusterError, ValueError) as error:
                name = event["involvedObject"]["name"]
                _LOGGER.warning("event %s about %s was not recorded: %s", event["reason"], name, error)

    async def _wait_for_work(self) -> None:
        for _ in range(_LOOKS):
            if not self._is_busy() or self._waiting.qsize() > _MANY_WAITING:
                break
            await asyncio.sleep(_LOOK)
