"""The fleet at one moment stays what it was while the fleet goes on."""

from __future__ import annotations

import gc
import random
from typing import Any

import msgspec
import pytest

from muster.fleet import Fleet
from muster.selectors.paths import label_path, project
from tests.builders import a_cluster

PATHS = (label_path("a"), label_path("b"))


def encoded(obj: dict[str, Any]) -> bytes:
    return msgspec.json.encode(obj)


@pytest.mark.parametrize("seed", range(10))
def test_a_snapshot_stays_as_it_was_whatever_comes_and_goes(seed: int) -> None:
    chance = random.Random(seed)

    def some_cluster(name: str) -> dict[str, Any]:
        return a_cluster(name, {chance.choice("ab"): chance.choice("xyz")}, {"r": str(chance.random())})

    fleet = Fleet()
    there = {name: some_cluster(name) for name in (f"c{number}" for number in range(40))}
    fleet.put_many(encoded(each) for each in there.values())
    snapshot = fleet.snapshot(PATHS)
    for number in range(200):
        name = f"c{chance.randrange(60)}"
        if chance.random() < 0.4:
            fleet.remove(name)
        else:
            fleet.put(encoded(some_cluster(name)))
        if number % 50 == 0:
            fleet.snapshot()  # one that nobody keeps

    assert [snapshot.name(row) for row in snapshot.order.tolist()] == sorted(there)
    assert all(snapshot.encoded(row) == encoded(there[snapshot.name(row)]) for row in snapshot.order.tolist())
    groups = snapshot.groups(snapshot.order, PATHS)
    for at, row in enumerate(snapshot.order.tolist()):
        mine, first = there[snapshot.name(row)], there[snapshot.name(int(groups.first[groups.of[at]]))]
        assert [project(mine, path) for path in PATHS] == [project(first, path) for path in PATHS]
    assert len(groups.first) == len({tuple(project(each, path) for path in PATHS) for each in there.values()})


def test_the_first_of_the_rows_stands_for_its_group() -> None:
    fleet = Fleet()
    fleet.put_many(encoded(a_cluster(f"c{number}", {"a": "x"})) for number in range(5))
    snapshot = fleet.snapshot(PATHS)

    backwards = snapshot.order[::-1]

    assert snapshot.groups(backwards, PATHS).first.tolist() == [int(backwards[0])]


def test_a_snapshot_knows_how_large_objects_were() -> None:
    fleet = Fleet()
    large = a_cluster("c1", {"a": "x"})
    large["metadata"]["annotations"] = {"note": "y" * 100_000}
    fleet.put_many([encoded(a_cluster("c0", {"a": "x"})), encoded(large), encoded(a_cluster("c2", {"a": "x"}))])
    snapshot = fleet.snapshot(PATHS)
    fleet.put(encoded(a_cluster("c1", {"a": "x"})))

    sizes = snapshot.sizes(snapshot.order).tolist()

    assert sizes == [len(encoded(a_cluster("c0", {"a": "x"}))), len(encoded(large)), sizes[0]]


def test_without_columns_each_stands_for_itself() -> None:
    fleet = Fleet()
    fleet.put_many(encoded(a_cluster(f"c{number}")) for number in range(3))
    snapshot = fleet.snapshot()

    assert snapshot.groups(snapshot.order, None).of.tolist() == [0, 1, 2]
    assert snapshot.groups(snapshot.order, PATHS).of.tolist() == [0, 1, 2]
    assert snapshot.groups(snapshot.order, ()).of.tolist() == [0, 0, 0], "what reads nothing is the same everywhere"


def test_a_snapshot_that_nobody_keeps_costs_nothing_more() -> None:
    fleet = Fleet()
    fleet.put(encoded(a_cluster("c1")))
    snapshot = fleet.snapshot()
    del snapshot
    gc.collect()

    assert len(fleet._snapshots) == 0


def test_who_follows_is_told_of_every_row_that_changes() -> None:
    fleet = Fleet()
    fleet.put(encoded(a_cluster("c1")))
    changed = fleet.follow()
    assert changed == {0}
    changed.clear()

    fleet.put(encoded(a_cluster("c2")))
    fleet.remove("c1")

    assert changed == {0, 1}
