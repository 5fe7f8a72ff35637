"""FleetFacets, and the index it counts with."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from typing import Any

import msgspec
import pytest

from muster.controllers.questions.kinds import Refusal
from muster.fleet import Fleet
from muster.questions import facet_index
from muster.questions import observer as observer_module
from muster.questions.asked import Scope
from muster.questions.facet_index import FacetIndex
from tests.builders import a_cluster, a_set, a_taint
from tests.questions.observing import EVERYTHING, an_observer, answer, body_of, evaluation

FLEET = (
    a_cluster("c1", {"cloud": "Amazon", "tier": "gold"}, {"id": "1"}, version={"kubernetes": "v1.30.1"}),
    a_cluster("c2", {"cloud": "Azure"}, {"id": "2"}, version={"kubernetes": "v1.30.1"}),
    a_cluster("c3", {"cloud": "Amazon"}, taints=[a_taint("gpu"), a_taint("gpu", "PreferNoSelect")]),
    a_cluster("c4", conditions=[{"type": "Joined", "status": "True"}]),
)
SETS = (a_set("amazons", {"cloud": "Amazon"}), a_set("secret", {"cloud": "Azure"}))


def facets(scope: Scope = EVERYTHING, **spec: Any) -> Any:
    return answer(an_observer(*FLEET, *SETS), "FleetFacets", spec, scope)


def told(status: Any) -> dict[tuple[str, str], tuple[int, int, list[tuple[str, int]]]]:
    return {
        (each["facet"], each["key"]): (
            each["clusters"],
            each["distinct"],
            [(value["value"], value["count"]) for value in each["values"]],
        )
        for each in status["facets"]
    }


def test_keys_and_values_are_counted() -> None:
    status = facets()

    assert (status["clusters"], status["hidden"], status["moreKeys"]) == (4, 0, 0)
    assert told(status) == {
        ("label", "cloud"): (3, 2, [("Amazon", 2), ("Azure", 1)]),
        ("label", "tier"): (1, 1, [("gold", 1)]),
        ("claim", "id"): (2, 2, [("1", 1), ("2", 1)]),
        ("version", ""): (2, 1, [("v1.30.1", 2)]),
        ("set", ""): (3, 2, [("amazons", 2), ("secret", 1)]),
        ("condition", "Joined"): (1, 1, [("True", 1)]),
        ("taint", "gpu"): (1, 1, [("NoSelect, PreferNoSelect", 1)]),
    }


def test_only_what_is_asked_for_is_told() -> None:
    assert told(facets(facets=["label"], keyPrefix="cl", mostValues=1)) == {("label", "cloud"): (3, 2, [("Amazon", 2)])}
    fewer = facets(facets=["label"], mostKeys=1)
    assert (list(told(fewer)), fewer["moreKeys"]) == ([("label", "cloud")], 1)


def test_clusters_that_match_are_counted() -> None:
    status = facets(expression="managedCluster.metadata.labels.cloud == 'Amazon'", facets=["label", "set"])

    assert status["clusters"] == 2
    assert told(status) == {
        ("label", "cloud"): (2, 1, [("Amazon", 2)]),
        ("label", "tier"): (1, 1, [("gold", 1)]),
        ("set", ""): (2, 1, [("amazons", 2)]),
    }


def test_who_may_get_some_hears_of_these_and_of_the_sets_he_may_get() -> None:
    status = facets(Scope(names=frozenset({"c2", "c4"}), bound="apps", sets=frozenset({"amazons"})))

    assert (status["clusters"], status["hidden"]) == (2, 2)
    assert told(status) == {
        ("label", "cloud"): (1, 1, [("Azure", 1)]),
        ("claim", "id"): (1, 1, [("2", 1)]),
        ("version", ""): (1, 1, [("v1.30.1", 1)]),
        ("condition", "Joined"): (1, 1, [("True", 1)]),
    }


def test_a_broken_expression_is_told_with_its_place() -> None:
    status = facets(expression="nope")

    assert (status["valid"], status["facets"]) == (False, [])
    assert status["diagnostics"][0]["field"] == "spec.expression"


@pytest.mark.parametrize("seed", range(20))
def test_the_index_counts_what_a_new_one_would_whatever_comes_and_goes(seed: int) -> None:
    chance = random.Random(seed)
    fleet = Fleet()
    index = FacetIndex(fleet)
    there: dict[str, dict[str, Any]] = {}
    for _ in range(120):
        name = f"c{chance.randrange(30)}"
        if name in there and chance.random() < 0.3:
            del there[name]
            fleet.remove(name)
        else:
            labels = {chance.choice("abcd"): f"v{chance.randrange(8)}" for _ in range(chance.randrange(4))}
            there[name] = a_cluster(name, labels, {"unique": str(chance.random())})
            fleet.put(msgspec.json.encode(there[name]))
        if chance.random() < 0.2:
            list(index.catch_up())
    list(index.catch_up())

    for names in (set(there), set(list(there)[::2])):
        expected = Counter((key, value) for name in names for key, value in there[name]["metadata"]["labels"].items())
        counts = index.counts(index.rows_of(names))
        found = {
            (key, value): int(counts[number])
            for (facet, key), held in index.keys.items()
            if facet == "label"
            for value, number in held.numbers.items()
            if counts[number]
        }
        assert found == expected
    assert (index.counts() == index.counts(index.rows_of(there))).all()
    assert sum(len(held.numbers) for held in index.keys.values()) == int((index.counts() > 0).sum())


def test_a_cluster_that_comes_into_the_row_of_another_meanwhile_is_not_counted_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first asker waits for a look at each cluster; meanwhile one that he may get goes, and a secret one comes."""
    observer = an_observer(*(a_cluster(f"c{number:03d}", {"n": f"v{number}"}) for number in range(200)))
    world = observer._world
    scope = Scope(names=frozenset(f"c{number:03d}" for number in range(200)))
    spec = {"expression": "managedCluster.metadata.labels.n.startsWith('v')", "mostValues": 1000}

    async def ask() -> Any:
        await observer.answer(body_of("FleetFacets", {}))
        fleet = world.fleet
        original = fleet.snapshot

        def changing(*given: Any) -> Any:
            found = original(*given)
            world.remove_cluster("c007")
            world.put_cluster("secret", msgspec.json.encode(a_cluster("secret", {"n": "hidden"})))
            return found

        monkeypatch.setattr(fleet, "snapshot", changing)
        return msgspec.json.decode(await observer.answer(body_of("FleetFacets", spec, scope)))

    status = asyncio.run(ask())

    values = {value["value"] for each in status["facets"] for value in each["values"]}
    assert values == {f"v{number}" for number in range(200) if number != 7}


