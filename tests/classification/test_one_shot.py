"""Classifying without a server."""

from __future__ import annotations

from typing import Any

import pytest

import muster.classification
from muster.classification import LABEL_PREFIX, classify
from muster.errors import InvalidObjectError


def an_agent(name: str, count: int, namespace: str | None = None, **labels: str) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    metadata = {"name": name, "labels": labels, **place}
    return {"metadata": metadata, "status": {"inventory": {"cpu": {"count": count}}}}


def a_query(name: str, query: str, value: str = "yes", namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"metadata": metadata, "spec": {"labelKey": "k", "labelValue": value, "query": query}}


def test_labels_changes_and_counts_come_together() -> None:
    found = classify([a_query("c", ".cpu.count > 4")], [an_agent("b", 8, rack="1"), an_agent("a", 2)])
    assert [(agent.name, agent.labels, agent.changes) for agent in found.agents] == [
        ("a", {}, {}),
        ("b", {"rack": "1", f"{LABEL_PREFIX}k": "yes"}, {f"{LABEL_PREFIX}k": "yes"}),
    ]
    assert {place: (each.matched, each.errors) for place, each in found.reports.items()} == {("", "c"): (1, 0)}


def test_a_classification_counts_for_its_namespace_or_without_one_for_all() -> None:
    agents = [an_agent("a", 8, "one"), an_agent("b", 8, "two")]
    everywhere = classify([a_query("c", "true")], agents)
    assert [bool(agent.changes) for agent in everywhere.agents] == [True, True]
    somewhere = classify([a_query("c", "true", namespace="two")], agents)
    assert [bool(agent.changes) for agent in somewhere.agents] == [False, True]


def test_an_agent_without_an_inventory_is_seen_as_one_that_has_not_reported() -> None:
    query = a_query("c", '. == {"memory": {}, "cpu": {}, "boot": {}, "systemVendor": {}}')
    for status in ({}, {"inventory": None}):
        found = classify([query], [{"metadata": {"name": "a"}, "status": status}])
        assert found.agents[0].labels == {f"{LABEL_PREFIX}k": "yes"}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"labelKey": "k", "labelValue": "v"}, "spec.query must be a string"),
        ({"labelKey": "k", "labelValue": "", "query": "."}, 'spec.labelValue: Invalid value: "": must not be empty'),
    ],
)
def test_a_classification_that_cannot_be_is_refused(spec: dict[str, str], reason: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        classify([{"metadata": {"name": "c"}, "spec": spec}], [])
    assert str(caught.value) == f"AgentClassification c: {reason}"


def test_the_surface_is_what_it_says() -> None:
    names = {name for name in muster.classification.__all__ if hasattr(muster.classification, name)}
    assert names == set(muster.classification.__all__)
    assert list(muster.classification.__all__) == sorted(
        muster.classification.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n)
    )
