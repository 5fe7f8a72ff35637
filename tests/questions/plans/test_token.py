"""Tokens of plans: the same for the same inputs, and what is said of others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from muster.api.fleet_plan import LONGEST_TOKEN
from muster.questions.plans.token import Input, changes_since, revision_of, token_of

INPUTS = [Input("Placement apps/shop", "a"), Input("ManagedCluster paris", "b"), Input("what is asked for", "c")]


def test_the_order_of_inputs_does_not_matter_and_everything_else_does() -> None:
    assert token_of(INPUTS) == token_of(reversed(INPUTS))
    assert changes_since(token_of(INPUTS), INPUTS[::-1]) == ()
    assert token_of(INPUTS) != token_of(INPUTS[:2])


def test_what_has_changed_come_and_gone_is_told_by_name() -> None:
    token = token_of(INPUTS)

    changed = [INPUTS[0], Input("ManagedCluster paris", "B"), INPUTS[2]]
    assert changes_since(token, changed) == ("ManagedCluster paris has changed",)
    assert changes_since(token, [*INPUTS, Input("Placement apps/new", "")]) == ("Placement apps/new has changed",)
    assert changes_since(token, INPUTS[:2]) == ("1 of what the plan rested on is not part of it now",)


def test_a_token_of_very_many_inputs_stays_short_and_says_less() -> None:
    many = [Input(f"ManagedCluster c{number}", "x") for number in range(1000)]
    token = token_of(many)

    assert len(token) <= 64
    assert len(token_of(many[:40])) <= LONGEST_TOKEN
    assert changes_since(token, many) == ()
    assert changes_since(token, many[1:]) == (
        "something of the 999 objects and decisions that the plan rests on has changed",
    )


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda text: f"p1.{text.hex()}.{text.hex()}"))
def test_whatever_is_no_token_is_told_apart_from_one(text: str) -> None:
    assert changes_since(text, INPUTS)


def an_object(**metadata: Any) -> dict[str, Any]:
    return {
        "kind": "ManagedCluster",
        "metadata": {"name": "paris", "uid": "1", "resourceVersion": "7", "labels": {"a": "b"}, **metadata},
        "spec": {"hubAcceptsClient": True},
        "status": {"version": {"kubernetes": "v1"}},
    }


def test_heartbeats_and_times_of_owners_are_no_revision_of_what_was_written() -> None:
    owner = {"manager": "me", "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {}}}
    agent = {"manager": "agent", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}}
    first = an_object(managedFields=[owner])
    beaten = an_object(managedFields=[{**owner, "time": "2027-01-01T00:00:00Z"}, agent], resourceVersion="8")
    beaten["status"] = {"version": {"kubernetes": "v2"}}

    assert revision_of(first, with_status=False) == revision_of(beaten, with_status=False)
    assert revision_of(first, with_status=True) != revision_of(beaten, with_status=True)
    others = (
        None,
        an_object(uid="2", managedFields=[owner]),
        an_object(labels={}, managedFields=[owner]),
        an_object(managedFields=[{**owner, "manager": "you"}]),
        an_object(managedFields=[owner], annotations={"note": ""}),
    )
    assert revision_of(first, with_status=False) not in {revision_of(each, with_status=False) for each in others}