def test_while_a_large_fleet_is_counted_for_the_first_time_askers_are_told_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(facet_index, "_MANY", 2)
    observer = an_observer(*(a_cluster(f"c{number}", {"a": "b"}) for number in range(3)))

    for kind, spec in (("FleetFacets", {}), ("Completion", {"expression": ""})):
        with pytest.raises(Refusal) as refusal:
            answer(observer, kind, spec)
        assert refusal.value.code == 503
    assert evaluation(observer, expression="true")["matched"] == 3  # which needs no counts

    async def warm() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(observer.run(), 0.2)

    asyncio.run(warm())
    assert answer(observer, "FleetFacets", {})["clusters"] == 3


@pytest.mark.parametrize(("patience", "is_counted"), [(30.0, False), (0.0, True)])
def test_decisions_come_before_the_first_count_of_a_large_fleet_for_a_while(
    patience: float, is_counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facet_index, "_MANY", 2)
    monkeypatch.setattr(observer_module, "_PATIENCE", patience)
    observer = an_observer(*(a_cluster(f"c{number}", {"a": "b"}) for number in range(3)))

    async def warm() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(observer.run(lambda: True), 0.2)

    asyncio.run(warm())
    if is_counted:
        assert answer(observer, "FleetFacets", {})["clusters"] == 3
    else:
        with pytest.raises(Refusal):
            answer(observer, "FleetFacets", {})
