"""Queries in use: what is remembered, and when one is paused."""

from __future__ import annotations

from typing import Any

from muster.classification.outcomes import MATCH, NO_MATCH, Outcome
from muster.classification.projection import Layout
from muster.classification.queries import PAUSED_AFTER, Query, Work
from muster.jq import Limits


def ask(query: Query, inventory: Any) -> Outcome:
    layout = Layout(query.paths)
    outcome = query.outcome(layout.key_of(query.paths)(layout.row(inventory)), lambda: inventory)
    assert outcome is not None
    return outcome


def test_a_query_runs_once_for_all_inventories_that_it_cannot_tell_apart() -> None:
    query = Query(".cpu.count > 4")
    answers = [
        ask(query, {"cpu": {"count": count}, "hostname": f"h{number}"}) for number, count in enumerate([2, 8, 2, 8])
    ]
    assert (answers, query.runs) == ([NO_MATCH, MATCH, NO_MATCH, MATCH], 2)


def test_a_failure_is_remembered_like_any_other_outcome() -> None:
    query = Query(".cpu.count > 0 and (def f: f; f)", limits=Limits(steps=1000))
    first = [ask(query, {"cpu": {"count": 1}}) for _ in range(50)]
    assert (len(set(first)), query.runs, query.is_paused) == (1, 1, False)


def test_a_query_that_exhausts_its_budget_on_several_inventories_is_paused() -> None:
    query = Query(".n > 0 and (def f: f; f)", limits=Limits(steps=1000))
    answers = [ask(query, {"n": number + 1}) for number in range(10)]
    assert query.runs == PAUSED_AFTER
    assert query.is_paused
    assert answers[-1].text.startswith("paused: the query exhausted its budget on 3 different inventories;")
    assert ask(query, {"n": 0}) == answers[-1]  # not even where it would be quick


def test_what_is_remembered_is_bounded() -> None:
    query = Query(".n > 5")
    for number in range(20_000):
        ask(query, {"n": number})
    runs = query.runs
    ask(query, {"n": 19_999})
    assert query.runs == runs
    ask(query, {"n": 0})
    assert query.runs == runs + 1


def test_a_query_in_a_hurry_is_given_up_and_not_tried_in_a_hurry_again() -> None:
    query = Query("([range(0; .n)] | add) > 5")
    assert query.outcome(1, lambda: {"n": 10}, quick=True) == MATCH
    assert query.outcome(2, lambda: {"n": 40_000}, quick=True) is None
    assert query.outcome(3, lambda: {"n": 10}, quick=True) is None
    assert (query.outcome(1, lambda: None, quick=True), query.runs) == (MATCH, 2)  # what is known is quick
    assert query.outcome(2, lambda: {"n": 40_000}) == MATCH
    assert (query.outcome(2, lambda: None, quick=True), query.runs) == (MATCH, 3)
    assert not query.is_paused  # a hurried end is not held against it


def test_work_is_counted_together_and_outlives_the_query() -> None:
    work = Work()
    for text in (".n > 5", '.n - "x"', ".n > 0 and (def f: f; f)"):
        query = Query(text, work, Limits(steps=1000))
        for number in (1, 2, 3, 4, 1):
            ask(query, {"n": number})
    assert work == Work(runs=4 + 4 + 3, failures=4 + 3, hits=1 + 1, pauses=1)


def test_a_query_that_does_not_compile_says_so_and_never_runs() -> None:
    query = Query(".cpu.count ==")
    assert query.fault == "ERROR: <input>:1:14: unexpected EOF\n | .cpu.count ==\n | .............^"
    assert ask_paused(query) == "the query is not valid: unexpected EOF"
    assert not query.is_paused


def ask_paused(query: Query) -> str:
    assert query.paused is not None
    return query.paused.text
