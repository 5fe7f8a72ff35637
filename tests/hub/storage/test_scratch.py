"""A store without a file commits and refuses as the one with a file does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import (
    ConflictError,
    Delete,
    GuardFailedError,
    Key,
    Put,
    ScratchStore,
    Store,
    Unchanged,
    Unmatched,
)
from tests.hub.storage.stories import story

if TYPE_CHECKING:
    from muster.hub.storage import Change, Guard

RESOURCES = ("cats", "dogs")


def some_key(chance: random.Random) -> Key:
    return Key(chance.choice(RESOURCES), chance.choice(("", "a")), chance.choice(("x", "y", "z")))


def some_change(chance: random.Random, revision: int) -> Change:
    expected = chance.choice((None, None, 0, chance.randrange(revision + 2)))
    kind = Put if chance.random() < 0.7 else Delete
    return kind(some_key(chance), b'{"at":', b"}", expected)


def some_guard(chance: random.Random, revision: int) -> Guard:
    key, at = some_key(chance), chance.randrange(max(revision - 4, 0), revision + 1)
    if chance.random() < 0.3:
        return Unmatched(key.resource, at, lambda found, value: found.name == key.name and b"7" in value)
    namespace = chance.choice((None, key.namespace))
    name = None if namespace is None else chance.choice((None, key.name))
    return Unchanged(key.resource, namespace, name, at)


async def outcome(store: Store, changes: list[Change], guards: list[Guard]) -> object:
    try:
        return await store.commit(changes, guards)
    except ConflictError as error:
        return "conflict", error.args
    except GuardFailedError as error:
        return "guard", error.args


@pytest.mark.parametrize("seed", range(20))
@story
async def test_it_writes_and_refuses_what_a_file_would(seed: int) -> None:
    chance = random.Random(seed)
    written = refused = 0
    async with Store.open(None) as file, ScratchStore() as scratch:
        for _ in range(60):
            changes = [some_change(chance, file.revision) for _ in range(chance.randrange(1, 4))]
            guards = [some_guard(chance, file.revision) for _ in range(chance.choice((0, 0, 1)))]
            expected = await outcome(file, changes, guards)
            assert await outcome(scratch, changes, guards) == expected, (changes, guards)
            written, refused = written + isinstance(expected, list), refused + isinstance(expected, tuple)
            for resource in RESOURCES:
                assert list(scratch.scan(resource)) == list(file.scan(resource))
                assert scratch.count(resource, "a") == file.count(resource, "a")
            assert scratch.revision == file.revision
    assert written
    assert refused
