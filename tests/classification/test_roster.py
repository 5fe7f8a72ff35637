"""The roster: what runs when, who is told, and that keeping up to date gives what starting afresh gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.classification import LABEL_PREFIX, Classification, Roster, report
from muster.classification.queries import PAUSED_AFTER
from tests.classification.builders import SIZE, a_classification, a_roster, put, settle

BIG = a_classification("big", query=".cpu.count > 4")
MANY = a_classification("many", "disks", "many", "[.disks[]?] | length > 2")
RUNAWAY = "(.n // 0) > 0 and (def f: f; . | f)"


def test_a_heartbeat_that_changes_nothing_read_runs_nothing_and_tells_nobody() -> None:
    roster = a_roster(BIG, MANY, a={"cpu": {"count": 8}})
    settle(roster, {"a": {"cpu": {"count": 8}}})
    roster.take_touched()
    runs = roster.work.runs
    put(roster, "a", {"cpu": {"count": 8, "flags": ["new"]}, "hostname": "h"}, {SIZE: "medium"}, {"size": "medium"})
    plan = roster.plan("a")
    assert plan is not None
    assert (roster.work.runs - runs, plan.is_empty, roster.take_touched()) == (0, True, set())


def test_an_event_without_any_change_is_not_even_looked_at() -> None:
    roster = a_roster(BIG, a={"cpu": {"count": 8}})
    roster.take_due()
    put(roster, "a", {"cpu": {"count": 8}})
    assert roster.take_due() == set()


def test_only_the_queries_that_read_a_change_run_again() -> None:
    roster = a_roster(BIG, MANY, a={"cpu": {"count": 8}})
    roster.plan("a")
    assert roster.work.runs == 2
    put(roster, "a", {"cpu": {"count": 2}})
    roster.plan("a")
    assert roster.work.runs == 3


def test_a_changed_query_runs_for_every_agent_and_the_others_do_not() -> None:
    inventories = {name: {"cpu": {"count": number}} for number, name in enumerate("abcde")}
    roster = a_roster(BIG, MANY, **inventories)
    settle(roster, inventories)
    assert (roster.query(BIG).runs, roster.query(MANY).runs) == (5, 1)
    changed = a_classification("many", "disks", "many", ".cpu.count == 3")
    roster.put_classification(changed)
    assert roster.take_due() == set("abcde")
    for name in inventories:
        roster.plan(name)
    assert (roster.query(BIG).runs, roster.query(changed).runs) == (5, 5)


def test_a_runaway_is_paused_for_everybody_whatever_the_order_of_agents() -> None:
    evil = a_classification("evil", "evil", "yes", RUNAWAY)
    inventories: dict[str, dict[str, Any]] = {f"a{number}": {"n": number} for number in range(8)}
    for order in (sorted(inventories), sorted(inventories, reverse=True)):
        roster = a_roster(evil, BIG, **{name: inventories[name] for name in order})
        settle(roster, inventories)
        found = report(roster, evil)
        assert (found.matched, found.errors) == (0, 8)
        assert found.conditions["QueryPaused"][:2] == ("True", "BudgetExhausted")
        assert roster.query(evil).runs <= PAUSED_AFTER + 1
        assert report(roster, BIG).errors == 0


def test_fewer_runaways_than_it_takes_leave_the_others_their_answers() -> None:
    evil = a_classification("evil", "evil", "yes", f"{RUNAWAY} or true")
    inventories: dict[str, dict[str, Any]] = {"a": {"n": 1}, "b": {"n": 2}, "c": {"n": 0}, "d": {}}
    roster = a_roster(evil, **inventories)
    settle(roster, inventories)
    found = report(roster, evil)
    assert (found.matched, found.errors, "QueryPaused" in found.conditions) == (2, 2, False)


def test_an_agent_that_goes_is_no_longer_counted() -> None:
    inventories = {"a": {"cpu": {"count": 8}}, "b": {"cpu": {"count": 9}}}
    roster = a_roster(BIG, **inventories)
    settle(roster, inventories)
    roster.take_touched()
    roster.remove_agent("a")
    assert (report(roster, BIG).matched, roster.take_touched()) == (1, {"big"})
    roster.remove_agent("nobody")


DOES_NOT_COMPILE = ".cpu.("
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("agent"), st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 4)),
        st.tuples(st.just("no agent"), st.sampled_from("abc")),
        st.tuples(
            st.just("classification"),
            st.sampled_from("pqr"),
            st.sampled_from(["size", "disks"]),
            st.sampled_from(["x", "y"]),
            st.sampled_from([".cpu.count > 4", "[.disks[]] | length > 2", "true", ".cpu.count", DOES_NOT_COMPILE]),
            st.booleans(),
        ),
        st.tuples(st.just("no classification"), st.sampled_from("pqr")),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(operations=OPERATIONS)
def test_keeping_up_to_date_gives_what_starting_afresh_gives(operations: list[tuple[Any, ...]]) -> None:
    kept = Roster()
    inventories: dict[str, dict[str, Any]] = {}
    classifications: dict[str, Classification] = {}
    for operation in operations:
        match operation:
            case ("agent", name, count, disks):
                inventory: dict[str, Any] = {"cpu": {"count": count}}
                if disks:
                    inventory["disks"] = list(range(disks))
                labels = dict(kept.labels(name)) if name in inventories else {}
                applied = {key.rpartition("/")[2]: value for key, value in labels.items()}
                inventories[name] = inventory
                put(kept, name, inventory, labels, applied)
            case ("no agent", name):
                inventories.pop(name, None)
                kept.remove_agent(name)
            case ("classification", name, key, value, query, deleting):
                old = classifications.get(name)
                if old is not None:
                    key, value = old.label.rpartition("/")[2], old.value
                classifications[name] = a_classification(name, key, value, query, deleting=deleting)
                kept.put_classification(classifications[name])
            case ("no classification", name):
                classifications.pop(name, None)
                kept.remove_classification(name)
        settle(kept, inventories)
    fresh = a_roster(*classifications.values())
    for name, inventory in inventories.items():
        # What does not compile keeps the labels that are there, so that they are part of the question.
        labels = (
            dict(kept.labels(name)) if any(operation[4:5] == (DOES_NOT_COMPILE,) for operation in operations) else {}
        )
        put(fresh, name, inventory, labels, {key.rpartition("/")[2]: value for key, value in labels.items()})
    settle(fresh, inventories)
    assert {name: dict(kept.labels(name)) for name in inventories} == {
        name: dict(fresh.labels(name)) for name in inventories
    }
    for each in classifications.values():
        assert report(kept, each) == report(fresh, each)


LENGTHY = a_classification("long", "long", "yes", "([range(0; 45000)] | add) > .cpu.count")


def test_a_quick_look_leaves_what_takes_long_and_its_labels_for_later() -> None:
    inventories = {name: {"cpu": {"count": 8}} for name in "ab"}
    roster = a_roster(LENGTHY, BIG, **inventories)
    assert [roster.look(name, quick=True) for name in "ab"] == [False, False]
    assert roster.query(LENGTHY).runs == 1  # once seen to be long it is not tried again in a hurry
    plans = {name: roster.plan_so_far(name) for name in "ab"}
    assert [plan and plan.changes for plan in plans.values()] == [{SIZE: "medium"}] * 2
    assert roster.look("a")
    assert roster.look("b", quick=True)  # the same cells, and so known by now
    for name in "ab":
        plan = roster.plan_so_far(name)
        assert plan is not None
        assert set(plan.changes.values()) == {"medium", "yes"}


def test_a_look_can_be_interrupted_after_any_query_and_goes_on_where_it_was() -> None:
    some = [a_classification(f"c{number}", f"k{number}", "yes", f".cpu.count > {number}") for number in range(6)]
    roster = a_roster(*some, a={"cpu": {"count": 4}})
    assert [roster.look("a", lambda: True) for _ in range(6)] == [False] * 5 + [True]
    assert roster.work.runs == 6
    put(roster, "a", {"cpu": {"count": 2}})
    assert not roster.look("a", lambda: True)
    put(roster, "a", {"cpu": {"count": 2}, "hostname": "h"})  # nothing that they read
    assert [roster.look("a", lambda: True) for _ in range(5)] == [False] * 4 + [True]
    assert roster.work.runs == 12
    plan = roster.plan_so_far("a")
    assert plan is not None
    assert sorted(plan.changes) == [some[0].label, some[1].label]


def test_ten_thousand_heartbeats_run_nothing() -> None:
    wanted = [a_classification(f"c{number}", f"k{number}", "yes", f".cpu.count > {number}") for number in range(20)]
    roster = a_roster(*wanted)
    for number in range(500):
        put(roster, f"a{number}", {"cpu": {"count": number % 50}, "hostname": "h"})
    settle(roster, {f"a{number}": {"cpu": {"count": number % 50}, "hostname": "h"} for number in range(500)})
    before = roster.work.runs, roster.work.hits
    for beat in range(20):
        for number in range(500):
            labels, applied = dict(roster.labels(f"a{number}")), dict(roster.applied(f"a{number}"))
            put(roster, f"a{number}", {"cpu": {"count": number % 50}, "hostname": f"h{beat}"}, labels, applied)
            plan = roster.plan(f"a{number}")
            assert plan is not None
            assert plan.is_empty
    assert (roster.work.runs, roster.work.hits) == before


def test_a_heartbeat_after_the_queries_have_changed_asks_only_the_new_ones() -> None:
    roster = a_roster(BIG, MANY, a={"cpu": {"count": 8}})
    roster.plan("a")
    roster.remove_classification("many")
    runs, hits = roster.work.runs, roster.work.hits
    put(roster, "a", {"cpu": {"count": 8}, "hostname": "h"})
    roster.plan("a")
    assert (roster.work.runs, roster.work.hits) == (runs, hits)
    roster.put_classification(a_classification("new", "boot", "uefi", '.boot.mode == "uefi"'))
    put(roster, "a", {"cpu": {"count": 8}, "hostname": "i"})
    roster.plan("a")
    assert (roster.work.runs, roster.work.hits) == (runs + 1, hits)


@pytest.mark.parametrize("unreadable", [b'{"cpu":' + b"[" * 5_000 + b"]" * 5_000 + b"}", b'{"cpu": {"count": 8}'])
def test_an_inventory_that_cannot_be_read_fails_every_query_until_it_can(unreadable: bytes) -> None:
    always = a_classification("always", "any", "yes", "true")
    roster = a_roster(BIG, always)
    for inventory, expected in ((unreadable, "QUERYERROR-"), (b'{"cpu":{"count":8}}', ""), (unreadable, "QUERYERROR-")):
        roster.put_agent("a", {}, {}, inventory)
        plan = roster.plan("a")
        assert plan is not None
        assert plan.changes == {BIG.label: f"{expected}medium", always.label: f"{expected}yes"}
    assert (
        report(roster, BIG)
        .conditions["QueryErrors"][2]
        .startswith("1 Agents failed to apply the classification: the inventory cannot be read: ")
    )
    roster.put_classification(a_classification("late", "late", "yes", "true"))
    late = roster.plan("a")
    assert late is not None
    assert set(late.changes.values()) == {"QUERYERROR-medium", "QUERYERROR-yes"}


def test_a_budget_that_one_host_exhausts_is_not_held_against_another_that_looks_the_same() -> None:
    query = 'any(.disks[]; .id == "wanted")'
    many = {"disks": [*({"id": f"d{number}"} for number in range(60_000)), {"id": "wanted"}]}
    few = {"disks": [{"id": "wanted"}]}
    for order in (("big", "small"), ("small", "big")):
        roster = a_roster(a_classification(query=query), **{name: {"big": many, "small": few}[name] for name in order})
        for name in order:
            roster.plan(name)
        small = roster.plan("small")
        assert small is not None
        assert small.changes == {SIZE: "medium"}


def test_one_host_alone_pauses_no_query_whatever_it_reports() -> None:
    query = "if .n > 0 then (def f: f; f) else true end"
    roster = a_roster(a_classification(query=query), bad={"n": 1}, good={"n": 0})
    for number in range(1, 8):
        put(roster, "bad", {"n": number})
        roster.plan("bad")
    good = roster.plan("good")
    assert good is not None
    assert good.changes == {SIZE: "medium"}
    for number in (2, 3):  # three of them do
        put(roster, f"bad-{number}", {"n": 10 * number})
        roster.plan(f"bad-{number}")
    assert roster.query(a_classification(query=query)).is_paused


def test_a_host_whose_budget_was_exhausted_is_asked_again_when_it_reports_less() -> None:
    query = 'any(.disks[]; .id == "wanted")'
    many = {"disks": [*({"id": f"d{number}"} for number in range(60_000)), {"id": "wanted"}]}
    roster = a_roster(a_classification(query=query), host=many)
    roster.plan("host")
    put(roster, "host", {"disks": [{"id": "wanted"}]})
    plan = roster.plan("host")
    assert plan is not None
    assert plan.changes == {SIZE: "medium"}


def test_a_query_that_no_longer_compiles_takes_no_label_away() -> None:
    inventories = {"a": {"cpu": {"count": 8}}, "b": {"cpu": {"count": 2}}}
    roster = a_roster(a_classification(query=".cpu.count > 4"), **inventories)
    settle(roster, inventories)
    assert (roster.labels("a"), roster.labels("b")) == ({SIZE: "medium"}, {})
    roster.put_classification(a_classification(query=".cpu.count >"))
    settle(roster, inventories)
    assert (roster.labels("a"), roster.labels("b")) == ({SIZE: "medium"}, {SIZE: "QUERYERROR-medium"})
    # The same after a restart, which has not seen the query that was good.
    again = Roster()
    put(again, "a", inventories["a"], {SIZE: "medium"}, {"size": "medium"})
    again.put_classification(a_classification(query=".cpu.count >"))
    settle(again, inventories)
    assert again.labels("a") == {SIZE: "medium"}
    again.put_classification(a_classification(query=".cpu.count > 100"))
    settle(again, inventories)
    assert again.labels("a") == {}


def test_a_query_that_does_not_compile_takes_the_key_from_no_other() -> None:
    inventories = {"a": {"cpu": {"count": 8}}}
    roster = a_roster(a_classification("first", value="big", query="false"), a_classification("second"), **inventories)
    settle(roster, inventories)
    roster.put_classification(a_classification("first", value="big", query="((("))
    settle(roster, inventories)
    assert roster.labels("a") == {SIZE: "medium"}


def test_a_label_that_became_a_mistake_keeps_what_was_set() -> None:
    inventories = {"a": {"cpu": {"count": 8}}}
    roster = a_roster(a_classification(), **inventories)
    settle(roster, inventories)
    for key, value in (("no key!", "medium"), ("size", "no value!"), ("size", "")):
        roster.put_classification(a_classification(key=key, value=value))
        settle(roster, inventories)
        assert roster.labels("a") == {SIZE: "medium"}
        found = report(roster, roster.classification("c") or a_classification())
        assert found.conditions["QueryValid"][0] == "False"
    # After a restart nobody knows whose label it was: it stays as long as there is somebody whose it may be.
    again = Roster()
    put(again, "a", inventories["a"], {SIZE: "medium"}, {"size": "medium"})
    again.put_classification(a_classification(key="no key!"))
    settle(again, inventories)
    assert again.labels("a") == {SIZE: "medium"}
    again.remove_classification("c")
    settle(again, inventories)
    assert again.labels("a") == {}


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), MemoryError(), OverflowError()])
def test_a_fault_of_the_language_is_a_failure_of_one_query_on_one_host(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    roster = a_roster(a_classification("bad", "odd", query=".x"), a_classification("good"), a={"x": 1})
    program = roster.query(a_classification("bad", "odd", query=".x")).program

    class Broken:
        def run(self, *_: Any, **__: Any) -> Any:
            raise error

    monkeypatch.setattr(roster.query(a_classification("bad", "odd", query=".x")), "program", Broken())
    plan = roster.plan("a")
    assert program is not None
    assert plan is not None
    assert plan.changes == {SIZE: "medium", f"{LABEL_PREFIX}odd": "QUERYERROR-medium"}
