"""Files that are removed or replaced under a running hub: nothing is acknowledged that would be gone with it."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from muster.hub.storage import LostWritesError, StorageUnavailableError, Store
from tests.hub.storage.stories import BY_HAND, FORGETFUL, PODS, names, put, story, take

if TYPE_CHECKING:
    from pathlib import Path

FILES = ["hub.db", "hub.db-wal", "hub.db-mark"]


@pytest.mark.parametrize("name", FILES)
@story
async def test_writes_stop_when_a_file_is_removed_and_go_on_when_it_is_put_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([put("a")])
        watch = store.watch(PODS, None, store.revision)
        (tmp_path / name).rename(tmp_path / "elsewhere")
        for _ in range(2):
            with pytest.raises(StorageUnavailableError, match=f"{name} was removed while the hub was running"):
                await store.commit([put("b")])
        assert f"{name} was removed while the hub was running" in str(store.problem)
        assert names(store) == ["a"]
        (tmp_path / "elsewhere").rename(tmp_path / name)
        await store.commit([put("c")])
        assert store.problem is None
        # What could not be acknowledged may have been written; then everybody sees it, before what came later.
        assert names(store)[-1] == "c"
        assert [event.record.key.name for event in await take(watch, len(names(store)) - 1)] == names(store)[1:]
        kept = names(store)
    async with Store.open(path, BY_HAND) as store:
        assert names(store) == kept


@pytest.mark.parametrize("name", FILES)
@story
async def test_a_file_that_was_replaced_is_not_written(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, FORGETFUL) as store:
        await store.commit([put("a"), put("b"), put("b")])
        shutil.copyfile(tmp_path / name, tmp_path / "copy")
        (tmp_path / "copy").replace(tmp_path / name)
        with pytest.raises(StorageUnavailableError, match=f"{name} was replaced while the hub was running"):
            await store.commit([put("c")])
        with pytest.raises(StorageUnavailableError, match=f"{name} was replaced while the hub was running"):
            await store.scan_at(PODS, None, 2)  # history would come from another file
        assert names(store) == ["a", "b"]


@story
async def test_a_removed_file_is_noticed_without_a_write(tmp_path: Path) -> None:
    async with Store.open(tmp_path / "hub.db", BY_HAND) as store:
        await store.commit([put("a")])
        (tmp_path / "hub.db").unlink()
        async with asyncio.timeout(20):
            while store.problem is None:  # noqa: ASYNC110 - another thread finds out
                await asyncio.sleep(0.05)
        assert "was removed while the hub was running" in store.problem
    with pytest.raises(LostWritesError, match="the database is missing"):
        Store.open(tmp_path / "hub.db")
