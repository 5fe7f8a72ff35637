"""A kind that changes: stored objects are brought to today's format at the start, once, whatever happens in between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.codec import encode_split
from muster.hub.objects import decode
from muster.hub.storage import Key, NewerSchemaError, Put, StorageUnavailableError, Store
from muster.hub.upgrades import STEPS, UpgradeStep, today, upgrade_objects
from tests.hub.storage.stories import BY_HAND, story

if TYPE_CHECKING:
    from pathlib import Path

HOSTS, OTHERS = "hosts.example.com", "others.example.com"


def _rename(obj: dict[str, Any]) -> dict[str, Any]:
    spec = dict(obj["spec"])
    return {**obj, "spec": {"cores": spec.pop("cpus"), **spec}}


def _to_text(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "spec": {**obj["spec"], "cores": str(obj["spec"]["cores"])}}


RENAMED = UpgradeStep(2, HOSTS, _rename)
AS_TEXT = UpgradeStep(3, HOSTS, _to_text)


def host(name: str, resource: str = HOSTS, **spec: object) -> Put:
    obj = {"metadata": {"name": name, "resourceVersion": ""}, "spec": spec}
    return Put(Key(resource, "", name), *encode_split(obj), None)


def specs(store: Store, resource: str = HOSTS) -> dict[str, Any]:
    return {record.key.name: decode(record.value)["spec"] for record in store.scan(resource)}


@story
async def test_objects_take_the_steps_they_lack_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([host("a", cpus=1), host("b", cpus=2), host("c", OTHERS, cpus=3)])
    async with Store.open(path, replace(BY_HAND, format=today([RENAMED]))) as store:
        assert await upgrade_objects(store, [RENAMED]) == 2
        await store.commit([host("d", cores=4)])
        assert specs(store) == {"a": {"cores": 1}, "b": {"cores": 2}, "d": {"cores": 4}}
    steps = [AS_TEXT, RENAMED]
    async with Store.open(path, replace(BY_HAND, format=today(steps))) as store:
        assert await upgrade_objects(store, steps) == 3
        assert await upgrade_objects(store, steps) == 0
        assert specs(store) == {"a": {"cores": "1"}, "b": {"cores": "2"}, "d": {"cores": "4"}}
        assert specs(store, OTHERS) == {"c": {"cpus": 3}}
        assert all(b'"resourceVersion":"%d"' % record.revision in record.value for record in store.scan(HOSTS))


@story
async def test_an_upgrade_that_was_cut_off_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muster.hub.upgrades._AT_ONCE", 2)
    path = tmp_path / "hub.db"
    async with Store.open(path, BY_HAND) as store:
        await store.commit([host(f"h{number}", cpus=number) for number in range(5)])
    settings = replace(BY_HAND, format=2)
    async with Store.open(path, settings) as store:
        commit, count = store.commit, 0

        async def fails_the_second_time(*arguments: Any) -> Any:
            nonlocal count
            count += 1
            if count == 2:
                raise StorageUnavailableError("the disk is full")
            return await commit(*arguments)

        monkeypatch.setattr(store, "commit", fails_the_second_time)
        with pytest.raises(StorageUnavailableError):
            await upgrade_objects(store, [RENAMED])
    async with Store.open(path, settings) as store:
        assert await upgrade_objects(store, [RENAMED]) == 3
        assert specs(store) == {f"h{number}": {"cores": number} for number in range(5)}


@story
async def test_a_database_with_objects_of_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    async with Store.open(path, replace(BY_HAND, format=7)) as store:
        await store.commit([host("a", cores=1)])
    before = path.read_bytes()
    with pytest.raises(NewerSchemaError, match="was written by a newer Muster \\(objects of format 7, this one knows"):
        Store.open(path, BY_HAND)
    assert path.read_bytes() == before


def test_the_steps_of_this_version_have_numbers_of_their_own() -> None:
    assert len({(step.format, step.resource) for step in STEPS}) == len(STEPS)
    assert all(step.format > 1 for step in STEPS)
