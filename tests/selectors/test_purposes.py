"""Selectors over objects with purposes."""

from __future__ import annotations

from typing import Any

import pytest

from muster.errors import InvalidObjectError
from muster.selectors.match import no, yes
from muster.selectors.purposes import purposed_selector, purposed_selector_causes, purposes_of, resolve_reference

ANY = "IdentityLabelPurposeSelector"


def a_purposed(name: str = "c", *purposes: str, **labels: str) -> dict[str, Any]:
    return {
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"purposes": list(purposes)},
    }


def test_null_identities_restrict_nothing_and_an_empty_list_matches_nothing() -> None:
    null = purposed_selector("IdentitySelector", {"matchIdentities": None})
    empty = purposed_selector("IdentitySelector", {"matchIdentities": []})
    assert (null.is_empty, bool(null.match(a_purposed()))) == (True, True)
    assert (empty.is_empty, bool(empty.match(a_purposed()))) == (False, False)


def test_identities_hide_everything_else() -> None:
    selector = purposed_selector(
        ANY, {"matchIdentities": [{"name": "c", "namespace": "default"}], "matchLabels": {"foo": "bar"}}
    )
    assert selector.match(a_purposed("c")) == yes("its identity is listed")
    assert selector.match(a_purposed("d", foo="bar")) == no("default/d is not among the identities listed")


def test_labels_and_purposes_are_anded() -> None:
    selector = purposed_selector(
        ANY, {"matchLabels": {"foo": "bar"}, "matchPurposes": [{"operator": "ContainsAny", "values": ["mcp"]}]}
    )
    assert selector.match(a_purposed("c", "mcp", "workload", foo="bar"))
    assert selector.match(a_purposed("c", "workload", foo="bar")) == no("purposes are workload; wanted ContainsAny mcp")
    assert selector.match(a_purposed("c", "mcp")) == no("label foo is missing; wanted foo=bar")


@pytest.mark.parametrize(
    ("operator", "values", "purposes", "matches"),
    [
        ("ContainsAll", ["a", "b"], ["b", "a", "c"], True),
        ("ContainsAll", ["a", "b"], ["a"], False),
        ("ContainsAny", ["a", "b"], ["b"], True),
        ("ContainsAny", [], ["b"], False),
        ("ContainsNone", ["a"], ["b"], True),
        ("ContainsNone", [], ["b"], True),
        ("Equals", ["a", "a"], ["a"], True),
        ("Equals", ["a", "a"], ["a", "b"], False),
        ("Equals", [], [], True),
    ],
)
def test_purposes_are_compared_as_sets(operator: str, values: list[str], purposes: list[str], matches: bool) -> None:
    selector = purposed_selector("PurposeSelector", {"matchPurposes": [{"operator": operator, "values": values}]})
    assert bool(selector.match(a_purposed("c", *purposes))) is matches


def test_a_request_has_one_purpose_even_if_it_is_empty() -> None:
    assert purposes_of({"kind": "ClusterRequest", "spec": {"purpose": "mcp"}}) == {"mcp"}
    assert purposes_of({"kind": "ClusterRequest", "spec": {}}) == {""}
    assert purposes_of({"kind": "Cluster", "spec": {}}) == frozenset()


def test_every_fault_is_reported_with_its_path() -> None:
    spec = {
        "matchExpressions": [{"key": "k", "operator": "in"}],
        "matchPurposes": [{"operator": "Has"}, {"operator": "ContainsAll"}],
        "matchPurpose": [],
    }
    assert [str(cause) for cause in purposed_selector_causes(ANY, spec, "spec.selector")] == [
        'spec.selector.matchPurpose: Invalid value: "matchPurpose": IdentityLabelPurposeSelector has no such field; '
        "it has matchIdentities, matchLabels, matchExpressions, matchPurposes",
        'spec.selector.matchExpressions[0].operator: Invalid value: "in": not a valid selector operator',
        'spec.selector.matchPurposes[0].operator: Unsupported value: "Has": supported values: '
        '"ContainsAll", "ContainsAny", "ContainsNone", "Equals"',
        "spec.selector.matchPurposes[1].values: Required value: ContainsAll needs at least one purpose",
    ]


def test_a_value_of_the_wrong_type_is_refused_with_its_path() -> None:
    spec = {"matchPurposes": [{"operator": "ContainsAny", "values": "mcp"}]}
    assert [str(cause) for cause in purposed_selector_causes(ANY, spec, "spec.selector")] == [
        "spec.selector.matchPurposes[0].values: Invalid value: expected a list or null, not a text"
    ]


def test_a_reference_stands_for_its_definition_and_goes_with_nothing_else() -> None:
    definitions = {"a": {"matchLabels": {"x": "y"}}}
    assert resolve_reference({"ref": "a"}, definitions) == definitions["a"]
    assert resolve_reference({}, definitions) is None
    with pytest.raises(InvalidObjectError, match="may not be set together with matchLabels"):
        resolve_reference({"ref": "a", "matchLabels": {}}, definitions)
    with pytest.raises(InvalidObjectError, match='Unsupported value: "z": supported values: "a"'):
        resolve_reference({"ref": "z"}, definitions)
