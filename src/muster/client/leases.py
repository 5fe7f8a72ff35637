"""Leader election by a Lease: of all that try, one leads at a time, and whoever leads knows when it no longer does.

Clocks of other machines are not trusted: a lease has ended when it has not changed for its duration by our own clock.
A leader that cannot renew in time stops before others may start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from muster.client.errors import UnreachableError
from muster.errors import ApiError, MusterError
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from muster.client.client import Client

_LOGGER = logging.getLogger(__name__)
_LEASES: Final = ("coordination.k8s.io", "v1", "leases")
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


class LeadershipLostError(MusterError):
    """The lease could not be renewed in time, or somebody else has it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who wants to lead, by which lease, in seconds.

    `succeeds` is a holder that is known to be gone, such as the process that a supervisor has seen die: its lease is
    taken over without waiting for its end.
    """

    name: str
    identity: str
    namespace: str = "kube-system"
    succeeds: str = ""
    duration: float = 15.0
    renew_within: float = 10.0
    retry: float = 2.0

    @property
    def collection(self) -> str:
        return collection_path(*_LEASES, self.namespace)

    @property
    def path(self) -> str:
        return object_path(*_LEASES, self.namespace, self.name)


class Election:
    """One candidacy. `lead` waits for the lease and works while it is held."""

    def __init__(self, client: Client, candidate: Candidate, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._candidate = candidate
        self._clock = clock
        self._seen: tuple[str, str] | None = None  # holder and revision
        self._seen_at = 0.0
        self.leading = False

    async def lead(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Work as the leader. Raises LeadershipLostError when the lease is lost; the work has ended then."""
        while not await self._tried():  # noqa: ASYNC110 - what is waited for happens on another machine
            await asyncio.sleep(self._candidate.retry)
        self.leading = True
        working = asyncio.create_task(work())
        renewing = asyncio.create_task(self._keep())
        try:
            await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                await working
            else:
                renewing.result()  # raises: it ends in no other way
        finally:
            self.leading = False
            for task in (working, renewing):
                task.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)
            await self._release()

    async def _keep(self) -> None:
        renewed = self._clock()
        while True:
            await asyncio.sleep(self._candidate.retry)
            left = self._candidate.renew_within - (self._clock() - renewed)
            try:
                async with asyncio.timeout(max(left, 0)):
                    ours = await self._tried()
            except TimeoutError:
                ours = False
            if ours:
                renewed = self._clock()
            elif self._seen is not None and self._seen[0] not in ("", self._candidate.identity):
                raise LeadershipLostError(f"{self._seen[0]} leads now")
            elif self._clock() - renewed >= self._candidate.renew_within:
                raise LeadershipLostError(f"the lease was not renewed within {self._candidate.renew_within:.0f} s")

    async def _tried(self) -> bool:
        """Take or renew the lease; whether it is ours now."""
        try:
            lease = await self._read()
            if lease is None:
                body = self._lease({}, taken=True)
                self._note((await self._client.request("POST", self._candidate.collection, body=body)).json())
                return True
            self._note(lease)
            holder = (lease.get("spec") or {}).get("holderIdentity") or ""
            ours = holder == self._candidate.identity
            if not ours and holder not in ("", self._candidate.succeeds) and not self._has_ended(lease):
                return False
            body = self._lease(lease, taken=not ours)
            self._note((await self._client.request("PUT", self._candidate.path, body=body)).json())
            return True
        except (ApiError, UnreachableError) as error:
            if not (isinstance(error, ApiError) and error.code == _CONFLICT):
                _LOGGER.warning("lease %s: %s", self._candidate.name, error)
            return False

    async def _read(self) -> dict[str, Any] | None:
        try:
            lease: dict[str, Any] = (await self._client.request("GET", self._candidate.path)).json()
            return lease
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise

    def _note(self, lease: dict[str, Any]) -> None:
        holder = (lease.get("spec") or {}).get("holderIdentity") or ""
        seen = (holder, lease["metadata"].get("resourceVersion", ""))
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._clock()

    def _has_ended(self, lease: dict[str, Any]) -> bool:
        duration = (lease.get("spec") or {}).get("leaseDurationSeconds") or self._candidate.duration
        return self._clock() - self._seen_at > duration

    def _lease(self, present: dict[str, Any], *, taken: bool) -> dict[str, Any]:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = dict(present.get("spec") or {})
        spec |= {
            "holderIdentity": self._candidate.identity,
            "leaseDurationSeconds": max(int(self._candidate.duration), 1),
            "renewTime": now,
        }
        if taken:
            spec["acquireTime"] = now
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + (1 if present else 0)
        metadata = present.get("metadata") or {"name": self._candidate.name, "namespace": self._candidate.namespace}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}

    async def _release(self) -> None:
        """Let the next one start at once. If that does not work, it waits for the lease's end."""
        try:
            async with asyncio.timeout(1):
                lease = await self._read()
                if lease is None or (lease.get("spec") or {}).get("holderIdentity") != self._candidate.identity:
                    return
                lease["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1}
                await self._client.request("PUT", self._candidate.path, body=lease)
        except (ApiError, UnreachableError, TimeoutError) as error:
            _LOGGER.info("lease %s was not released: %s", self._candidate.name, error)
