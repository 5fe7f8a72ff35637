"""What the API machinery may rely on: commits, guards, reads of now and of the past."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from muster.hub.storage import (
    CompactedError,
    ConflictError,
    Delete,
    FutureRevisionError,
    GuardFailedError,
    Put,
    Statistics,
    StorageUnavailableError,
    Store,
    Unchanged,
)
from tests.hub.storage.stories import BY_HAND, FORGETFUL, PODS, delete, files, key, names, put, record, story, tombstone

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from pathlib import Path

    from muster.hub.storage import Change, Record, StoreSettings
    from muster.hub.storage.plan import Commit


@story
async def test_a_commit_gives_each_change_the_next_revision_and_splices_it_into_the_value() -> None:
    async with Store.open(None) as store:
        before = store.revision
        assert await store.commit([put("a"), put("b")]) == [record("a", before + 1), record("b", before + 2)]
        assert store.revision == before + 2
        assert store.get(key("a")) == record("a", before + 1)


@story
async def test_an_empty_store_is_not_at_revision_zero() -> None:
    async with Store.open(None) as store:
        assert (store.revision, store.compacted) == (1, 0)


@story
async def test_a_replaced_object_keeps_the_revision_it_was_created_at() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a")])
        assert await store.commit([put("a", expected=2)]) == [record("a", 3, created=2)]
        await store.commit([delete("a", expected=3)])
        assert await store.commit([put("a", expected=0)]) == [record("a", 5)]


@story
async def test_a_scan_is_sorted_by_namespace_and_name_and_starts_behind_a_place() -> None:
    async with Store.open(None) as store:
        await store.commit([put("z", "a"), put("b", "b"), put("a", "b"), put("x", "b-c"), put("a", "c")])
        places = [(found.key.namespace, found.key.name) for found in store.scan(PODS)]
        assert places == [("a", "z"), ("b", "a"), ("b", "b"), ("b-c", "x"), ("c", "a")]
        assert [found.key.name for found in store.scan(PODS, "b")] == ["a", "b"]
        assert [found.key.name for found in store.scan(PODS, "b", after=("b", "a"))] == ["b"]
        assert [found.key.name for found in store.scan(PODS, None, after=("b", "aa"))] == ["b", "x", "a"]
        assert list(store.scan(PODS, "b", after=("c", "a"))) == []
        assert (store.count(PODS), store.count(PODS, "b"), store.count("nodes")) == (5, 2, 0)


@story
async def test_a_scan_does_not_show_what_is_written_after_it_began() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a"), put("b"), put("c")])
        scan = store.scan(PODS)
        first = next(scan)
        await store.commit([put("a"), delete("b"), put("aa")])
        assert [first, *scan] == [record("a", 2), record("b", 3), record("c", 4)]
        assert names(store) == ["a", "aa", "c"]


@pytest.mark.parametrize(
    ("change", "current"),
    [
        (put("a", expected=0), record("a", 2)),
        (put("a", expected=1), record("a", 2)),
        (delete("a", expected=3), record("a", 2)),
        (put("b", expected=2), None),
        (delete("b"), None),
        (delete("b", expected=2), None),
    ],
)
@story
async def test_a_change_that_expected_something_else_is_refused_with_what_is_there(
    change: Change, current: Record | None
) -> None:
    async with Store.open(None) as store:
        await store.commit([put("a")])
        with pytest.raises(ConflictError) as refusal:
            await store.commit([change])
        assert (refusal.value.key, refusal.value.current) == (change.key, current)
        assert (store.revision, names(store)) == (2, ["a"])


@story
async def test_a_commit_with_one_refused_change_writes_none() -> None:
    async with Store.open(None) as store:
        with pytest.raises(ConflictError):
            await store.commit([put("a"), put("b"), put("c", expected=7)])
        assert (store.revision, names(store)) == (1, [])


@story
async def test_changes_of_one_commit_see_the_ones_before_them() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a", expected=0), put("a", expected=2), delete("a", expected=3), put("a", expected=0)])
        assert list(store.scan(PODS)) == [record("a", 5)]


@story
async def test_of_many_commits_that_expect_the_same_revision_one_succeeds() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a")])
        outcomes = await asyncio.gather(
            *(store.commit([put("a", expected=2)]) for _ in range(20)), return_exceptions=True
        )
        assert [outcome for outcome in outcomes if not isinstance(outcome, ConflictError)] == [[record("a", 3, 2)]]
        # Each refusal was told of the state that stood in its way.
        assert {outcome.current for outcome in outcomes if isinstance(outcome, ConflictError)} == {record("a", 3, 2)}


@story
async def test_a_commit_whose_caller_has_gone_is_written_and_published_all_the_same() -> None:
    async with Store.open(None) as store:
        task = asyncio.create_task(store.commit([put("a")]))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.commit([put("b")])
        assert list(store.scan(PODS)) == [record("a", 2), record("b", 3)]


OBJECT, NAMESPACE, COLLECTION = ("default", "a"), ("default", None), (None, None)


@pytest.mark.parametrize(
    ("scope", "change", "holds"),
    [
        (OBJECT, put("b"), True),
        (OBJECT, put("a"), False),
        (OBJECT, delete("a"), False),
        (NAMESPACE, put("b", "other"), True),
        (NAMESPACE, put("b"), False),
        (NAMESPACE, delete("a"), False),
        (COLLECTION, put("b", resource="nodes"), True),
        (COLLECTION, put("b", "other"), False),
        (COLLECTION, delete("a"), False),
    ],
)
@story
async def test_a_guard_holds_while_nothing_in_its_scope_changes(
    scope: tuple[str | None, str | None], change: Change, holds: bool
) -> None:
    async with Store.open(None) as store:
        await store.commit([put("a")])
        guard = Unchanged(PODS, *scope, revision=store.revision)
        await store.commit([change])
        if holds:
            await store.commit([put("guarded", resource="results")], [guard])
            assert names(store, "results") == ["guarded"]
        else:
            with pytest.raises(GuardFailedError) as refusal:
                await store.commit([put("guarded", resource="results")], [guard])
            assert (refusal.value.guard, names(store, "results")) == (guard, [])


@story
async def test_a_guard_sees_commits_of_the_same_batch() -> None:
    async with Store.open(None) as store:
        await store.commit([put("a")])
        guard = Unchanged(PODS, None, None, revision=store.revision)
        outcomes = await asyncio.gather(
            *(store.commit([put(f"pod-{number}")], [guard]) for number in range(10)), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [list] + [GuardFailedError] * 9


@story
async def test_guards_hold_on_old_objects_and_fail_in_doubt_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("old"), put("short-lived")])
        await store.commit([delete("short-lived")])
        await store.compact(store.revision)
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("x", resource="results")], [Unchanged(PODS, "default", "old", 2)])
        await store.commit([put("y", resource="results")], [Unchanged(PODS, None, None, 4)])
        for guard in (Unchanged(PODS, "default", "short-lived", 3), Unchanged(PODS, None, None, 3)):
            with pytest.raises(GuardFailedError):
                await store.commit([put("z", resource="results")], [guard])


@pytest.mark.parametrize("settings", [BY_HAND, FORGETFUL], ids=["from memory", "from the log"])
@story
async def test_the_past_is_listed_as_it_was(settings: StoreSettings) -> None:
    async with Store.open(None, settings) as store:
        await store.commit([put("a"), put("b"), put("c", "other")])
        await store.commit([put("a"), delete("b"), put("d")])
        await store.commit([put("b")])
        assert await store.scan_at(PODS, None, 1) == []
        assert await store.scan_at(PODS, None, 3) == [record("a", 2), record("b", 3)]
        assert await store.scan_at(PODS, None, 4) == [record("a", 2), record("b", 3), record("c", 4, namespace="other")]
        assert await store.scan_at(PODS, "other", 7) == [record("c", 4, namespace="other")]
        assert await store.scan_at(PODS, "default", 6) == [record("a", 5, 2)]
        assert await store.scan_at(PODS, None, 4, after=("default", "a")) == [
            record("b", 3),
            record("c", 4, namespace="other"),
        ]
        assert await store.scan_at(PODS, None, store.revision) == list(store.scan(PODS))


@story
async def test_revisions_that_are_gone_or_not_there_yet_cannot_be_listed() -> None:
    async with Store.open(None, BY_HAND) as store:
        await store.commit([put("a"), put("a"), put("a")])
        assert await store.compact(3) == 3
        with pytest.raises(CompactedError, match="revision 2 has been compacted; the oldest one kept is 3"):
            await store.scan_at(PODS, None, 2)
        with pytest.raises(FutureRevisionError, match="revision 5 does not exist yet; the newest one is 4"):
            await store.scan_at(PODS, None, 5)
        assert await store.scan_at(PODS, None, 3) == [record("a", 3, 2)]


@story
async def test_everything_is_there_after_closing_and_opening(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path) as store:
        await store.commit([put("a"), put("b"), put("c", "other"), put("n", "", "nodes")])
        await store.commit([put("a"), delete("b")])
        everything = list(store.scan(PODS)), list(store.scan("nodes")), store.revision
    async with Store.open(path) as store:
        assert (list(store.scan(PODS)), list(store.scan("nodes")), store.revision) == everything
        assert await store.scan_at(PODS, "default", 3) == [record("a", 2), record("b", 3)]
        assert await store.commit([put("d")]) == [record("d", 8)]
    assert files(tmp_path) == ["hub.db", "hub.db-lock", "hub.db-mark"]


@story
async def test_a_closed_store_takes_no_commits() -> None:
    store = Store.open(None)
    await store.close()
    await store.close()
    with pytest.raises(StorageUnavailableError, match="the store is closed"):
        await store.commit([put("a")])


@story
async def test_a_commit_that_cannot_be_encoded_fails_alone() -> None:
    async with Store.open(None) as store:
        outcomes = await asyncio.gather(
            *(store.commit([put(name)]) for name in ("a", "lone surrogate", "b")),
            store.commit([Put(key("\ud800"), b"", b"", None)]),
            store.commit([put("c")]),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [list, list, list, UnicodeEncodeError, list]
        assert store.revision == 5


@story
async def test_of_several_changes_that_cannot_all_be_encoded_none_is_written() -> None:
    unwritable = Put(key("\ud800"), b"", b"", None)
    async with Store.open(None) as store:
        outcomes = await asyncio.gather(
            store.commit([put("a")]),
            store.commit([put("a", text="again"), put("b"), Delete(key("a"), b"", b"", None), unwritable]),
            store.commit([put("a", text="more"), put("c")]),
            return_exceptions=True,
        )
        assert [type(outcome) for outcome in outcomes] == [list, UnicodeEncodeError, list]
        assert [record.key.name for record in store.scan(PODS)] == ["a", "c"]
        assert store.revision == 4


@story
async def test_changes_of_one_commit_find_what_those_before_them_have_made() -> None:
    async with Store.open(None) as store:
        gone = Delete(key("a"), b"", b"", 2)
        await store.commit([put("a", expected=0), gone, put("a", expected=0, text="again")])
        with pytest.raises(ConflictError):
            await store.commit([put("b", expected=0), put("b", expected=0)])
        with pytest.raises(ConflictError):
            await store.commit([Delete(key("a"), b"", b"", 4), Delete(key("a"), b"", b"", None)])
        assert [record.key.name for record in store.scan(PODS)] == ["a"]
        assert store.revision == 4


@story
async def test_the_numbers_of_a_store() -> None:
    async with Store.open(None, BY_HAND) as store:
        await store.commit([put("a"), put("b"), put("n", "", "nodes")])
        await store.compact(2)
        watch = store.watch(PODS, None, 2)
        numbers = store.statistics()
        watch.close()
        assert numbers.file_bytes > 0
        assert numbers == Statistics(
            revision=4,
            compacted=2,
            objects={PODS: 2, "nodes": 1},
            watches=1,
            file_bytes=numbers.file_bytes,
            log_bytes=numbers.log_bytes,
            problem=None,
        )


@story
async def test_closing_does_not_wait_for_a_compaction_to_finish() -> None:
    store = Store.open(None, BY_HAND)
    for _ in range(10):
        await store.commit([put(f"pod-{number}") for number in range(500)])
    compaction = asyncio.create_task(store.compact(store.revision))
    await asyncio.sleep(0.005)
    async with asyncio.timeout(5):
        await store.close()
        outcome = (await asyncio.gather(compaction, return_exceptions=True))[0]
    assert isinstance(outcome, int | StorageUnavailableError)


def test_a_store_outlives_the_loop_that_it_was_used_in() -> None:
    store = Store.open(None)

    async def leave_in_a_hurry() -> None:
        asyncio.get_running_loop().call_soon(asyncio.ensure_future, store.commit([put("a")]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(leave_in_a_hurry())

    async def look_again() -> list[str]:
        await store.commit([put("b")])
        found = names(store)
        await store.close()
        return found

    assert asyncio.run(look_again()) == ["a", "b"]


class HandedOver:
    """Notes what the writer is given, batch by batch."""

    def __init__(self, store: Store, patch: pytest.MonkeyPatch) -> None:
        self.names: list[list[str]] = []
        submit = store._handover._submit

        def note(commits: Sequence[Commit]) -> None:
            self.names.append([change.key.name for commit in commits for change in commit.changes])
            submit(commits)

        patch.setattr(store._handover, "_submit", note)


@story
async def test_writes_that_may_gather_wait_for_each_other_and_a_single_one_for_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with asyncio.timeout(10), Store.open(None) as store:
        batches = HandedOver(store, monkeypatch)
        await store.commit([put("a")], gathers=0.3)
        first = asyncio.create_task(store.commit([put("b")], gathers=0.3))
        await asyncio.sleep(0.05)
        await asyncio.gather(store.commit([put("c")], gathers=0.3), first)
        await asyncio.sleep(0.4)
        await store.commit([put("d")], gathers=0.3)
        assert batches.names == [["a"], ["b", "c"], ["d"]]


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_a_write_that_does_not_wait_takes_along_what_has_gathered(
    monkeypatch: pytest.MonkeyPatch, run: Callable[[Coroutine[Any, Any, None]], None]
) -> None:
    async def write() -> None:
        async with asyncio.timeout(10), Store.open(None) as store:
            batches = HandedOver(store, monkeypatch)
            await store.commit([put("a")], gathers=60)
            waiting = asyncio.create_task(store.commit([put("b")], gathers=60))
            await asyncio.sleep(0)
            assert names(store) == ["a"]
            assert await store.commit([put("c")]) == [record("c", 4)]
            assert await waiting == [record("b", 3)]
            assert batches.names == [["a"], ["b", "c"]]

    run(write())


@story
async def test_what_gathers_is_written_when_the_store_is_closed() -> None:
    async with asyncio.timeout(10), Store.open(None) as store:
        await store.commit([put("a")], gathers=60)
        waiting = asyncio.create_task(store.commit([put("b")], gathers=60))
        await asyncio.sleep(0)
        await store.close()
        assert await waiting == [record("b", 3)]


def test_what_gathers_when_its_loop_ends_goes_with_the_next_write() -> None:
    store = Store.open(None)

    async def leave_in_a_hurry() -> None:
        await store.commit([put("a")], gathers=60)
        asyncio.get_running_loop().call_soon(asyncio.ensure_future, store.commit([put("b")], gathers=60))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(leave_in_a_hurry())

    async def look_again() -> list[str]:
        async with asyncio.timeout(10):
            await store.commit([put("c")], gathers=0.1)
            found = names(store)
            await store.close()
        return found

    assert asyncio.run(look_again()) == ["a", "b", "c"]


@story
async def test_deleted_objects_leave_their_last_state_in_the_log() -> None:
    async with Store.open(None, FORGETFUL) as store:
        await store.commit([put("a")])
        assert await store.commit([delete("a")]) == [tombstone("a", 3, 2)]
        assert store.get(key("a")) is None


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="nowhere does not exist"):
        Store.open(tmp_path / "nowhere" / "hub.db")
