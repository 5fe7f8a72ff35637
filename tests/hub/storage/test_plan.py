"""Guards on what is written meanwhile: only what matches stands in the way."""

from __future__ import annotations

import asyncio

import pytest

from muster.hub.storage import Delete, GuardFailedError, Key, Put, Store, Unmatched
from tests.hub.a_hub import story

PODS, RESULTS = "pods", "results"


def put(name: str, text: str = "", resource: str = PODS) -> Put:
    return Put(Key(resource, "", name), b'{"metadata":{"resourceVersion":"', b'"},"text":"%b"}' % text.encode(), None)


def red(after: int, *known: str) -> Unmatched:
    return Unmatched(PODS, after, lambda key, value: key.name not in known and b'"red"' in value)


@story
async def test_what_does_not_match_may_go_on() -> None:
    store = Store.open(None)
    await store.commit([put("a", "red"), put("b")])
    revision = store.revision
    await store.commit([put("b", "blue"), put("c"), put("x", "red", RESULTS)])
    await store.commit([put("x", resource=RESULTS)], [red(revision)])
    await store.close()


@story
async def test_what_matches_stands_in_the_way_once_it_is_written() -> None:
    store = Store.open(None)
    await store.commit([put("a")])
    revision = store.revision
    await store.commit([put("a", "red")])
    with pytest.raises(GuardFailedError, match=f"pods changed after revision {revision}"):
        await store.commit([put("x", resource=RESULTS)], [red(revision)])
    await store.commit([put("x", resource=RESULTS)], [red(revision, "a")])
    await store.commit([put("y", resource=RESULTS)], [red(store.revision)])
    assert store.count(RESULTS) == 2
    await store.close()


@story
async def test_it_does_so_even_if_it_is_changed_back_or_deleted() -> None:
    """In doubt the reader looks again; it finds out that all is well."""
    store = Store.open(None)
    revision = store.revision
    await store.commit([put("a", "red")])
    await store.commit([Delete(Key(PODS, "", "a"), put("a").head, put("a").tail, None)])
    with pytest.raises(GuardFailedError):
        await store.commit([put("x", resource=RESULTS)], [red(revision)])
    await store.close()


@story
async def test_commits_of_one_transaction_see_each_other() -> None:
    store = Store.open(None)
    guard = red(store.revision)
    outcomes = await asyncio.gather(
        store.commit([put("a", "red")]),
        store.commit([put("x", resource=RESULTS)], [guard]),
        return_exceptions=True,
    )
    assert [isinstance(each, GuardFailedError) for each in outcomes] == [False, True]
    await store.close()


@story
async def test_what_is_compacted_counts_as_a_match() -> None:
    store = Store.open(None)
    revision = store.revision
    await store.commit([put("a")])
    await store.commit([put("a")])
    await store.compact(store.revision)
    with pytest.raises(GuardFailedError):
        await store.commit([put("x", resource=RESULTS)], [red(revision)])
    await store.close()
