"""Which sets a cluster enters and leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.clustersets.moves import Move, exclusive_membership, join_permissions, moves_between_sets, possible_moves
from muster.selectors.membership import DEFAULT_KEY, SETS, ExclusiveMembership

if TYPE_CHECKING:
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.reading import Reading


def a_set(name: str, **spec: Any) -> Reading[ManagedClusterSet]:
    return SETS.partly({"metadata": {"name": name}, "spec": spec})


def test_labels_that_stay_move_nobody() -> None:
    labels = {"region": "apac", DEFAULT_KEY: "default"}
    assert possible_moves(labels, dict(labels)) == []


def test_a_changed_label_leaves_one_set_and_enters_another_the_default_key_first() -> None:
    old = {"region": "apac", DEFAULT_KEY: "a", "gone": "x"}
    new = {"region": "us", DEFAULT_KEY: "b", "empty": ""}
    assert possible_moves(old, new) == [
        Move(DEFAULT_KEY, "a", enters=False),
        Move(DEFAULT_KEY, "b", enters=True),
        Move("gone", "x", enters=False),
        Move("region", "apac", enters=False),
        Move("region", "us", enters=True),
    ]


def test_a_label_that_names_no_set_moves_nobody_except_by_the_default_key() -> None:
    moves = possible_moves({}, {"region": "apac", "vendor": "aws", DEFAULT_KEY: "ghost", "team": "blue"})
    sets = {
        "apac": a_set("apac", exclusiveKey="region"),
        "aws": a_set("aws", exclusiveKey="region"),  # by another key
        "blue": a_set("blue", clusterSelector={"selectorType": "LabelSelector", "labelSelector": {}}),
    }
    assert moves_between_sets(moves, sets) == [
        Move(DEFAULT_KEY, "ghost", enters=True),
        Move("region", "apac", enters=True),
    ]


def test_a_set_that_cannot_be_evaluated_has_nobody() -> None:
    assert exclusive_membership(a_set("x", clusterSelector={"selectorType": "Magic"})) is None
    assert exclusive_membership(a_set("x", exclusiveKey="region")) == ExclusiveMembership("region", "x")
    legacy = a_set("x", clusterSelector={"selectorType": "LegacyClusterSetLabel"})
    assert exclusive_membership(legacy) == ExclusiveMembership(DEFAULT_KEY, "x")


def test_a_set_that_is_left_by_one_key_and_entered_by_another_needs_one_permission() -> None:
    moves = [Move("a", "x", enters=False), Move("b", "x", enters=True), Move("a", "y", enters=True)]
    assert [(each.name, each.reason) for each in join_permissions(moves)] == [
        ("x", "the cluster leaves the set x: label a=x"),
        ("y", "the cluster enters the set y: label a=y"),
    ]
