"""A consumer can tell a finished set of pages from one that is being written, and one change costs two writes."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.placement.generations import Marks, digest_of, next_marks
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.placements.test_guards import settle
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

PREFIX = "placement.muster.dev/"
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]
PAGES = f"{APPS}/placementdecisions"


def pages(hub: Driver) -> list[dict[str, Any]]:
    found = hub.get(PAGES)["items"]
    return sorted(found, key=lambda page: int(page["metadata"]["name"].rpartition("-")[2]))


def clusters(page: dict[str, Any]) -> list[str]:
    return [each["clusterName"] for each in page["status"]["decisions"]]


def finished(hub: Driver) -> tuple[str, str, str] | None:
    """As the page for consumers tells them: generation, pages and page generations, if what is there is whole."""
    found = pages(hub)
    marks = found[0]["metadata"].get("annotations", {}) if found else {}
    names = sorted(name for page in found for name in clusters(page))
    digest = hashlib.sha256("".join(f"{name}\n" for name in names).encode()).hexdigest()
    if marks.get(f"{PREFIX}digest") != digest or marks[f"{PREFIX}pages"] != str(len(found)):
        return None
    return tuple(marks[f"{PREFIX}{name}"] for name in ("generation", "pages", "page-generations"))


@pytest.mark.slow
def test_the_first_page_names_the_finished_generation_and_one_change_costs_two_writes() -> None:
    with driven_hub() as hub:
        hub.create(a_binding("global"), a_placement(predicates=PROD))
        hub.create(*(a_cluster(f"c{number:03d}", {"env": "prod"}) for number in range(240)))
        with controllers(hub.hub) as manager:
            eventually(lambda: len(hub.decided()), 240)
            settle(manager)
            found = finished(hub)
            assert found is not None
            generation = int(found[0])
            assert found[1] == "3"
            before = {page["metadata"]["name"]: page["metadata"]["resourceVersion"] for page in pages(hub)}
            last = int(max(before.values(), key=int))
            hub.patch(f"{CLUSTERS}/c239", {"metadata": {"labels": {"env": "test"}}})
            eventually(lambda: (finished(hub) or ("",))[0], str(generation + 1))
            after = pages(hub)
            assert finished(hub) == (
                str(generation + 1),
                "3",
                f"{found[2].split(',')[0]},{found[2].split(',')[1]},{generation + 1}",
            )
            # The last page and the first one were written, once each: every write is a new version.
            assert [page["metadata"]["resourceVersion"] != before[page["metadata"]["name"]] for page in after] == [
                True,
                False,
                True,
            ]
            writes = [each for each in _decision_events(hub, last) if each == "placementdecisions"]
            assert len(writes) <= 2
            settle(manager)
            # One from the first page, and one more that comes first in the alphabet: nothing else moves.
            for name, env, count in (("c000", "test", 238), ("c000", "prod", 239)):
                since = int(max((page["metadata"]["resourceVersion"] for page in pages(hub)), key=int))
                hub.patch(f"{CLUSTERS}/{name}", {"metadata": {"labels": {"env": env}}})
                eventually(partial(_whole, hub), count)
                settle(manager)
                assert len(_decision_events(hub, since)) <= 2
            generation += 2
            after = pages(hub)
        # A restart alone changes nothing.
        with controllers(hub.hub) as manager:
            settle(manager)
            assert finished(hub) is not None
            assert [page["metadata"]["resourceVersion"] for page in pages(hub)] == [
                page["metadata"]["resourceVersion"] for page in after
            ]
            # What somebody takes away comes back, as a generation of its own.
            first = f"{PAGES}/p1-decision-1"
            hub.patch(first, {"metadata": {"annotations": {f"{PREFIX}digest": None}}})
            eventually(lambda: (finished(hub) or ("",))[0], str(generation + 2))


def _whole(hub: Driver) -> int | None:
    """How many clusters there are in a finished generation."""
    return None if finished(hub) is None else len(hub.decided())


def _decision_events(hub: Driver, since: int) -> list[str]:
    """Changes of pages after a version, as the watch tells them."""
    path = f"{PAGES}?watch=true&resourceVersion={since}&timeoutSeconds=1"
    _, _, answer = hub.hub.request("GET", path)
    return ["placementdecisions" for line in answer.splitlines() if line]


def test_pages_that_a_killed_process_left_unfinished_are_all_of_the_next_generation() -> None:
    before = Marks(7, 2, (7, 3), digest_of(["a", "b"]))
    assert not before.fits([["a"], ["b", "c"]])
    assert next_marks(before, ["p-1", "p-2"], ["p-1", "p-2"], ["a", "b", "c"]) == Marks(
        8, 2, (8, 8), digest_of(["a", "b", "c"])
    )


@given(st.lists(st.text("abc-", min_size=1), unique=True), st.integers(1, 10**9))
def test_marks_are_read_as_they_are_written(names: list[str], generation: int) -> None:
    marks = Marks(generation, 1, (generation,), digest_of(names))
    assert Marks.read(marks.annotations()) == marks
    assert marks.fits([names])
    assert not marks.fits([[*names, "another"]])


def test_what_others_have_written_there_is_no_mark() -> None:
    assert Marks.read({}) is None
    assert Marks.read({f"{PREFIX}generation": "1", f"{PREFIX}pages": "x", f"{PREFIX}page-generations": "1"}) is None
    assert (
        Marks.read({f"{PREFIX}generation": "9" * 5000, f"{PREFIX}pages": "1", f"{PREFIX}page-generations": "1"}) is None
    )
