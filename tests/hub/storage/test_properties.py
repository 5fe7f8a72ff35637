"""Laws of the store, for any sequence of commits: it equals a simple model, and list + watch == list later."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.hub.storage import (
    Change,
    ConflictError,
    Delete,
    Event,
    EventType,
    GuardFailedError,
    Key,
    Put,
    Record,
    Store,
    StoreSettings,
    Unchanged,
)
from tests.hub.storage.stories import BY_HAND, FORGETFUL

if TYPE_CHECKING:
    from collections.abc import Sequence

RESOURCES = ("pods", "nodes")

keys = st.builds(Key, st.sampled_from(RESOURCES), st.sampled_from(["", "a", "a-b", "b"]), st.sampled_from("xyz"))
#: How far the expected revision is from the right one; None expects nothing.
aims = st.sampled_from([None, None, 0, 0, 0, -1])


@dataclass(frozen=True, slots=True)
class Wish:
    """A change whose expected revision is only known when it is made."""

    key: Key
    deletes: bool
    aim: int | None


wishes = st.lists(st.builds(Wish, keys, st.booleans(), aims), min_size=1, max_size=4)
guards = st.lists(
    st.tuples(
        st.sampled_from(RESOURCES), st.sampled_from([None, "a", "b"]), st.sampled_from([None, "x"]), st.integers(0, 5)
    ),
    max_size=1,
)
commits = st.lists(st.tuples(wishes, guards), max_size=25)


#: Commits, each with its changes and guards (resource, namespace, name, how many revisions back).
Story = list[tuple[list[Wish], list[tuple[str, str | None, str | None, int]]]]


@dataclass(slots=True)
class Model:
    """What the store should do, in the simplest way: the whole state of every revision."""

    states: list[dict[Key, Record]] = field(default_factory=lambda: [{}, {}])  # by revision; the first one is 1
    events: list[Event] = field(default_factory=list)

    @property
    def revision(self) -> int:
        return len(self.states) - 1

    def commit(self, changes: Sequence[Change], guards: Sequence[Unchanged]) -> list[Record] | type[Exception]:
        if any(_covered(event.record, guard) for guard in guards for event in self.events):
            return GuardFailedError
        states, events = list(self.states), list(self.events)
        written = []
        for change in changes:
            state = dict(states[-1])
            previous = state.pop(change.key, None)
            current = previous.revision if previous else 0
            if change.expected not in (None, current) or (isinstance(change, Delete) and previous is None):
                return ConflictError
            revision = len(states)
            created = previous.created_revision if previous else revision
            record = Record(change.key, revision, created, change.head + str(revision).encode() + change.tail)
            if isinstance(change, Put):
                state[change.key] = record
            kind = EventType.DELETED if isinstance(change, Delete) else _put_event(previous)
            states.append(state)
            events.append(Event(kind, record, previous))
            written.append(record)
        self.states, self.events = states, events
        return written


def _put_event(previous: Record | None) -> EventType:
    return EventType.MODIFIED if previous else EventType.ADDED


def _covered(record: Record, guard: Unchanged) -> bool:
    return (
        record.revision > guard.revision
        and record.key.resource == guard.resource
        and guard.namespace in (None, record.key.namespace)
        and guard.name in (None, record.key.name)
    )


def _changes(wishes: Sequence[Wish], model: Model) -> list[Change]:
    changes: list[Change] = []
    for wish in wishes:
        present = model.states[-1].get(wish.key)
        expected = None if wish.aim is None else max(0, (present.revision if present else 0) + wish.aim)
        kind = Delete if wish.deletes else Put
        changes.append(kind(wish.key, b"<", b">", expected))
    return changes


async def _attempt(store: Store, changes: Sequence[Change], guards: Sequence[Unchanged]) -> object:
    try:
        return await store.commit(changes, guards)
    except (ConflictError, GuardFailedError) as error:
        return type(error)


def _listed(state: dict[Key, Record], resource: str, namespace: str | None = None) -> list[Record]:
    return sorted(
        (r for r in state.values() if r.key.resource == resource and namespace in (None, r.key.namespace)),
        key=lambda record: record.key,
    )


async def _play(story: Story, how: StoreSettings) -> None:
    model = Model()
    async with Store.open(None, how) as store:
        for wishes, guards in story:
            changes = _changes(wishes, model)
            unchanged = [
                Unchanged(resource, namespace, name if namespace else None, max(0, model.revision - back))
                for resource, namespace, name, back in guards
            ]
            assert await _attempt(store, changes, unchanged) == model.commit(changes, unchanged)
            assert store.revision == model.revision
        for resource in RESOURCES:
            assert list(store.scan(resource)) == _listed(model.states[-1], resource)
            for revision in range(1, model.revision + 1):
                past = _listed(model.states[revision], resource)
                assert await store.scan_at(resource, None, revision) == past
                assert await store.scan_at(resource, "a", revision) == _listed(model.states[revision], resource, "a")
                await _check_watch(store, model, resource, revision, past)


async def _check_watch(store: Store, model: Model, resource: str, revision: int, listed: list[Record]) -> None:
    """A list, and the events after it, add up to the list of now."""
    expected = [
        event for event in model.events if event.record.revision > revision and event.record.key.resource == resource
    ]
    watch = store.watch(resource, None, revision)
    async with asyncio.timeout(10):
        received = [await anext(watch) for _ in expected]
    watch.close()
    assert received == expected
    objects = {record.key: record for record in listed}
    for event in received:
        if event.type is EventType.DELETED:
            del objects[event.record.key]
        else:
            objects[event.record.key] = event.record
    assert _listed(objects, resource) == list(store.scan(resource))


@settings(max_examples=40, deadline=None)
@given(commits)
def test_the_store_equals_its_model_with_history_in_memory(story: Story) -> None:
    asyncio.run(_play(story, BY_HAND))


@settings(max_examples=25, deadline=None)
@given(commits)
def test_the_store_equals_its_model_with_history_in_the_log(story: Story) -> None:
    asyncio.run(_play(story, FORGETFUL))


@settings(max_examples=25, deadline=None)
@given(commits, st.floats(0, 1))
def test_compaction_changes_nothing_from_its_point_on(story: Story, share: float) -> None:
    async def play() -> None:
        model = Model()
        async with Store.open(None, FORGETFUL) as store:
            for wishes, _ in story:
                changes = _changes(wishes, model)
                assert await _attempt(store, changes, []) == model.commit(changes, [])
            point = max(1, round(model.revision * share))
            assert await store.compact(point) == point
            for resource in RESOURCES:
                for revision in range(point, model.revision + 1):
                    past = _listed(model.states[revision], resource)
                    assert await store.scan_at(resource, None, revision) == past
                    await _check_watch(store, model, resource, revision, past)

    asyncio.run(play())


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(keys, min_size=1, max_size=3), min_size=1, max_size=30))
def test_concurrent_commits_get_consecutive_revisions_and_are_seen_in_that_order(groups: list[list[Key]]) -> None:
    async def play() -> None:
        async with Store.open(None, BY_HAND) as store:
            watches = [store.watch(resource, None, 1) for resource in RESOURCES]
            written = await asyncio.gather(
                *(store.commit([Put(key, b"<", b">", None) for key in group]) for group in groups)
            )
            revisions = [[record.revision for record in records] for records in written]
            # The changes of one commit lie side by side, and nothing is left out or given twice.
            assert all(part == list(range(part[0], part[0] + len(part))) for part in revisions)
            assert sorted(chain.from_iterable(revisions)) == list(range(2, store.revision + 1))
            total = sum(map(len, groups))
            seen: list[Record] = []
            for watch in watches:
                count = sum(key.resource == watch._collection.resource for group in groups for key in group)
                events = [await anext(watch) for _ in range(count)]
                assert [event.record.revision for event in events] == sorted(event.record.revision for event in events)
                seen += [event.record for event in events]
            assert len(seen) == total
            assert sorted(seen, key=lambda record: record.revision) == sorted(
                chain.from_iterable(written), key=lambda record: record.revision
            )

    asyncio.run(play())
