"""What the tests of the store share: tests that await, short ways to write changes, and a store's whole content."""

from __future__ import annotations

import asyncio
import functools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from muster.hub.storage import Delete, Event, Key, Put, Record, Store, StoreSettings, Watch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

PODS = "pods"

#: No compaction by itself: tests say when.
BY_HAND = StoreSettings(compaction_interval=timedelta(0))

#: Nearly nothing in memory, so that the past is read from the log.
FORGETFUL = StoreSettings(compaction_interval=timedelta(0), history_events=1)


def story(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that awaits: run in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        async def whole() -> None:
            await test(*arguments, **named)

        asyncio.run(whole())

    return run


def key(name: str, namespace: str = "default", resource: str = PODS) -> Key:
    return Key(resource, namespace, name)


def put(
    name: str, namespace: str = "default", resource: str = PODS, expected: int | None = None, text: str = ""
) -> Put:
    return Put(
        Key(resource, namespace, name), f'{{"name":"{name}","revision":"'.encode(), f'"}}{text}'.encode(), expected
    )


def delete(name: str, namespace: str = "default", resource: str = PODS, expected: int | None = None) -> Delete:
    return Delete(Key(resource, namespace, name), f'{{"gone":"{name}","revision":"'.encode(), b'"}', expected)


def record(name: str, revision: int, created: int | None = None, namespace: str = "default") -> Record:
    """What `put` makes of it."""
    value = f'{{"name":"{name}","revision":"{revision}"}}'.encode()
    return Record(Key(PODS, namespace, name), revision, created or revision, value)


def tombstone(name: str, revision: int, created: int, namespace: str = "default") -> Record:
    """What `delete` makes of it."""
    value = f'{{"gone":"{name}","revision":"{revision}"}}'.encode()
    return Record(Key(PODS, namespace, name), revision, created, value)


def names(store: Store, resource: str = PODS, namespace: str | None = None) -> list[str]:
    return [record.key.name for record in store.scan(resource, namespace)]


def files(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


async def take(watch: Watch, count: int) -> list[Event]:
    """So many events, or a failure after some seconds."""
    async with asyncio.timeout(5):
        return [await anext(watch) for _ in range(count)]
