"""The fleet keeps masks true, and tells exactly those who read what changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.fleet import Fleet, masks, score_of
from muster.fleet.columns import Column
from muster.selectors import Selector, Verdict
from muster.selectors.labels import compile_claim_selector, compile_label_selector
from muster.selectors.paths import key_path, label_path, score_path
from tests.builders import a_cluster, a_score, a_taint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

AMAZON = compile_label_selector({"matchLabels": {"cloud": "Amazon"}})
EUROPE = compile_claim_selector({"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]})
EVERYTHING = compile_label_selector({})


def encoded(obj: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(obj)


def a_fleet(*clusters: Mapping[str, Any]) -> Fleet:
    fleet = Fleet()
    fleet.put_many(encoded(cluster) for cluster in clusters)
    return fleet


def selected(fleet: Fleet, selector: Selector) -> list[str]:
    return sorted(fleet.names(fleet.mask(selector).selected.nonzero()[0].tolist()))


def test_a_selector_is_evaluated_once_per_distinct_value() -> None:
    seen: list[str] = []

    class Counting:
        is_empty = False
        reads = AMAZON.reads

        def match(self, obj: Mapping[str, Any]) -> Any:
            seen.append(obj["metadata"]["name"])
            return AMAZON.match(obj)

    fleet = a_fleet(*(a_cluster(f"c{number}", {"cloud": "Amazon" if number % 2 else "Azure"}) for number in range(50)))
    assert fleet.mask(Counting()).selected.sum() == 25
    assert len(seen) == 2


def test_a_changed_label_tells_its_readers_and_nobody_else() -> None:
    fleet = a_fleet(a_cluster("a", {"cloud": "Azure"}, {"region": "eu"}))
    fleet.subscribe("clouds", [AMAZON], [])
    fleet.subscribe("regions", [EUROPE], [])
    fleet.subscribe("taints", [], [key_path("spec", "taints")])
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Amazon"}, {"region": "eu"}))) == {"clouds"}
    assert selected(fleet, AMAZON) == ["a"]


def test_a_heartbeat_tells_nobody() -> None:
    fleet = a_fleet(a_cluster("a", {"cloud": "Amazon"}))
    fleet.subscribe("clouds", [AMAZON], [])
    beat = a_cluster("a", {"cloud": "Amazon"}, conditions=[{"type": "Available", "lastTransitionTime": "now"}])
    assert fleet.put(encoded(beat)) == frozenset()


def test_a_change_that_flips_no_verdict_tells_nobody() -> None:
    fleet = a_fleet(a_cluster("a", {"cloud": "Azure"}))
    fleet.subscribe("clouds", [AMAZON], [])
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Google"}))) == frozenset()


def test_new_and_removed_clusters_tell_those_who_select_them() -> None:
    fleet = a_fleet()
    fleet.subscribe("all", [EVERYTHING], [])
    fleet.subscribe("clouds", [AMAZON], [])
    assert fleet.put(encoded(a_cluster("a"))) == {"all"}
    assert fleet.remove("a") == {"all"}
    assert fleet.remove("a") == frozenset()
    assert (len(fleet), selected(fleet, EVERYTHING)) == (0, [])


def test_clusters_on_their_way_out_are_not_present() -> None:
    leaving = a_cluster("a")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    fleet = a_fleet(leaving, a_cluster("b"))
    assert fleet.names(fleet.present.nonzero()[0].tolist()) == ["b"]


def test_scores_tell_their_readers_when_they_change_and_when_they_expire() -> None:
    fleet = a_fleet(a_cluster("a"))
    fleet.advance(datetime(2026, 1, 1, tzinfo=UTC))
    fleet.subscribe("scored", [], [score_path("usage")])
    score = score_of(a_score("a", {"cpu": 3}, valid_until="2026-01-01T01:00:00Z"))
    assert fleet.put_score("a", "usage", score) == {"scored"}
    assert fleet.put_score("a", "usage", score) == frozenset()
    assert fleet.put_score("a", "other", score) == frozenset()
    assert fleet.scores.next_expiry() == datetime(2026, 1, 1, 1, tzinfo=UTC)
    assert fleet.advance(datetime(2026, 1, 1, 0, 30, tzinfo=UTC)) == frozenset()
    assert fleet.advance(datetime(2026, 1, 1, 2, tzinfo=UTC)) == {"scored"}
    assert fleet.scores.next_expiry() is None


def test_score_items_carry_a_quantity_as_number_or_text() -> None:
    given_scores = {
        "status": {
            "scores": [
                {"name": "cpu", "value": 3, "quantity": "4"},
                {"name": "mem", "value": 1, "quantity": "1.5Gi"},
                {"name": "plain", "value": 7},
            ]
        }
    }
    assert score_of(given_scores).items == (
        {"name": "cpu", "value": 3, "quantity": 4},
        {"name": "mem", "value": 1, "quantity": "1.5Gi"},
        {"name": "plain", "value": 7},
    )


def test_values_outside_of_the_scope_concern_nobody() -> None:
    fleet = a_fleet(a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"}))
    fleet.subscribe("taints", [], [key_path("spec", "taints")], within=[AMAZON])
    assert fleet.put(encoded(a_cluster("b", {"cloud": "Azure"}, taints=[a_taint("x")]))) == frozenset()
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Amazon"}, taints=[a_taint("x")]))) == {"taints"}
    assert fleet.put(encoded(a_cluster("b", {"cloud": "Amazon"}, taints=[a_taint("x")]))) == {"taints"}
    assert fleet.remove("a") == {"taints"}


def test_what_nobody_reads_any_more_is_dropped() -> None:
    fleet = a_fleet(a_cluster("a", {"cloud": "Amazon"}))
    fleet.subscribe("clouds", [AMAZON], [key_path("spec", "taints")])
    fleet.unsubscribe("clouds")
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Azure"}))) == frozenset()
    assert not fleet._masks
    assert list(fleet._columns) == [key_path("metadata", "deletionTimestamp")]


def test_names_keep_their_order_when_clusters_come_and_go() -> None:
    fleet = a_fleet(a_cluster("b"), a_cluster("d"))
    fleet.put(encoded(a_cluster("c")))
    fleet.put(encoded(a_cluster("a")))
    fleet.remove("b")
    rows = fleet.rows()
    assert fleet.names(rows[fleet.ranks[rows].argsort()].tolist()) == ["a", "c", "d"]


def test_of_two_objects_with_one_name_in_a_load_the_last_counts() -> None:
    fleet = a_fleet(a_cluster("b"), a_cluster("a", {"cloud": "Azure"}), a_cluster("a", {"cloud": "Amazon"}))
    assert (len(fleet), fleet.names(fleet.rows().tolist())) == (2, ["a", "b"])
    assert selected(fleet, AMAZON) == ["a"]


def test_a_first_load_that_cannot_be_read_leaves_the_fleet_empty() -> None:
    fleet = Fleet()
    with pytest.raises(msgspec.MsgspecError):
        fleet.put_many([encoded(a_cluster("a")), b"{}"])
    assert (len(fleet), fleet.rows().tolist(), fleet.row("a")) == (0, [], None)
    fleet.put_many([encoded(a_cluster("b", {"cloud": "Amazon"}))])
    assert selected(fleet, AMAZON) == ["b"]


def test_who_follows_from_before_the_first_load_hears_of_all_rows() -> None:
    fleet = Fleet()
    changed = fleet.follow()
    fleet.put_many([encoded(a_cluster(name)) for name in "ba"])
    assert changed == {0, 1}


def test_masks_over_rows_with_gaps_are_those_of_each_object() -> None:
    fleet = a_fleet(*(a_cluster(f"c{at:02d}", {"cloud": "Amazon" if at % 3 else "Azure"}) for at in range(30)))
    for at in (0, 7, 8, 29):
        fleet.remove(f"c{at:02d}")
    assert selected(fleet, AMAZON) == [f"c{at:02d}" for at in range(30) if at % 3 and at not in (7, 8, 29)]
    assert fleet.column(label_path("cloud")).codes[:30].tolist().count(-1) == 4


def test_a_fleet_grows_beyond_its_first_capacity() -> None:
    fleet = a_fleet()
    fleet.subscribe("clouds", [AMAZON], [])
    for number in range(3000):
        fleet.put(encoded(a_cluster(f"c{number:04d}", {"cloud": "Amazon" if number % 3 == 0 else "Azure"})))
    assert (len(fleet), len(selected(fleet, AMAZON))) == (3000, 1000)


LABELS = st.dictionaries(st.sampled_from(["cloud", "tier"]), st.sampled_from(["Amazon", "Azure", ""]), max_size=2)
CLAIMS = st.dictionaries(st.sampled_from(["region", "id"]), st.sampled_from(["eu", "us"]), max_size=2)
EVENTS = st.lists(st.tuples(st.sampled_from("abcd"), st.none() | st.tuples(LABELS, CLAIMS)), min_size=1, max_size=25)
SELECTORS: list[Selector] = [
    AMAZON,
    EUROPE,
    EVERYTHING,
    compile_label_selector({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}),
    compile_label_selector({"matchLabels": {"tier": "", "cloud": "Azure"}}),
]


@settings(max_examples=150)
@given(events=EVENTS)
def test_after_any_events_the_masks_equal_those_of_naive_evaluation(
    events: list[tuple[str, tuple[dict[str, str], dict[str, str]] | None]],
) -> None:
    fleet, naive = Fleet(), dict[str, dict[str, Any]]()
    for number, selector in enumerate(SELECTORS):
        fleet.subscribe(number, [selector], [])
    for name, facts in events:
        before = {number: _chosen(naive, selector) for number, selector in enumerate(SELECTORS)}
        if facts is None:
            naive.pop(name, None)
            told = fleet.remove(name)
        else:
            naive[name] = a_cluster(name, *facts)
            told = fleet.put(encoded(naive[name]))
        after = {number: _chosen(naive, selector) for number, selector in enumerate(SELECTORS)}
        assert told == {number for number in after if after[number] != before[number]}
    for selector in SELECTORS:
        assert selected(fleet, selector) == _chosen(naive, selector)


def _chosen(clusters: Mapping[str, Mapping[str, Any]], selector: Selector) -> list[str]:
    return sorted(name for name, each in clusters.items() if selector.match(each).verdict is Verdict.YES)


def test_steps_that_are_left_in_between_are_taken_up_again() -> None:
    selector = compile_label_selector(
        {"matchExpressions": [{"key": "n", "operator": "In", "values": ["3", "4", "20"]}]}
    )
    fleet = a_fleet(*(a_cluster(f"c{number:02d}", {"n": str(number)}) for number in range(20)))
    fleet.subscribe("someone", [selector], (), lazily=True)
    for _ in range(8):
        next(iter(fleet.steps("someone")))  # one step, as somebody does who has other work
    # What has been evaluated changes, goes, comes.
    fleet.put(encoded(a_cluster("c00", {"n": "4"})))
    fleet.remove("c03")
    fleet.put(encoded(a_cluster("c20", {"n": "20"})))
    for _ in fleet.steps("someone"):
        pass
    assert sorted(fleet.names(fleet.mask(selector).selected.nonzero()[0].tolist())) == ["c00", "c04", "c20"]
    assert fleet.put(encoded(a_cluster("c04", {"n": "x"}))) == {"someone"}


_PAUSES = 7  # after each of two columns, and each of five evaluations
BOTH = compile_label_selector(
    {"matchLabels": {"all": "alike"}, "matchExpressions": [{"key": "n", "operator": "In", "values": ["1", "3"]}]}
)


def a_numbered_cluster(name: str, n: int) -> dict[str, Any]:
    return a_cluster(name, {"all": "alike", "n": str(n)})


@pytest.mark.parametrize("at", range(_PAUSES))
def test_clusters_may_go_in_any_pause_of_an_evaluation(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masks, "_CELLS", 8)  # rows in parts of four
    fleet = a_fleet(*(a_numbered_cluster(f"c{number:02d}", number % 5) for number in range(20)))
    fleet.subscribe("someone", [BOTH], (), lazily=True)
    for pause, _ in enumerate(fleet.steps("someone")):
        if pause == at:
            fleet.remove("c01")
            fleet.remove("c16")
    left = [f"c{number:02d}" for number in range(20) if number % 5 in (1, 3) and number not in (1, 16)]
    assert selected(fleet, BOTH) == left


@pytest.mark.parametrize("at", range(_PAUSES))
def test_a_load_in_any_pause_begins_evaluations_anew(at: int) -> None:
    clusters = {f"c{number}": a_numbered_cluster(f"c{number}", number) for number in range(5)}
    fleet = a_fleet(*clusters.values())
    for key in ("first", "second"):
        fleet.subscribe(key, [BOTH], (), lazily=True)
    changed = {f"c{number}": a_numbered_cluster(f"c{number}", number + 1) for number in range(5)}
    changed |= {f"d{number}": a_numbered_cluster(f"d{number}", number) for number in range(5)}
    for pause, _ in enumerate(fleet.steps("first")):
        if pause == at:
            fleet.put_many(map(encoded, changed.values()))
            for _ in fleet.steps("second"):
                pass
            clusters |= changed
    assert selected(fleet, BOTH) == _chosen(clusters, BOTH)


@pytest.mark.parametrize("at", range(_PAUSES))
def test_who_was_at_it_when_a_load_came_goes_on_with_what_it_brought(at: int) -> None:
    clusters = {f"c{number}": a_numbered_cluster(f"c{number}", number) for number in range(5)}
    fleet = a_fleet(*clusters.values())
    fleet.subscribe("someone", [BOTH], (), lazily=True)
    names = [f"{each}{number}" for each in "cd" for number in range(5)]
    changed = {name: a_numbered_cluster(name, int(name[1]) + 1) for name in names}
    for pause, _ in enumerate(fleet.steps("someone")):
        if pause == at:
            fleet.put_many(map(encoded, changed.values()))
            clusters |= changed
    assert selected(fleet, BOTH) == _chosen(clusters, BOTH)
    assert fleet.put(encoded(a_numbered_cluster("d0", 0))) == {"someone"}
    assert "d0" not in selected(fleet, BOTH)


def test_a_deferred_selector_is_evaluated_when_its_subscriber_is_worked_on() -> None:
    seen: list[str] = []

    class Counting:
        is_empty = False
        reads = AMAZON.reads

        def match(self, obj: Mapping[str, Any]) -> Any:
            seen.append(obj["metadata"]["name"])
            return AMAZON.match(obj)

    selector, fleet = Counting(), a_fleet(a_cluster("a", {"cloud": "Azure"}), a_cluster("b", {"cloud": "Amazon"}))
    fleet.subscribe("slow", [selector], ())
    fleet.defer(selector)
    seen.clear()
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Elsewhere"}))) == {"slow"}
    assert seen == []
    for _ in fleet.steps("slow"):
        pass
    assert seen == ["a"]
    assert selected(fleet, selector) == ["b"]


class Failing:
    """A selector with a bug: it raises as long as it is told to."""

    is_empty = False
    reads = AMAZON.reads
    broken = True

    def match(self, obj: Mapping[str, Any]) -> Any:
        if self.broken:
            raise MemoryError
        return AMAZON.match(obj)


def test_an_evaluation_that_failed_is_begun_anew_and_never_passes_for_a_finished_one() -> None:
    fleet, failing = a_fleet(a_cluster("a", {"cloud": "Amazon"}), a_cluster("b")), Failing()
    fleet.subscribe("who", [failing], [], lazily=True)
    for _ in range(3):
        with pytest.raises(MemoryError):
            list(fleet.steps("who"))
        with pytest.raises(MemoryError):
            fleet.mask(failing)
    failing.broken = False
    list(fleet.steps("who"))
    assert selected(fleet, failing) == ["a"]


@pytest.mark.parametrize("ask", [lambda fleet: fleet.mask(BOTH), lambda fleet: list(fleet.steps("who"))])
def test_a_column_that_could_not_be_filled_never_passes_for_a_full_one(
    ask: Callable[[Fleet], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = a_fleet(*(a_numbered_cluster(f"c{number}", number) for number in range(5)))
    fleet.subscribe("who", [BOTH], [], lazily=True)
    with monkeypatch.context() as out_of_memory:
        out_of_memory.setattr(Column, "fill", _fails)
        for _ in range(3):
            with pytest.raises(MemoryError):
                ask(fleet)
    assert selected(fleet, BOTH) == ["c1", "c3"]


def _fails(*_: object) -> None:
    raise MemoryError


def test_a_selector_that_fails_on_a_changed_object_keeps_nobody_else_from_being_told() -> None:
    fleet, failing = a_fleet(a_cluster("a"), a_cluster("b")), Failing()
    failing.broken = False
    fleet.subscribe("fails", [failing], [])
    fleet.subscribe("works", [AMAZON], [])
    failing.broken = True
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Amazon"}))) == {"fails", "works"}
    assert selected(fleet, AMAZON) == ["a"]
    with pytest.raises(MemoryError):
        list(fleet.steps("fails"))
    failing.broken = False
    assert selected(fleet, failing) == ["a"]


def test_the_watcher_is_told_before_each_evaluation() -> None:
    fleet = a_fleet(a_cluster("a"), a_cluster("b", {"cloud": "Amazon"}))
    told: list[Selector] = []
    fleet.watcher = lambda mask: told.append(mask.selector)
    fleet.mask(AMAZON)
    assert set(told) == {AMAZON}
    told.clear()
    fleet.put(encoded(a_cluster("a", {"cloud": "Amazon"})))
    assert told == [AMAZON]
