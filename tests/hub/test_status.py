"""Status objects: what a refusal looks like to a client."""

from __future__ import annotations

from muster.hub import status
from muster.hub.requests import Attributes, User
from muster.values.causes import invalid, required


def test_empty_members_are_left_out() -> None:
    assert status.internal("why").status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "why",
        "code": 500,
    }
    assert status.not_found("", "namespaces", "x").status["details"] == {"name": "x", "kind": "namespaces"}


def test_every_cause_is_listed_and_every_sentence_said_once() -> None:
    twice = invalid("a", 1, "bad")
    error = status.invalid("g", "K", "n", [twice, twice, required("b")])
    assert error.message == 'K.g "n" is invalid: [a: Invalid value: 1: bad, b: Required value]'
    assert error.details is not None
    assert len(error.details["causes"]) == 3


def test_forbidden_says_who_what_and_where() -> None:
    bob = User("bob")
    cases = {
        Attributes("get", "g", "v1", "things", "status", "ns", "x"): (
            'things.g "x" is forbidden: User "bob" cannot get resource "things/status" in API group "g" '
            'in the namespace "ns"'
        ),
        Attributes("list", "", "v1", "pods"): (
            'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope'
        ),
        Attributes("get", path="/metrics"): 'forbidden: User "bob" cannot get path "/metrics"',
    }
    assert {attributes: status.forbidden(bob, attributes).message for attributes in cases} == cases


def test_a_client_is_told_when_to_come_back() -> None:
    assert status.future_revision(9, 3).retry_after == 1
    assert status.unavailable("disk full").retry_after == 1
    assert status.bad_request("x").retry_after is None


def test_an_expired_list_hands_out_a_token_to_go_on_with() -> None:
    assert status.expired("old", continue_token="t").status["metadata"] == {"continue": "t"}
