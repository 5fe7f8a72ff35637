"""Leader election by a Lease: of all that try, one leads at a time, and whoever leads knows when it no longer does.

Clocks of other machines are not trusted: a lease has ended when it has not changed for its duration by our own clock,
while the server answered all the time. A server that has not answered for a while has not let the leader renew either.

Renewal runs in a thread with a loop and a connection of its own (`lead`), so that it shares them with no evaluation. A
leader that cannot renew keeps the lease and writes nothing: the fence is closed until it can. Only when somebody else
has the lease is it lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from muster.api.lease import Lease, LeaseSpec
from muster.api.reading import Reader
from muster.client.client import Client
from muster.client.errors import UnreachableError
from muster.client.fence import Fence, LeadershipLostError, straight_clock
from muster.client.loop_errors import quiet_transports
from muster.errors import ApiError
from muster.values.api_paths import collection_path, object_path
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from muster.client.kubeconfig import Connection
    from muster.client.replies import Reply

T = TypeVar("T")
_LOGGER = logging.getLogger(__name__)
_READER: Final = Reader(Lease)
_LEASES: Final = ("coordination.k8s.io", "v1", "leases")
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_CHANCES: Final = 4  # durations for which a holder is waited for at most, however seldom the server answers
_SOON: Final = 0.05  # seconds after the end of a lease at which it is looked at


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who wants to lead, by which lease, in seconds.

    `succeeds` is a holder that is known to be gone, such as the process that a supervisor has seen die: its lease is
    taken over without waiting for its end. `renew_within` is how long after a renewal the leader still writes.
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


@dataclass(frozen=True, slots=True)
class _StoredLease:
    """A lease as the server has it. Its metadata are written back as they are: others may have annotated it."""

    spec: LeaseSpec = field(default_factory=LeaseSpec)
    revision: str = ""
    metadata: JsonObject = field(default_factory=dict)

    @classmethod
    def of(cls, reply: Reply) -> _StoredLease:
        plain: JsonObject = reply.json()
        lease = _READER.partly(plain).obj
        return cls(lease.spec, lease.metadata.resource_version, plain["metadata"])

    @property
    def holder(self) -> str:
        return self.spec.holder_identity or ""

    def body(self, spec: LeaseSpec, new: JsonMapping | None = None) -> JsonObject:
        """The lease with another spec, as it is written; `new` are the metadata of one that is not there yet."""
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": self.metadata or dict(new or {}),
            "spec": msgspec.to_builtins(spec),
        }


class Election:
    """One candidacy on one loop: `win`, then `keep` until it raises, then `release`."""

    def __init__(
        self,
        client: Client,
        candidate: Candidate,
        fence: Fence | None = None,
        clock: Callable[[], float] = straight_clock,
    ) -> None:
        self.fence = fence or Fence()
        self._client = client
        self._candidate = candidate
        self._clock = clock
        self._known: tuple[str, str] | None = None  # holder and revision
        self._known_at = 0.0
        self._since = 0.0  # when that was seen for the first time
        self._asked_at = 0.0  # when the server last told
        self._ends_at = 0.0
        self._held = _StoredLease()  # as we wrote it last

    @property
    def leader(self) -> str:
        """Who has the lease, as far as we know."""
        return self._known[0] if self._known is not None else ""

    async def win(self) -> None:
        """Wait until the lease is ours."""
        while not await self.tried():  # noqa: ASYNC110 - what is waited for happens on another machine
            await asyncio.sleep(self._pause())

    async def keep(self) -> None:
        """Renew for ever. Raises LeadershipLostError when somebody else has the lease."""
        while True:
            await asyncio.sleep(self._candidate.retry)
            await self._renew()

    async def tried(self) -> bool:
        """Take the lease if it is free; whether it is ours now."""
        started = self.fence.now()
        try:
            lease = await self._read()
            if lease is None:
                body = self._lease(_StoredLease(), taken=True)
                self._hold(await self._client.request("POST", self._candidate.collection, body=body), started)
                return True
            self._note(lease)
            holder = lease.holder
            known_gone = holder in ("", self._candidate.identity, self._candidate.succeeds)
            if not known_gone and not self._has_ended(lease):
                return False
            body = self._lease(lease, taken=holder != self._candidate.identity)
            self._hold(await self._client.request("PUT", self._candidate.path, body=body), started)
        except (ApiError, UnreachableError) as error:
            self._complain(error)
            return False
        return True

    async def _renew(self) -> None:
        started = self.fence.now()
        try:
            async with asyncio.timeout(self._candidate.duration):
                try:
                    body = self._lease(self._held, taken=False)
                    self._hold(await self._client.request("PUT", self._candidate.path, body=body), started)
                except ApiError as error:
                    if error.code not in (_CONFLICT, _NOT_FOUND):
                        raise
                    await self._look_who_holds_it()
        except (ApiError, UnreachableError, TimeoutError) as error:
            self._complain(error)

    async def _look_who_holds_it(self) -> None:
        """Our renewal came second, or the lease is gone. Raises LeadershipLostError unless it is still ours."""
        lease = await self._read()
        if lease is None:
            self.fence.close()
            raise LeadershipLostError("the lease was deleted")
        same_term = lease.spec.lease_transitions == self._held.spec.lease_transitions
        if lease.holder != self._candidate.identity or not same_term:
            self.fence.close()
            raise LeadershipLostError(f"{lease.holder} leads now" if lease.holder else "the lease was given to nobody")
        self._held = lease  # somebody has only annotated it

    def _complain(self, error: Exception) -> None:
        if not (isinstance(error, ApiError) and error.code == _CONFLICT):
            _LOGGER.info("lease %s: %s", self._candidate.name, str(error) or "no answer in time")

    async def _read(self) -> _StoredLease | None:
        try:
            return _StoredLease.of(await self._client.request("GET", self._candidate.path))
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise

    def _hold(self, reply: Reply, started: tuple[float, float]) -> None:
        self._held = _StoredLease.of(reply)
        self._note(self._held)
        self.fence.open(started, self._candidate.renew_within)

    def _note(self, lease: _StoredLease) -> None:
        now = self._clock()
        known = (lease.holder, lease.revision)
        # After a silence of the server nobody could have renewed: the holder gets another chance, but not for ever.
        silent = now - self._asked_at > 3 * self._candidate.retry
        if known != self._known:
            self._known, self._known_at, self._since = known, now, now
        elif silent and now - self._since < _CHANCES * self._candidate.duration:
            self._known_at = now
        self._asked_at = now

    def _duration(self, lease: _StoredLease) -> float:
        stated = lease.spec.lease_duration_seconds
        # A number that no leader of ours has written must not keep everybody out for ever.
        return float(stated) if stated is not None and 0 < stated <= 3600 else self._candidate.duration

    def _has_ended(self, lease: _StoredLease) -> bool:
        self._ends_at = self._known_at + self._duration(lease)
        return self._clock() > self._ends_at

    def _pause(self) -> float:
        """Until the next look: a lease that is about to end is looked at when it does."""
        left = self._ends_at - self._clock() + _SOON
        return min(self._candidate.retry, left) if left > 0 else self._candidate.retry

    def _lease(self, present: _StoredLease, *, taken: bool) -> JsonObject:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = msgspec.structs.replace(
            present.spec,
            holder_identity=self._candidate.identity,
            lease_duration_seconds=max(int(self._candidate.duration), 1),
            renew_time=now,
        )
        if taken:
            terms = (spec.lease_transitions or 0) + (1 if present.metadata else 0)
            spec = msgspec.structs.replace(spec, acquire_time=now, lease_transitions=terms)
        return present.body(spec, {"name": self._candidate.name, "namespace": self._candidate.namespace})

    async def release(self) -> None:
        """Let the next one start at once. If that does not work, it waits for the lease's end."""
        self.fence.close()
        try:
            async with asyncio.timeout(1):
                lease = await self._read()
                if lease is None or lease.holder != self._candidate.identity:
                    return
                freed = msgspec.structs.replace(lease.spec, holder_identity="", lease_duration_seconds=1)
                await self._client.request("PUT", self._candidate.path, body=lease.body(freed))
        except (ApiError, UnreachableError, TimeoutError) as error:
            _LOGGER.info("lease %s was not released: %s", self._candidate.name, error)


