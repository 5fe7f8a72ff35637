"""Leader election: one leads at a time, a leader that cannot renew writes nothing, and only who is replaced stops."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from muster.client import Candidate, Client, Connection, Election, Leadership, LeadershipLostError
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def hub() -> Iterator[RunningHub]:
    with running_hub() as running:
        yield running


def a_connection(hub: RunningHub) -> Connection:
    return Connection(hub.url, "default", {"Authorization": f"Bearer {hub.token}"})


def a_client(hub: RunningHub) -> Client:
    return Client(a_connection(hub))


def a_candidate(name: str, identity: str, succeeds: str = "") -> Candidate:
    return Candidate(name, identity, "default", succeeds, duration=1.0, renew_within=0.6, retry=0.1)


async def forever() -> None:
    await asyncio.Event().wait()


async def until_leading(leadership: Leadership) -> None:
    async with asyncio.timeout(20):
        while not leadership.leading:  # noqa: ASYNC110 - asked, not told
            await asyncio.sleep(0.01)


def test_the_second_leads_when_the_first_has_ended(hub: RunningHub) -> None:
    async def story() -> tuple[bool, bool]:
        first, second = (Leadership(a_connection(hub), a_candidate("handover", each)) for each in ("a", "b"))
        one = asyncio.create_task(first.lead(forever))
        await until_leading(first)
        two = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(1.5)  # longer than the lease lasts without being renewed
        before = second.leading
        one.cancel()
        await until_leading(second)
        two.cancel()
        await asyncio.gather(one, two, return_exceptions=True)
        return before, first.leading

    assert asyncio.run(story()) == (False, False)


def test_a_lease_whose_holder_is_silent_is_taken_over(hub: RunningHub) -> None:
    async def story() -> Any:
        async with a_client(hub) as client:
            dead = Election(client, a_candidate("silent", "dead"))
            assert await dead.tried()
            heir = Leadership(a_connection(hub), a_candidate("silent", "heir"))
            task = asyncio.create_task(heir.lead(forever))
            await asyncio.sleep(0.5)
            assert not heir.leading
            await until_leading(heir)
            lease = (await client.request("GET", a_candidate("silent", "").path)).json()["spec"]
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return lease["holderIdentity"], lease["leaseTransitions"]

    assert asyncio.run(story()) == ("heir", 1)


def test_a_known_dead_holder_is_not_waited_for(hub: RunningHub) -> None:
    async def story() -> bool:
        async with a_client(hub) as client:
            assert await Election(client, a_candidate("succession", "n1")).tried()
            return await Election(client, a_candidate("succession", "n2", succeeds="n1")).tried()

    assert asyncio.run(story())


def test_who_loses_the_lease_stops_working_and_writing(hub: RunningHub) -> None:
    stopped: list[str] = []

    async def work() -> None:
        try:
            await forever()
        finally:
            stopped.append("stopped")

    leadership = Leadership(a_connection(hub), a_candidate("lost", "mine"))

    async def story() -> None:
        async with a_client(hub) as client:
            task = asyncio.create_task(leadership.lead(work))
            await until_leading(leadership)
            body = {"spec": {"holderIdentity": "usurper"}}
            path = a_candidate("lost", "").path
            await client.request("PATCH", path, body=body, content_type="application/merge-patch+json")
            await task

    with pytest.raises(LeadershipLostError, match="usurper leads now"):
        asyncio.run(story())
    assert stopped == ["stopped"]
    with pytest.raises(LeadershipLostError):
        leadership.fence.check()


def test_a_lease_that_is_only_annotated_is_not_lost(hub: RunningHub) -> None:
    async def story() -> bool:
        async with a_client(hub) as client:
            leadership = Leadership(a_connection(hub), a_candidate("annotated", "mine"))
            task = asyncio.create_task(leadership.lead(forever))
            await until_leading(leadership)
            body = {"metadata": {"annotations": {"note": "x"}}}
            path = a_candidate("annotated", "").path
            await client.request("PATCH", path, body=body, content_type="application/merge-patch+json")
            await asyncio.sleep(1)
            leads = leadership.leading and not task.done()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return leads

    assert asyncio.run(story())


def test_a_loop_that_is_busy_does_not_lose_the_lease(hub: RunningHub) -> None:
    async def story() -> bool:
        first, second = (Leadership(a_connection(hub), a_candidate("busy", each)) for each in ("a", "b"))
        one = asyncio.create_task(first.lead(forever))
        await until_leading(first)
        two = asyncio.create_task(second.lead(forever))
        await asyncio.sleep(0.2)
        until = time.monotonic() + 3
        while time.monotonic() < until:
            pass  # an evaluation that takes three lease durations
        await asyncio.sleep(0.2)
        leads = first.leading and not one.done() and not second.leading
        for task in (one, two):
            task.cancel()
        await asyncio.gather(one, two, return_exceptions=True)
        return leads

    assert asyncio.run(story())


class StalledClient:
    """A server that answers only when it is told to."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.answers = asyncio.Event()
        self.answers.set()

    async def request(self, *args: Any, **kwargs: Any) -> Any:
        await self.answers.wait()
        return await self._client.request(*args, **kwargs)


def test_a_server_that_stalls_closes_the_fence_and_loses_no_lease(hub: RunningHub) -> None:
    async def story() -> tuple[bool, bool, bool]:
        async with a_client(hub) as client:
            stalled = StalledClient(client)
            leader = Election(stalled, a_candidate("stalled", "a"))  # type: ignore[arg-type]
            standby = Election(stalled, a_candidate("stalled", "b"))  # type: ignore[arg-type]
            await leader.win()
            keeping, waiting = asyncio.create_task(leader.keep()), asyncio.create_task(standby.win())
            await asyncio.sleep(0.5)
            stalled.answers.clear()
            await asyncio.sleep(1.5)  # longer than the lease
            closed = is_closed(leader)
            stalled.answers.set()
            async with asyncio.timeout(20):
                while is_closed(leader):  # noqa: ASYNC110 - asked, not told
                    await asyncio.sleep(0.01)
            found = closed, keeping.done(), waiting.done()
            for task in (keeping, waiting):
                task.cancel()
            await asyncio.gather(keeping, waiting, return_exceptions=True)
            return found

    assert asyncio.run(story()) == (True, False, False)


def is_closed(election: Election) -> bool:
    try:
        election.fence.check()
    except LeadershipLostError:
        return True
    return False
