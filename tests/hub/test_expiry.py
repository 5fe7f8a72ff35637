"""Events live as long as their setting says after their last write, and go as ordinary deletes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.expiry import EventExpiry, last_written
from muster.hub.limits import ObjectLimits
from muster.hub.namespaces import HubCleaner
from muster.hub.objects import encode
from tests.hub.a_hub import Hub, a_hub, config_map, namespace, story

HOUR = 3600.0


def event(name: str = "e1", namespace: str = "default", **fields: Any) -> dict[str, Any]:
    about = {"kind": "ConfigMap", "name": "m1", "namespace": namespace}
    metadata = {"name": name, "namespace": namespace, **fields.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about, **fields}


def expiry(hub: Hub, seconds: float = HOUR) -> EventExpiry:
    cleaner = HubCleaner(hub.store, (), lambda: "")
    return EventExpiry(hub.store, cleaner, seconds, lambda: hub.now)


@story
async def test_an_event_lives_an_hour_after_its_last_write() -> None:
    async with a_hub() as hub:
        await hub.create(event("old"))
        await hub.create(event("seen again"[:4]))
        await hub.create(config_map())
        hub.later(HOUR - 60)
        await hub.patch(hub.target("events", "seen"), {"count": 2})
        assert await expiry(hub).sweep() == 0
        hub.later(60)
        assert await expiry(hub).sweep() == 1
        assert await hub.names("events") == ["seen"]
        hub.later(HOUR - 60)
        assert await expiry(hub).sweep() == 1
        assert (await hub.names("events"), await hub.names("configmaps")) == ([], ["m1"])


@story
async def test_watchers_see_an_ordinary_delete() -> None:
    async with a_hub() as hub:
        created = await hub.create(event())
        async with hub.watching("events", resource_version=created["metadata"]["resourceVersion"]) as watcher:
            hub.later(HOUR)
            await expiry(hub).sweep()
            kind, deleted = await watcher.next()
        assert (kind, deleted["metadata"]["name"]) == ("DELETED", "e1")
        assert int(deleted["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


@story
async def test_thousands_of_old_events_go_in_small_transactions_between_which_others_write() -> None:
    async with a_hub() as hub:
        await asyncio.gather(*(hub.create(event(f"e{number}")) for number in range(1000)))
        hub.later(HOUR)
        commits: list[int] = []
        commit = hub.store.commit

        async def counted(changes: Any, guards: Any = (), **named: Any) -> Any:
            commits.append(len(changes))
            return await commit(changes, guards, **named)

        hub.store.commit = counted  # type: ignore[method-assign]
        sweeping = asyncio.create_task(expiry(hub).sweep())
        written = 0
        while not sweeping.done():
            await hub.create(config_map(f"m{written}"))
            written += 1
        assert await sweeping == 1000
        assert max(commits) <= 50
        assert written > 5
        assert hub.store.count("events") == 0


@story
async def test_an_event_that_is_written_while_it_expires_stays() -> None:
    async with a_hub() as hub:
        await hub.create(event("a"))
        await hub.create(event("b"))
        hub.later(HOUR)
        commit = hub.store.commit

        async def late(changes: Any, guards: Any = (), **named: Any) -> Any:
            hub.store.commit = commit  # type: ignore[method-assign]
            await hub.patch(hub.target("events", "a"), {"count": 2})
            return await commit(changes, guards, **named)

        hub.store.commit = late  # type: ignore[method-assign]
        assert await expiry(hub).sweep() == 1
        assert await hub.names("events") == ["a"]


@story
async def test_a_hub_deletes_old_events_by_itself_from_its_start_on() -> None:
    async with a_hub() as hub:
        await hub.create(event())
        hub.later(11)
        api = Api(
            hub.store, AdministratorsOnlyAuthorizer(), clock=lambda: hub.now, limits=ObjectLimits(events_seconds=10)
        )
        await api.start()
        async with asyncio.timeout(10):
            while hub.store.count("events"):  # noqa: ASYNC110 - it happens behind everybody's back
                await asyncio.sleep(0.01)
        await api.close()


@story
async def test_zero_keeps_events_for_ever() -> None:
    async with a_hub() as hub:
        await hub.create(event())
        hub.later(1e6)
        api = Api(
            hub.store, AdministratorsOnlyAuthorizer(), clock=lambda: hub.now, limits=ObjectLimits(events_seconds=0)
        )
        await api.start()
        await asyncio.sleep(0.05)
        await api.close()
        assert hub.store.count("events") == 1


@story
async def test_the_last_event_of_a_namespace_lets_it_go() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("n1"))
        await hub.create(event(namespace="n1", metadata={"finalizers": ["example.com/wait"]}))
        await hub.delete("namespaces", "n1")
        hub.later(2 * HOUR)
        async with asyncio.timeout(10):
            await hub.api._expiry.sweep()
            while "n1" in await hub.names("namespaces"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("metadata", "written"),
    [
        ({"creationTimestamp": "2026-01-01T00:00:00Z"}, "2026-01-01T00:00:00Z"),
        (
            {"creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{"time": "2026-01-02T00:00:00Z"}, {}]},
            "2026-01-02T00:00:00Z",
        ),
        # Managed fields may come from a writer: what is yet to come keeps nothing alive.
        (
            {"creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{"time": "2099-01-02T00:00:00Z"}]},
            "2026-01-01T00:00:00Z",
        ),
        ({"managedFields": None}, ""),
        ({"creationTimestamp": 5}, "now: cannot be read"),
        ({"managedFields": [None]}, "now: cannot be read"),
    ],
)
def test_when_an_object_was_written_last(metadata: dict[str, Any], written: str) -> None:
    now = "2026-06-01T00:00:00Z"
    assert last_written(encode({"metadata": metadata}), now) == (now if written.startswith("now") else written)
