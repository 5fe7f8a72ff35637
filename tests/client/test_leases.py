"""Leader election: one leads at a time, and who cannot renew stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.client import Candidate, Client, Connection, Election, LeadershipLostError
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def hub() -> Iterator[RunningHub]:
    with running_hub() as running:
        yield running


def a_client(hub: RunningHub) -> Client:
    return Client(Connection(hub.url, "default", {"Authorization": f"Bearer {hub.token}"}))


def a_candidate(name: str, identity: str, succeeds: str = "") -> Candidate:
    return Candidate(name, identity, "default", succeeds, duration=1.0, renew_within=0.6, retry=0.1)


async def forever() -> None:
    await asyncio.Event().wait()


async def until_leading(election: Election) -> None:
    async with asyncio.timeout(10):
        while not election.leading:  # noqa: ASYNC110 - asked, not told
            await asyncio.sleep(0.01)


def test_the_second_leads_when_the_first_has_ended(hub: RunningHub) -> None:
    async def story() -> tuple[bool, bool]:
        async with a_client(hub) as client:
            first, second = (Election(client, a_candidate("handover", each)) for each in ("a", "b"))
            one, two = asyncio.create_task(first.lead(forever)), None
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
            assert await dead._tried()
            heir = Election(client, a_candidate("silent", "heir"))
            task = asyncio.create_task(heir.lead(forever))
            await asyncio.sleep(0.5)
            assert not heir.leading
            await until_leading(heir)
            lease = (await client.request("GET", heir._candidate.path)).json()["spec"]
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return lease["holderIdentity"], lease["leaseTransitions"]

    assert asyncio.run(story()) == ("heir", 1)


def test_a_known_dead_holder_is_not_waited_for(hub: RunningHub) -> None:
    async def story() -> bool:
        async with a_client(hub) as client:
            assert await Election(client, a_candidate("succession", "n1"))._tried()
            return await Election(client, a_candidate("succession", "n2", succeeds="n1"))._tried()

    assert asyncio.run(story())


def test_who_loses_the_lease_stops_working(hub: RunningHub) -> None:
    stopped: list[str] = []

    async def work() -> None:
        try:
            await forever()
        finally:
            stopped.append("stopped")

    async def story() -> None:
        async with a_client(hub) as client:
            election = Election(client, a_candidate("lost", "mine"))
            task = asyncio.create_task(election.lead(work))
            await until_leading(election)
            await asyncio.sleep(0.2)
            lease = (await client.request("GET", election._candidate.path)).json()
            lease["spec"]["holderIdentity"] = "usurper"
            del lease["metadata"]["resourceVersion"]
            lease["metadata"].pop("managedFields", None)
            body = {"spec": lease["spec"]}
            await client.request(
                "PATCH", election._candidate.path, body=body, content_type="application/merge-patch+json"
            )
            await task

    with pytest.raises(LeadershipLostError, match="usurper leads now"):
        asyncio.run(story())
    assert stopped == ["stopped"]
