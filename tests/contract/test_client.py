"""What the client promises, whichever server answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from muster.client import Client, ServedResource, UnreachableError
from muster.client.reflector import Gathered, Reflector
from muster.errors import ApiError
from tests.builders import a_cluster

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tests.contract.conftest import Home

pytestmark = pytest.mark.e2e
MERGE = "application/merge-patch+json"
PATIENCE = 15


@contextlib.asynccontextmanager
async def clusters(home: Home, client: Client, count: int) -> AsyncIterator[tuple[ServedResource, list[str]]]:
    """Some clusters, gone afterwards."""
    resource = (await client.discover()).named("managedclusters")
    names = [f"{home.prefix}-{number}" for number in range(count)]
    for name in names:
        await client.request("POST", resource.path(), body=a_cluster(name, {"contract": home.prefix}))
    try:
        yield resource, names
    finally:
        for name in names:
            with contextlib.suppress(ApiError):
                await client.request("DELETE", resource.object_path("", name))


class Seen:
    """A handler that remembers."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.lists = 0

    def listing(self, revision: str) -> Gathered:
        assert revision
        return Gathered(self.replace)

    def replace(self, objects: Sequence[bytes], revision: str) -> None:
        assert revision
        self.lists += 1
        self.objects = {obj["metadata"]["name"]: obj for obj in map(json.loads, objects)}

    def put(self, encoded: bytes) -> None:
        obj = json.loads(encoded)
        self.objects[obj["metadata"]["name"]] = obj

    def remove(self, encoded: bytes) -> None:
        self.objects.pop(json.loads(encoded)["metadata"]["name"], None)

    async def until(self, question: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not question(self.objects):  # noqa: ASYNC110 - asked, not told
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def reflected(client: Client, resource: ServedResource) -> AsyncIterator[Seen]:
    seen = Seen()
    reflector = Reflector(client, resource, seen)
    task = asyncio.create_task(reflector.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await reflector.synced.wait()
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def test_pages_together_are_the_list(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.client.client._PAGE", 3)

    async def story() -> None:
        async with home.client() as client, clusters(home, client, 8) as (resource, names):
            selected = {"labelSelector": f"contract={home.prefix}"}
            pages = [page async for page in client.pages(resource.path(), params=selected)]
            assert len(pages) >= 3
            assert [each["metadata"]["name"] for page in pages for each in page["items"]] == names

    asyncio.run(story())


def test_refusals_say_what_they_are(home: Home) -> None:
    async def refused(client: Client, *args: Any, **kwargs: Any) -> tuple[int, str]:
        with pytest.raises(ApiError) as raised:
            await client.request(*args, **kwargs)
        return raised.value.code, raised.value.reason

    async def story() -> None:
        async with home.client() as client, clusters(home, client, 1) as (resource, (name,)):
            path = resource.object_path("", name)
            stale = {"metadata": {"resourceVersion": "1", "labels": {"x": "y"}}}
            assert await refused(client, "GET", f"{path}-missing") == (404, "NotFound")
            assert await refused(client, "POST", resource.path(), body=a_cluster(name)) == (409, "AlreadyExists")
            assert await refused(client, "PATCH", path, body=stale, content_type=MERGE) == (409, "Conflict")
            wrong = {"spec": {"hubAcceptsClient": "perhaps"}}
            assert await refused(client, "PATCH", path, body=wrong, content_type=MERGE) == (422, "Invalid")

    asyncio.run(story())


def test_nobody_there_is_told_apart_from_a_refusal(home: Home) -> None:
    async def story() -> None:
        async with Client(replace(home.connection, server="http://127.0.0.1:1")) as client:
            with pytest.raises(UnreachableError):
                await client.request("GET", "/version")

    asyncio.run(story())


def test_apply_owns_what_it_sets_and_takes_back_what_it_drops(home: Home) -> None:
    async def story() -> None:
        async with home.client() as client, clusters(home, client, 1) as (resource, (name,)):
            obj: dict[str, Any] = {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name, "labels": {"mine": "1"}},
            }
            stored = (await client.apply(resource, obj, "", manager="contract")).json()
            assert stored["metadata"]["labels"]["mine"] == "1"
            obj["metadata"]["labels"] = {}
            stored = (await client.apply(resource, obj, "", manager="contract")).json()
            assert "mine" not in stored["metadata"]["labels"]

    asyncio.run(story())


def test_a_reflector_keeps_a_true_copy(home: Home) -> None:
    async def story() -> None:
        async with (
            home.client() as client,
            clusters(home, client, 3) as (resource, names),
            reflected(client, resource) as seen,
        ):
            assert set(names) <= seen.objects.keys()
            path = resource.object_path("", names[0])
            await client.request("PATCH", path, body={"metadata": {"labels": {"new": "1"}}}, content_type=MERGE)
            await client.request("DELETE", resource.object_path("", names[1]))
            await seen.until(lambda there: there[names[0]]["metadata"]["labels"].get("new") == "1")
            await seen.until(lambda there: names[1] not in there)
            assert seen.lists == 1

    asyncio.run(story())


def test_a_reflector_lists_again_when_history_is_gone(home: Home) -> None:
    if home.hub is None:
        pytest.skip("only our own server can be told to forget")
    hub = home.hub

    async def story() -> None:
        async with home.client() as client, clusters(home, client, 3) as (resource, names):
            seen = Seen()
            reflector = Reflector(client, resource, seen)
            task = asyncio.create_task(reflector.run())
            await seen.until(lambda there: set(names) <= there.keys())
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            # While nobody watches, a cluster goes and the server forgets that it did.
            await client.request("DELETE", resource.object_path("", names[2]))
            await client.request("POST", resource.path(), body=a_cluster(names[2] + "-after"))
            await asyncio.to_thread(hub.compact)
            task = asyncio.create_task(reflector.run())
            await seen.until(lambda there: names[2] not in there and names[2] + "-after" in there)
            assert seen.lists == 2
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await client.request("DELETE", resource.object_path("", names[2] + "-after"))

    asyncio.run(story())
