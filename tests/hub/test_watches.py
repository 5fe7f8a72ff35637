"""Watches: from now, from a revision, through selectors, with bookmarks; what is shared; how they end."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.hub import watches
from muster.hub.requests import WatchOptions
from muster.hub.storage import Key, Record
from tests.hub.a_hub import (
    ADMIN,
    CLUSTERS,
    GROUP,
    PLACEMENTS,
    SETS,
    Hub,
    a_hub,
    cluster,
    complaint,
    namespace,
    placement,
    refusal,
    story,
)
from tests.hub.test_creation import Refusing


@story
async def test_a_watch_from_nothing_begins_with_what_exists() -> None:
    async with a_hub() as hub:
        await hub.create(cluster("b"))
        await hub.create(cluster("a"))
        for options in ({}, {"resource_version": "0"}):
            async with hub.watching(CLUSTERS, **options) as watcher:
                assert await watcher.brief(2) == [("ADDED", "a"), ("ADDED", "b")]
        async with hub.watching(CLUSTERS) as watcher:
            await watcher.brief(2)
            await hub.patch(hub.target(CLUSTERS, "a"), {"metadata": {"labels": {"x": "1"}}})
            assert await watcher.next() == ("MODIFIED", await hub.get(CLUSTERS, "a"))


@story
async def test_a_watch_from_a_revision_replays_everything_after_it() -> None:
    async with a_hub() as hub:
        await hub.create(cluster("a"))
        then = str(hub.store.revision)
        await hub.create(cluster("b"))
        await hub.delete(CLUSTERS, "b")
        async with hub.watching(CLUSTERS, resource_version=then) as watcher:
            assert await watcher.brief(2) == [("ADDED", "b"), ("DELETED", "b")]
            await hub.create(cluster("c"))
            assert await watcher.brief(1) == [("ADDED", "c")]


@story
async def test_a_deleted_object_is_shown_as_it_was_last_with_the_revision_of_its_end() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster("a") | {"metadata": {"name": "a", "finalizers": ["a.b/c"]}})
        async with hub.watching(CLUSTERS, resource_version=str(hub.store.revision)) as watcher:
            await hub.delete(CLUSTERS, "a")
            kind, marked = await watcher.next()
            assert (kind, marked["metadata"]["generation"]) == ("MODIFIED", 2)
            await hub.patch(hub.target(CLUSTERS, "a"), {"metadata": {"finalizers": None}})
            kind, gone = await watcher.next()
            assert kind == "DELETED"
            assert gone["metadata"].pop("resourceVersion") == str(hub.store.revision)
            assert gone["metadata"] == {k: v for k, v in marked["metadata"].items() if k != "resourceVersion"}
            assert gone["spec"] == created["spec"]


@story
async def test_an_object_that_begins_to_match_is_added_and_one_that_stops_is_deleted() -> None:
    async with a_hub() as hub:
        await hub.create(cluster("a", labels={"g": "a", "z": "1"}))
        await hub.create(cluster("b", labels={"g": "b"}))
        before = await hub.get(CLUSTERS, "a")

        async def relabel(name: str, **labels: str | None) -> None:
            await hub.patch(hub.target(CLUSTERS, name), {"metadata": {"labels": labels}})

        async with hub.watching(CLUSTERS, label_selector="g=a") as watcher:
            assert await watcher.brief(1) == [("ADDED", "a")]
            await relabel("a", g="b")
            kind, last_seen = await watcher.next()
            assert kind == "DELETED"
            assert last_seen["metadata"].pop("resourceVersion") == str(hub.store.revision)
            del before["metadata"]["resourceVersion"]
            assert last_seen == before
            await relabel("a", q="1")
            await relabel("a", g="a")
            await relabel("a", q=None)
            await relabel("b", g="a")
            assert await watcher.brief(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b")]
            await hub.delete(CLUSTERS, "b")
            assert await watcher.brief(1) == [("DELETED", "b")]


@story
async def test_writes_that_change_nothing_are_not_seen() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster("a"))
        async with hub.watching(CLUSTERS, resource_version=created["metadata"]["resourceVersion"]) as watcher:
            await hub.update(created)
            await hub.create(cluster("b"))
            assert await watcher.brief(1) == [("ADDED", "b")]


@story
async def test_a_watch_of_a_namespace_or_a_name_sees_no_other() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("other"))
        async with (
            hub.watching(PLACEMENTS, "other") as of_namespace,
            hub.watching(PLACEMENTS, field_selector="metadata.name=b") as of_name,
        ):
            await hub.create(placement("a"))
            await hub.create(placement("a", "other"))
            await hub.create(placement("b"))
            assert await of_namespace.brief(1) == [("ADDED", "a")]
            assert await of_name.brief(1) == [("ADDED", "b")]


@story
async def test_initial_events_end_with_a_bookmark_that_says_so() -> None:
    async with a_hub() as hub:
        await hub.create(cluster("a"))
        revision = str(hub.store.revision)
        bookmark = {
            "kind": "ManagedCluster",
            "apiVersion": f"{GROUP}/v1",
            "metadata": {"resourceVersion": revision, "annotations": {"k8s.io/initial-events-end": "true"}},
        }
        for options in (
            {"send_initial_events": True, "resource_version_match": "NotOlderThan"},
            {"resource_version": "0"},
        ):
            async with hub.watching(CLUSTERS, bookmarks=True, **options) as watcher:
                assert await watcher.brief(1) == [("ADDED", "a")]
                assert await watcher.next() == ("BOOKMARK", bookmark)


@story
async def test_a_bookmark_comes_shortly_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "LAST_BOOKMARK_SECONDS", 0.1)
    async with a_hub() as hub:
        async with hub.watching(
            CLUSTERS, resource_version=str(hub.store.revision), bookmarks=True, timeout=0.2
        ) as watcher:
            # Something else happens in the store: the bookmark tells how far the watch has come.
            await hub.create(placement())
            events = await watcher.rest()
        assert [(kind, obj["metadata"]) for kind, obj in events] == [
            ("BOOKMARK", {"resourceVersion": str(hub.store.revision)})
        ]


@story
async def test_bookmarks_come_regularly_once_there_is_something_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watches, "BOOKMARK_SECONDS", 0.02)
    async with a_hub() as hub, hub.watching(CLUSTERS, resource_version="2", bookmarks=True) as watcher:
        await hub.create(placement())
        revision = str(hub.store.revision)
        found = [await watcher.next() for _ in range(3)]
        assert [(kind, obj["metadata"]) for kind, obj in found] == [("BOOKMARK", {"resourceVersion": revision})] * 3


@story
async def test_a_revision_that_is_gone_is_an_error_event_and_one_to_come_is_waited_for() -> None:
    async with a_hub() as hub:
        await hub.create(cluster("a"))
        await hub.store.compact(hub.store.revision)
        async with hub.watching(CLUSTERS, resource_version="1") as watcher:
            assert await watcher.rest() == [
                (
                    "ERROR",
                    {
                        "kind": "Status",
                        "apiVersion": "v1",
                        "metadata": {},
                        "status": "Failure",
                        "message": f"too old resource version: 1 ({hub.store.compacted})",
                        "reason": "Expired",
                        "code": 410,
                    },
                )
            ]
        async with hub.watching(CLUSTERS, resource_version=str(hub.store.revision + 1)) as watcher:
            await hub.create(cluster("b"))
            await hub.create(cluster("c"))
            assert await watcher.brief(1) == [("ADDED", "c")]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            {"resource_version": "abc"},
            500,
            'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
        ),
        (
            {"send_initial_events": True},
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"continue_token": "abc"},
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            {"label_selector": "=="},
            400,
            "found '==', expected: !, identifier, or 'end of string'",
        ),
    ],
)
@story
async def test_a_watch_that_cannot_be_is_refused(options: dict[str, Any], code: int, message: str) -> None:
    async with a_hub() as hub:
        error = await refusal(hub.api.watch(ADMIN, hub.target(CLUSTERS), WatchOptions(**options)))
        assert (error.code, error.message) == (code, message)


@story
async def test_watchers_of_the_same_version_share_the_encoded_event() -> None:
    async with a_hub() as hub:
        now = str(hub.store.revision)
        async with (
            hub.watching(CLUSTERS, resource_version=now) as one,
            hub.watching(CLUSTERS, resource_version=now) as other,
        ):
            created = await hub.create(cluster("a"))
            first, second = await one.event(), await other.event()
            assert first is second
            assert first.line is second.line
            assert msgspec.json.decode(first.line) == {"type": "ADDED", "object": created}
            assert first.line.endswith(b"\n")


@story
async def test_each_watcher_sees_the_version_it_asked_for() -> None:
    async with a_hub() as hub:
        spec = {"clusterSelector": {"selectorType": "LegacyClusterSetLabel"}}
        obj = {"apiVersion": f"{GROUP}/v1beta1", "kind": "ManagedClusterSet", "metadata": {"name": "s"}, "spec": spec}
        streams = [
            await hub.api.watch(ADMIN, hub.target(SETS, version=version), WatchOptions())
            for version in ("v1beta1", "v1beta2")
        ]
        await hub.create(obj)
        seen = []
        for stream in streams:
            batch = await anext(aiter(stream))
            seen.append(msgspec.json.decode(batch[0].object)["apiVersion"])
            stream.close()
        assert seen == [f"{GROUP}/v1beta1", f"{GROUP}/v1beta2"]


@story
async def test_closing_ends_the_stream() -> None:
    async with a_hub() as hub:
        stream = await hub.api.watch(ADMIN, hub.target(CLUSTERS), WatchOptions())
        reading = asyncio.create_task(_all(stream))
        await asyncio.sleep(0.01)
        stream.close()
        stream.close()
        assert await asyncio.wait_for(reading, 1) == []


async def _all(stream: Any) -> list[Any]:
    return [batch async for batch in stream]


@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["create", "delete", "in", "out"])), max_size=15),
    start=st.integers(0, 8),
    selector=st.sampled_from(["", "g=in", "g!=in"]),
)
def test_a_list_and_its_watch_make_the_list_of_later(steps: list[tuple[str, str]], start: int, selector: str) -> None:
    async def playing() -> None:
        async with a_hub() as hub:
            await _play(hub, steps[:start])
            first = await hub.list(CLUSTERS, label_selector=selector)
            seen = {obj["metadata"]["name"]: obj for obj in map(msgspec.json.decode, first.items)}
            await _play(hub, steps[start:])
            last = await hub.list(CLUSTERS, label_selector=selector)
            options = WatchOptions(label_selector=selector, resource_version=first.resource_version, timeout=0.02)
            stream = await hub.api.watch(ADMIN, hub.target(CLUSTERS), options)
            async for batch in stream:
                for event in batch:
                    obj = msgspec.json.decode(event.object)
                    name = obj["metadata"]["name"]
                    assert (name in seen) == (event.type != "ADDED")
                    if event.type == "DELETED":
                        del seen[name]
                    else:
                        seen[name] = obj
            assert [seen[name] for name in sorted(seen)] == [msgspec.json.decode(item) for item in last.items]

    asyncio.run(playing())


async def _play(hub: Hub, steps: list[tuple[str, str]]) -> None:
    for name, step in steps:
        exists = name in await hub.names(CLUSTERS)
        if step == "create" and not exists:
            await hub.create(cluster(name, labels={"g": "in"}))
        elif step == "delete" and exists:
            await hub.delete(CLUSTERS, name)
        elif exists and step in ("in", "out"):
            await hub.patch(hub.target(CLUSTERS, name), {"metadata": {"labels": {"g": step}}})


@story
async def test_a_refused_watcher_is_told_the_verb() -> None:
    async with a_hub(Refusing()) as hub:
        call = hub.api.watch(ADMIN, hub.target(CLUSTERS), WatchOptions())
        assert (await complaint(call))[2] == (
            f'{CLUSTERS} is forbidden: User "admin" cannot watch resource "managedclusters" in API group '
            f'"{GROUP}" at the cluster scope'
        )


def test_the_memory_of_shared_events_is_bounded_in_bytes() -> None:
    hub = Hub(None, None, ())  # type: ignore[arg-type]  # only its targets are needed
    target = hub.target(CLUSTERS)
    cache = watches.EventCache(most=100, most_bytes=1_000_000)
    events = [
        cache.event("ADDED", Record(Key(CLUSTERS, "", f"c{number}"), number, number, b"x" * 100_000), target)
        for number in range(1, 20)
    ]
    kept = cache._events.values()
    assert 1 <= len(kept) <= 3
    assert events[-1] in kept
    one_large = cache.event("ADDED", Record(Key(CLUSTERS, "", "l"), 30, 30, b"x" * 5_000_000), target)
    assert list(kept) == [one_large]


@story
async def test_what_a_watch_begins_with_comes_in_small_batches_and_is_shared() -> None:
    async with a_hub() as hub:
        for number in range(300):
            await hub.create(cluster(f"c{number:03}", {"n": "x" * 60}))
        stream = await hub.api.watch(ADMIN, hub.target(CLUSTERS), WatchOptions(label_selector="n"))
        assert stream.holds == hub.store.size(CLUSTERS)
        begun: list[bool] = []
        stream.begun = lambda: begun.append(True)
        seen = 0
        async for batch in stream:
            assert len(batch) <= 100
            assert sum(len(event.object) for event in batch) < 128 * 1024
            assert not begun
            seen += len(batch)
            stored = hub.store.get(Key(CLUSTERS, "", msgspec.json.decode(batch[0].object)["metadata"]["name"]))
            assert stored is not None
            assert batch[0].object is stored.value  # not a copy
            if seen == 300:
                break
        asyncio.get_running_loop().call_later(0.05, stream.close)
        async for _ in stream:
            pass
        assert begun == [True]
