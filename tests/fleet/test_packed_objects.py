"""A fleet that packs its objects answers as one that keeps them as they came."""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.demo.clusters import a_cluster as a_demo_cluster
from muster.fleet import DELETION, Fleet, objects, pages
from muster.fleet.objects import StoredObjects
from muster.fleet.packing import Packing, is_packed
from muster.fleet.pages import NO_PAGE
from muster.fleet.sections import find_sections
from muster.selectors.paths import claim_path, key_path, label_path, project
from tests.builders import a_cluster

if TYPE_CHECKING:
    from muster.values.paths import Path

PATHS: list[Path] = [
    DELETION,
    key_path("spec", "taints"),
    label_path("wave"),
    claim_path("id"),
    key_path("status", "version", "kubernetes"),
]
NAMES = [f"c{number}" for number in range(12)]
OBJECT = st.builds(
    lambda name, wave, claims, version, indent: _encoded(name, wave, claims, version, indent=indent),
    st.sampled_from(NAMES),
    st.sampled_from([None, "w1", "w2"]),
    st.sampled_from([None, [], [{"name": "id", "value": "7"}], [{"name": "id"}], {"name": "id"}]),
    st.sampled_from(["v1", "v2"]),
    st.sampled_from([0, 1]),
)
STEP = st.one_of(
    OBJECT,
    st.sampled_from(NAMES),  # is removed
    st.lists(OBJECT, max_size=8),  # a list comes
    st.integers(0, 3),  # so many steps of columns, and a snapshot
)


def _encoded(name: str, wave: str | None, claims: Any, version: str, *, indent: int = 0) -> bytes:
    obj = a_cluster(name, {} if wave is None else {"wave": wave})
    obj["status"] = {"version": {"kubernetes": version}}
    if claims is not None:
        obj["status"]["clusterClaims"] = claims
    encoded = msgspec.json.encode(obj)
    return msgspec.json.format(encoded, indent=1) if indent else encoded


@given(
    first=st.lists(OBJECT, max_size=12), steps=st.lists(STEP, max_size=12), most_plain=st.sampled_from([0, 700, 3000])
)
def test_what_is_packed_is_read_as_it_came(first: list[bytes], steps: list[Any], most_plain: int) -> None:
    with patch.object(objects, "_CHUNK", 6), patch.object(pages, "_LEAST", 2), patch.object(pages, "_FEW", 2):
        _compare(first, steps, Fleet(most_plain), Fleet())


def _compare(first: list[bytes], steps: list[Any], fleet: Fleet, plain: Fleet) -> None:
    held: dict[str, bytes] = {}
    snapshots = []
    fleet.subscribe("columns", (), PATHS, lazily=True)
    plain.subscribe("columns", (), PATHS)
    for step in [first, *steps]:
        match step:
            case list():
                fleet.put_many(step)
                plain.put_many(step)
                held.update((_name(each), each) for each in step)
            case bytes():
                before = held.get(_name(step))
                assert fleet.put(step) >= plain.put(
                    step
                )  # a column that is not filled yet cannot tell what is the same
                assert fleet.replaced == before
                held[_name(step)] = step
            case str():
                fleet.remove(step)
                plain.remove(step)
                assert fleet.replaced == held.pop(step, fleet.replaced)
            case _:
                for _, _ in zip(range(step), fleet.steps("columns"), strict=False):
                    pass
                snapshots.append((fleet.snapshot(), fleet.fork(()), dict(held)))
        assert _objects(fleet) == held
    for snapshot, fork, then in snapshots:
        assert {snapshot.name(row): snapshot.encoded(row) for row in snapshot.order.tolist()} == then
        assert _objects(fork) == then
        _expect_columns(fork, then)
    _expect_columns(fleet, held)


def _expect_columns(fleet: Fleet, held: dict[str, bytes]) -> None:
    for path in PATHS:
        column = fleet.column(path)
        found = {name: column.values[column.codes[row]] for name in held if (row := fleet.row(name)) is not None}
        assert found == {name: project(msgspec.json.decode(each), path) for name, each in held.items()}


def _objects(fleet: Fleet) -> dict[str, bytes | None]:
    return {fleet.name(row): fleet.encoded_at(row) for row in fleet.rows().tolist()}


def _name(encoded: bytes) -> str:
    return str(msgspec.json.decode(encoded)["metadata"]["name"])


def test_so_much_is_kept_as_it_came_and_no_more() -> None:
    encoded = [msgspec.json.encode(a_demo_cluster(1, number).object) for number in range(60)]
    size = sum(map(len, encoded))
    stored = StoredObjects(size // 2)
    for each in encoded:
        stored.add(each, find_sections(each))
    order = list(range(len(encoded)))
    for _ in range(3):
        random.Random(1).shuffle(order)
        for row in order:
            changed = encoded[row].replace(b'"leaseDurationSeconds":60', b'"leaseDurationSeconds":61')
            stored.put(row, changed)
            assert stored.at(row) == changed
            assert sum(len(each or b"") for each in stored.stored if not is_packed(each or b"")) <= size // 2
    stored.put(5, None)
    assert stored.at(5) is None
    assert len(stored.of(range(60))) == 59


def test_a_small_fleet_packs_nothing() -> None:
    fleet = Fleet()
    fleet.put_many(_encoded(name, "w1", None, "v1") for name in NAMES)
    assert not any(is_packed(each or b"") for each in fleet._objects.stored)


def test_pages_that_hardly_anybody_is_left_in_are_given_up() -> None:
    encoded = [_encoded(f"c{number:03}", "w1", None, "v1") for number in range(1000)]
    fleet = Fleet(sum(map(len, encoded)) // 10)
    fleet.put_many(encoded)
    order = random.Random(2)
    for _ in range(5000):
        fleet.put(encoded[order.randrange(1000)])
    kept = fleet._objects._pages
    assert sum(len(kept._pages[number].rows) for number in kept.after(NO_PAGE)) < 4 * 1000
    assert _objects(fleet) == {_name(each): each for each in encoded}
    _expect_columns(fleet, {_name(each): each for each in encoded})


@pytest.mark.parametrize("encoded", [b"{}", b"", b'{"a":"\xc3\xa9"}', b"{%b}" % (b" " * 3_000_000)])
def test_an_object_is_packed_alone_and_never_larger_when_read_than_it_was(encoded: bytes) -> None:
    packing = Packing([b'{"metadata":{"name":"a"}}'] * 3)
    packed = packing.pack(encoded)
    assert is_packed(packed)
    assert packing.unpack(packed) == encoded
    more = packed[:5] + zlib.compress(b"x" * 5_000_000, wbits=-15)
    assert len(packing.unpack(more)) <= max(len(encoded), 1)


def test_what_is_packed_takes_a_fraction() -> None:
    encoded = [msgspec.json.encode(a_demo_cluster(1, number).object) for number in range(300)]
    packing = Packing(encoded)
    assert sum(len(packing.pack(each)) for each in encoded) * 4 < sum(map(len, encoded))


def test_a_list_that_breaks_off_leaves_what_was() -> None:
    fleet = Fleet(0)
    fleet.put_many([_encoded("a", "w1", None, "v1")])
    loading = fleet.loading()
    loading.add([_encoded("a", "w2", None, "v1"), _encoded("b", "w2", None, "v1")])
    assert _objects(fleet) == {"a": _encoded("a", "w1", None, "v1")}
    with pytest.raises(msgspec.ValidationError):
        loading.add([b'{"metadata":{}}'])
