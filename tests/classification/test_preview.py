"""What a change would do to the labels of agents."""

from __future__ import annotations

from typing import Any

import pytest

from muster.classification import LABEL_PREFIX, ClassificationChange, LabelChange, Report, preview_labels
from muster.errors import InvalidObjectError

BIG = ".cpu.count > 8"


def a_query(name: str, value: str, query: str, key: str = "size", namespace: str | None = "hosts") -> dict[str, Any]:
    spec = {"labelKey": key, "labelValue": value, "query": query}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"kind": "AgentClassification", "metadata": metadata, "spec": spec}


def an_agent(name: str, cores: int | None, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "hosts", "labels": {LABEL_PREFIX + key: labels[key] for key in labels}}
    status = {} if cores is None else {"status": {"inventory": {"cpu": {"count": cores}}}}
    return {"kind": "Agent", "metadata": metadata, **status}


PRESENT = [an_agent("a", 4), an_agent("b", 16), an_agent("c", 64), a_query("large", "large", BIG)]


def counted(report: Report | None) -> tuple[int, int] | None:
    return None if report is None else (report.matched, report.errors)


def fares(*changes: ClassificationChange) -> dict[str, tuple[Any, Any]]:
    return {f"{each.namespace}/{each.name}": (counted(each.before), counted(each.after)) for each in changes}


def test_a_new_classification_tells_whom_it_labels_and_from_whom_it_takes() -> None:
    found = preview_labels(PRESENT, [a_query("huge", "huge", ".cpu.count > 32")])
    assert found.labels == (LabelChange("hosts", "c", "size", "large", "huge"),)
    assert fares(*found.classifications) == {"hosts/huge": (None, (1, 0)), "hosts/large": ((2, 0), (1, 0))}


def test_another_query_gives_takes_and_fails() -> None:
    found = preview_labels(
        PRESENT, [a_query("large", "large", ".cpu.count == 4 or (.cpu.count == 16 and .hostname - 1)")]
    )
    assert found.labels == (
        LabelChange("hosts", "a", "size", None, "large"),
        LabelChange("hosts", "b", "size", "large", "QUERYERROR-large"),
        LabelChange("hosts", "c", "size", "large", None),
    )
    assert fares(*found.classifications) == {"hosts/large": ((2, 0), (1, 1))}


def test_an_agent_that_changes_keeps_what_the_file_does_not_say() -> None:
    by_hand = preview_labels(PRESENT, [an_agent("b", None, size="by-hand", rack="r1")])
    assert by_hand.labels == (
        LabelChange("hosts", "b", "rack", None, "r1"),
        LabelChange("hosts", "b", "size", "large", "by-hand"),
    )
    shrunk = preview_labels(PRESENT, [an_agent("b", 2), an_agent("new", 99)])
    assert shrunk.labels == (
        LabelChange("hosts", "b", "size", "large", None),
        LabelChange("hosts", "new", "size", None, "large"),
    )


def test_what_goes_takes_its_labels_along_or_leaves_them_to_others() -> None:
    rival = a_query("rival", "rival", ".cpu.count > 32")
    found = preview_labels([*PRESENT, rival], [], [PRESENT[3], PRESENT[0]])
    assert found.labels == (
        LabelChange("hosts", "b", "size", "large", None),
        LabelChange("hosts", "c", "size", "large", "rival"),
    )
    assert fares(*found.classifications) == {"hosts/large": ((2, 0), None), "hosts/rival": ((0, 0), (1, 0))}


def test_what_changes_nothing_and_what_is_about_something_else_is_not_told() -> None:
    found = preview_labels(PRESENT, [a_query("large", "large", BIG), {"kind": "ConfigMap", "metadata": {"name": "x"}}])
    assert (found.classifications, found.labels) == ((), ())


def test_what_the_controllers_have_not_done_yet_is_no_part_of_the_change() -> None:
    stale = [an_agent("a", 4, size="large"), a_query("large", "large", BIG)]
    assert preview_labels(stale, [an_agent("z", 1)]).labels == ()


def test_a_classification_without_a_namespace_counts_for_those_that_have_agents() -> None:
    found = preview_labels(PRESENT[:3], [a_query("large", "large", BIG, namespace=None)])
    assert [each.agent for each in found.labels] == ["b", "c"]


def test_a_label_that_cannot_be_is_refused_in_files_and_borne_on_a_server() -> None:
    bad = a_query("bad", "", "true")
    with pytest.raises(InvalidObjectError, match="labelValue"):
        preview_labels(PRESENT, [bad])
    with pytest.raises(InvalidObjectError, match="labelValue"):
        preview_labels([*PRESENT, bad], [])
    assert preview_labels([*PRESENT, bad], [an_agent("z", 1)], trusting=True).labels == ()
    with pytest.raises(InvalidObjectError, match="labelValue"):
        preview_labels(PRESENT, [bad], trusting=True)
