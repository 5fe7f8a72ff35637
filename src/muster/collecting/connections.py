"""Connections to clusters, kept from look to look as long as what they were made of stays the same.

A kept one takes some seventy kilobytes, most of it what TLS remembers; so there is a most, and the clusters beyond it
are connected to anew for every look. None gets older than an hour: certificates are looked at again then.
"""

from __future__ import annotations

import random
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.client import Client
from muster.client.kubeconfig_files import KubeconfigError
from muster.collecting.access import Material
from muster.collecting.reading import HEADERS
from muster.collecting.troubles import Trouble, TroubleError
from muster.collecting.wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muster.collecting.access import Accesses

_OLDEST: Final = 3600.0  # seconds


@dataclass(frozen=True, slots=True)
class _Kept:
    material: Material
    wire: Wire
    until: float


class Connections:
    """Ways to clusters, some of them open."""

    def __init__(self, accesses: Accesses, most: int) -> None:
        self._accesses = accesses
        self._most = most
        self._kept: dict[str, _Kept] = {}

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._kept)

    def forget(self, cluster: str, how: str = "") -> None:
        """The cluster is gone, or what is remembered was of no use."""
        if how:
            self._accesses.forget(cluster, how)
        kept = self._kept.pop(cluster, None)
        if kept is not None:
            kept.wire.close()

    def close(self) -> None:
        for cluster in list(self._kept):
            self.forget(cluster)

    @asynccontextmanager
    async def to(self, cluster: str, how: str) -> AsyncIterator[Client | Wire]:
        """For one look; it is kept if that goes well. Raises TroubleError."""
        try:
            way = await self._accesses.way(cluster, how)
            kept = self._taken(cluster, way) if isinstance(way, Material) else None
        except KubeconfigError as error:
            self.forget(cluster, how)
            raise TroubleError(Trouble.NO_ACCESS, f"the kubeconfig cannot be used: {error.reason}") from error
        if kept is None:
            assert not isinstance(way, Material)  # noqa: S101 - it would be kept
            async with Client(way) as client:
                yield client
            return
        try:
            yield kept.wire
        except BaseException:  # cancelled, too: half an answer may be on its way
            kept.wire.close()
            raise
        if kept.wire.is_open and cluster not in self._kept and len(self._kept) < self._most:
            self._kept[cluster] = kept
        else:
            kept.wire.close()

    def _taken(self, cluster: str, material: Material) -> _Kept:
        """The one that is kept, if it was made of the same and is not too old; else a new one."""
        kept, now = self._kept.pop(cluster, None), time.monotonic()
        if kept is not None:
            if kept.material == material and now < kept.until:
                return kept
            kept.wire.close()
        until = now + _OLDEST * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come at once
        return _Kept(material, Wire(material.connection(), HEADERS), until)