class Leadership:
    """A candidacy in a thread of its own. `lead` waits for the lease and works while nobody else has it."""

    def __init__(self, connection: Connection, candidate: Candidate) -> None:
        self.fence = Fence()
        self.leading = False
        self._candidate = candidate
        renewal = connection.renewal
        self._connection = connection if renewal is None else replace(connection, renewal=renewal.twin())
        self._election: Election | None = None

    @property
    def leader(self) -> str:
        """Who has the lease, as far as we know."""
        return self._election.leader if self._election is not None else ""

    async def lead(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Work as the leader. Raises LeadershipLostError when the lease is lost; the work has ended then."""
        loop = asyncio.get_running_loop()
        won: asyncio.Future[None] = loop.create_future()
        lost: asyncio.Future[str] = loop.create_future()
        thread = _LeaseThread(self, loop, won, lost)
        thread.start()
        working: asyncio.Task[None] | None = None
        try:
            await asyncio.wait(_futures(won, lost), return_when=asyncio.FIRST_COMPLETED)
            if not lost.done():
                self.leading = True
                working = asyncio.create_task(work())
                await asyncio.wait(_futures(working, lost), return_when=asyncio.FIRST_COMPLETED)
            if working is not None and working.done():
                await working
            else:
                raise LeadershipLostError(lost.result())
        finally:
            # From here on nothing is written, so the lease may be given back while the work is still ending. Nothing is
            # awaited before that: who is cancelled twice must not leave a thread that renews for nobody.
            self.leading = False
            self.fence.close()
            thread.stop()
            if working is not None:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
            await asyncio.to_thread(thread.join)

    async def run(self, won: Callable[[], None]) -> str:
        """In the thread. Why the lease was lost."""
        async with Client(self._connection) as client:
            self._election = election = Election(client, self._candidate, self.fence)
            try:
                await election.win()
                won()
                await election.keep()
            except LeadershipLostError as error:
                return str(error)
            finally:
                await asyncio.shield(election.release())
        return ""


def _futures(*waited: asyncio.Future[Any]) -> set[asyncio.Future[Any]]:
    return set(waited)


class _LeaseThread:
    """The thread, and how the two loops tell each other."""

    def __init__(
        self,
        leadership: Leadership,
        loop: asyncio.AbstractEventLoop,
        won: asyncio.Future[None],
        lost: asyncio.Future[str],
    ) -> None:
        self._leadership = leadership
        self._loop = loop
        self._won = won
        self._lost = lost
        self._own: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[str] | None = None
        self._is_wanted = True
        self._lock = threading.Lock()
        # A daemon: a process that ends in a hurry does not wait for the server to take the lease back.
        self._thread = threading.Thread(target=self._main, name="lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Have it end and give the lease back; it returns at once."""
        with self._lock:
            self._is_wanted = False
            own, task = self._own, self._task
        if own is not None and task is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended by itself
                own.call_soon_threadsafe(task.cancel)

    def join(self) -> None:
        self._thread.join(5)

    def _main(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        asyncio.get_running_loop().set_exception_handler(quiet_transports)
        with self._lock:
            if not self._is_wanted:
                return
            self._own = asyncio.get_running_loop()
            self._task = asyncio.create_task(self._leadership.run(lambda: self._tell(self._won, None)))
        try:
            reason = await self._task
        except asyncio.CancelledError:
            reason = "it was given back"
        except Exception as error:
            # A bug of ours, or a connection that cannot be made at all: it must not look like leading on.
            _LOGGER.exception("the lease %s cannot be kept", self._leadership._candidate.name)  # noqa: SLF001 - ours
            reason = f"it cannot be kept: {error!r}"
        self._tell(self._lost, reason)

    def _tell(self, future: asyncio.Future[T], value: T) -> None:
        def settle() -> None:
            if not future.done():
                future.set_result(value)

        try:
            self._loop.call_soon_threadsafe(settle)
        except RuntimeError:
            return  # the other loop is closed: nobody listens any more
