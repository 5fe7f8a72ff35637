"""Why a query says what it says."""

from __future__ import annotations

from muster.classification import Part, explain_query
from muster.classification.outcomes import MATCH, NO_MATCH, failed

HOST = {"cpu": {"count": 2}, "disks": [{"size": 5}, {"size": 50}]}


def test_the_parts_of_a_query_are_shown_with_their_values() -> None:
    found = explain_query(".cpu.count == 2 and .cpu.count > 3", HOST)
    assert found.outcome == NO_MATCH
    shown = {part.text: part.values for part in found.parts}
    assert shown[".cpu.count == 2"] == (True,)
    assert shown[".cpu.count > 3"] == (False,)
    assert "2" not in shown  # constants explain nothing


def test_a_part_that_is_evaluated_often_shows_its_first_values() -> None:
    found = explain_query("[.disks[] | select(.size > 10)] | length == 1", HOST)
    assert found.outcome == MATCH
    assert Part(".size > 10", (False, True)) in found.parts
    many = explain_query("[range(20) | . % 7] | add > 1", {})
    assert Part(". % 7", (0, 1, 2, 3, 4), 15) in many.parts


def test_what_went_wrong_is_the_outcome() -> None:
    assert explain_query(".nics[]", HOST).outcome == failed("cannot iterate over: null")
    assert explain_query(".cpu", HOST).outcome == failed('expected true or false, found the object {"count":2}')
    assert explain_query(".cpu ==", HOST).outcome == failed("the query is not valid: unexpected EOF")
    runaway = explain_query("def f: f; f", HOST)
    assert runaway.outcome.exhausted


def test_what_is_written_twice_is_shown_once_unless_it_differs() -> None:
    found = explain_query(".cpu.count > 1 and .cpu.count < 3", HOST)
    assert [part.text for part in found.parts].count(".cpu.count") == 1
    differs = explain_query("(.cpu | .count == 2) and (.disks[0] | .count == null)", HOST)
    assert [part.values for part in differs.parts if part.text == ".count"] == [(2,), (None,)]


def test_a_step_that_fails_gives_nothing() -> None:
    assert explain_query("[.nics[]?] | length == 0", HOST).parts == (
        Part(".nics", (None,)),
        Part("[.nics[]?]", ([],)),
        Part("length", (0,)),
        Part("length == 0", (True,)),
        Part("[.nics[]?] | length == 0", (True,)),
    )
    assert Part(".disks[]", (1, 1)) in explain_query("[.disks[]] | length == 2", {"disks": [1, 1]}).parts
