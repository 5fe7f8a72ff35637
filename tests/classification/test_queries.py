"""Queries in use: what is remembered, and when one is paused."""

from __future__ import annotations

from typing import Any

import msgspec

from muster.classification.outcomes import MATCH, NO_MATCH, Outcome
from muster.classification.projection import InventoryView
from muster.classification.queries import PAUSED_AFTER, Query
from muster.jq import Limits


def ask(query: Query, inventory: Any) -> Outcome:
    view = InventoryView(msgspec.json.encode(inventory))
    return query.outcome(query.key(view), view)


def test_a_query_runs_once_for_all_inventories_that_it_cannot_tell_apart() -> None:
    query = Query(".cpu.count > 4")
    answers = [
        ask(query, {"cpu": {"count": count}, "hostname": f"h{number}"}) for number, count in enumerate([2, 8, 2, 8])
    ]
    assert (answers, query.runs) == ([NO_MATCH, MATCH, NO_MATCH, MATCH], 2)


def test_a_failure_is_remembered_like_any_other_outcome() -> None:
    query = Query(".cpu.count > 0 and (def f: f; f)", Limits(steps=1000))
    first = [ask(query, {"cpu": {"count": 1}}) for _ in range(50)]
    assert (len(set(first)), query.runs, query.is_paused) == (1, 1, False)


def test_a_query_that_exhausts_its_budget_on_several_inventories_is_paused() -> None:
    query = Query(".n > 0 and (def f: f; f)", Limits(steps=1000))
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


def test_a_query_that_does_not_compile_says_so_and_never_runs() -> None:
    query = Query(".cpu.count ==")
    assert query.fault == "ERROR: <input>:1:14: unexpected EOF\n | .cpu.count ==\n | .............^"
    assert ask_paused(query) == "the query is not valid: unexpected EOF"
    assert not query.is_paused


def ask_paused(query: Query) -> str:
    assert query.paused is not None
    return query.paused.text
