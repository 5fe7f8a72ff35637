"""What the machinery bounds: objects of a kind, pages, selectors; each refusal names its setting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.limits import ObjectLimits
from muster.hub.requests import DeleteOptions, ListOptions, WatchOptions
from muster.hub.status import StatusError
from tests.hub.a_hub import ADMIN, CLUSTERS, Hub, a_hub, cluster, complaint, names_in, story


def bounded(hub: Hub, **limits: int) -> None:
    hub.api = Api(hub.store, AdministratorsOnlyAuthorizer(), clock=lambda: hub.now, limits=ObjectLimits(**limits))


@story
async def test_many_creates_at_once_do_not_slip_in_together() -> None:
    async with a_hub() as hub:
        bounded(hub, objects_per_kind=5)
        outcomes = await asyncio.gather(*(hub.create(cluster(f"c{n}")) for n in range(20)), return_exceptions=True)
        refused = [each for each in outcomes if isinstance(each, StatusError)]
        assert (len(refused), hub.store.count(CLUSTERS)) == (15, 5)
        assert {each.code for each in refused} == {403}
        await hub.delete(CLUSTERS, await first(hub))
        await hub.create(cluster("again"))


async def first(hub: Hub) -> str:
    return (await hub.names(CLUSTERS))[0]


@story
async def test_a_page_is_no_longer_than_the_setting_says() -> None:
    async with a_hub() as hub:
        for number in range(5):
            await hub.create(cluster(f"c{number}"))
        bounded(hub, list_page=2)
        answer = await hub.list(CLUSTERS)
        assert (names_in(answer), answer.remaining) == (["c0", "c1"], 3)
        answer = await hub.list(CLUSTERS, limit=500, continue_token=answer.continue_token)
        assert (names_in(answer), answer.remaining) == (["c2", "c3"], 1)
        assert names_in(await hub.list(CLUSTERS, limit=1)) == ["c0"]


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (
            {"label_selector": "a" * 16_385},
            "the labelSelector has 16385 bytes, more than 16384 (setting selectorBytes, option --selector-bytes)",
        ),
        (
            {"label_selector": ",".join(f"!a{n}" for n in range(101))},
            "the labelSelector has 101 requirements, more than 100 "
            "(setting selectorRequirements, option --selector-requirements)",
        ),
        (
            {"label_selector": f"a in ({','.join('v' for _ in range(2000))})"},
            "the labelSelector has 1999 values, more than 1000 (setting selectorValues, option --selector-values)",
        ),
        (
            {"field_selector": ",".join("metadata.name!=x" for _ in range(200))},
            "the fieldSelector has 200 requirements, more than 100 "
            "(setting selectorRequirements, option --selector-requirements)",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["list", "watch", "deletecollection"])
@story
async def test_a_selector_that_is_too_large_is_refused_unread(
    verb: str, selector: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_hub() as hub:
        for module in ("api", "lists", "watches"):
            monkeypatch.setattr(f"muster.hub.{module}.selection", lambda *_: pytest.fail("it was read"))
        target = hub.target(CLUSTERS)
        calls: dict[str, Any] = {
            "list": lambda: hub.api.list(ADMIN, target, ListOptions(**selector)),
            "watch": lambda: hub.api.watch(ADMIN, target, WatchOptions(**selector)),
            "deletecollection": lambda: hub.api.delete_collection(
                ADMIN, target, ListOptions(**selector), DeleteOptions()
            ),
        }
        assert await complaint(calls[verb]()) == (400, "BadRequest", text)


@story
async def test_larger_selectors_are_a_setting() -> None:
    async with a_hub() as hub:
        bounded(hub, selector_requirements=300, selector_values=3000, selector_bytes=100_000)
        await hub.create(cluster("a", {"x": "1"}))
        assert await hub.names(CLUSTERS, label_selector=",".join(f"!a{n}" for n in range(300))) == ["a"]
        assert await hub.names(CLUSTERS, label_selector=f"x in ({','.join(map(str, range(3000)))})") == ["a"]
