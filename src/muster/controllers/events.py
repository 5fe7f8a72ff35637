"""Events: what a controller did, where kubectl describe shows it."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Any

from muster.client.errors import UnreachableError
from muster.controllers.conditions import timestamp
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.client import Client

_LOGGER = logging.getLogger(__name__)
_LONGEST = 1000


class EventRecorder:
    """Writes events about objects. An event that cannot be written is logged and forgotten: it is not the work."""

    def __init__(self, client: Client, component: str, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._component = component
        self._clock = clock

    async def record(self, about: Mapping[str, Any], reason: str, message: str, kind: str = "Normal") -> None:
        metadata = about["metadata"]
        namespace = metadata.get("namespace") or "default"
        now = timestamp(self._clock())
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name']}.{secrets.token_hex(8)}", "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": metadata["name"],
                "namespace": metadata.get("namespace", ""),
                "uid": metadata.get("uid", ""),
                "resourceVersion": metadata.get("resourceVersion", ""),
            },
            "reason": reason,
            "message": message if len(message) <= _LONGEST else message[:_LONGEST] + "......",
            "type": kind,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        try:
            await self._client.request("POST", f"/api/v1/namespaces/{namespace}/events", body=event)
        except (ApiError, UnreachableError) as error:
            _LOGGER.warning("event %s about %s was not recorded: %s", reason, metadata["name"], error)
