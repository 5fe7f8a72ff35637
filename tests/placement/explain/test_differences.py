"""Field by field: what differs between two states, and who wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from muster.api.placement_history import FieldChange
from muster.placement.explain.differences import Writer, changed_fields, changed_paths, writer_of, writer_since
from muster.selectors.paths import WHOLE, claim_path, key_path, label_path, score_path
from tests.builders import a_cluster, a_taint


def an_entry(manager: str, time: str, fields: Any = None, **more: str) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields or {}, **more}


def managed(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "a", "managedFields": list(entries)}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [FieldChange("spec.a", "1", "true")]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 2, "c": 2}}, [FieldChange("spec.a.b", "1", "2")]),
        ({"a": {}}, {"a": {"x.y/z": "v"}}, [FieldChange('spec.a["x.y/z"]', "", '"v"')]),
        ({"l": [{"n": 1}, {"n": 2}]}, {"l": [{"n": 1}, {"n": 3}]}, [FieldChange("spec.l[1].n", "2", "3")]),
        ({"l": [1]}, {"l": [1, 2]}, [FieldChange("spec.l", "[1]", "[1,2]")]),
        ({"a": None}, {}, [FieldChange("spec.a", "null", "")]),
    ],
)
def test_the_deepest_field_that_differs_is_named(
    old: dict[str, Any], new: dict[str, Any], expected: list[FieldChange]
) -> None:
    assert changed_fields(old, new, 10, "spec") == expected


def test_fields_and_values_are_bounded() -> None:
    old, new = {str(number): 0 for number in range(9)}, {str(number): "x" * 999 for number in range(9)}
    found = changed_fields(old, new, 3)
    assert [each.field for each in found] == ['["0"]', '["1"]', '["2"]']
    assert len(found[0].new) == 201


def test_only_what_is_read_is_compared() -> None:
    old = a_cluster("a", {"cloud": "x", "noise": "1"}, {"version": "1.30", "other": "1"})
    new = a_cluster("a", {"cloud": "y", "noise": "2"}, {"version": "1.31", "other": "2"}, [a_taint("gpu")])
    reads = {label_path("cloud"), claim_path("version"), key_path("spec", "taints"), score_path("usage")}
    assert changed_paths(old, new, reads, 10) == [
        FieldChange("metadata.labels.cloud", '"x"', '"y"'),
        FieldChange("spec.taints", "", '[{"key":"gpu","value":"","effect":"NoSelect"}]'),
        FieldChange("status.clusterClaims[name=version]", '"1.30"', '"1.31"'),
    ]


def test_who_reads_the_whole_object_hears_of_every_field_but_not_of_bookkeeping() -> None:
    old = {"metadata": {"name": "a", "resourceVersion": "1", "generation": 1}, "spec": {"x": 1}}
    new = {"metadata": {"name": "a", "resourceVersion": "2", "generation": 2}, "spec": {"x": 2}}
    assert changed_paths(old, new, {WHOLE}, 10) == [FieldChange("spec.x", "1", "2")]


def test_the_writer_is_who_has_written_since_and_owns_the_field() -> None:
    before = managed(an_entry("creator", "2026-01-01T00:00:00Z", {"f:metadata": {"f:labels": {"f:cloud": {}}}}))
    after = managed(
        an_entry("creator", "2026-01-01T00:00:00Z"),  # it has lost the field, which was not its doing
        an_entry("heartbeat", "2026-01-03T00:00:00Z", {"f:status": {}}, subresource="status"),
        an_entry("alice", "2026-01-02T00:00:00Z", {"f:metadata": {"f:labels": {"f:cloud": {}}}}),
    )
    assert writer_of(before, after, "metadata.labels.cloud") == Writer("alice", "Update", "2026-01-02T00:00:00Z")


def test_a_field_that_is_gone_is_ascribed_to_the_newest_writer_if_there_is_one() -> None:
    creator = an_entry("creator", "2026-01-01T00:00:00Z", {"f:spec": {"f:x": {}}})
    bob = an_entry("bob", "2026-01-02T00:00:00Z", {"f:spec": {"f:y": {}}})
    assert writer_of(managed(creator), managed(creator, bob), "spec.x") == Writer(
        "bob", "Update", "2026-01-02T00:00:00Z"
    )
    assert writer_of(managed(creator), managed(creator), "spec.x") is None
    assert writer_of(managed(creator), None, "spec.x") is None


@pytest.mark.parametrize("field", ["status.clusterClaims[name=version]", "status.scores[name=free].value"])
def test_elements_of_lists_are_found_among_keys(field: str) -> None:
    keyed: dict[str, Any] = {
        "f:status": {"f:clusterClaims": {'k:{"name":"version"}': {}}, "f:scores": {'k:{"name":"free"}': {}}}
    }
    others: dict[str, Any] = {
        "f:status": {"f:scores": {'k:{"name":"free"}': {".": {}, "f:name": {}}, 'k:{"name":"used"}': {}}}
    }
    after = managed(an_entry("agent", "2026-01-01T00:00:00Z", keyed), an_entry("other", "2026-01-02T00:00:00Z", others))
    found = writer_of(None, after, field)
    assert found is not None
    assert found.manager == "agent"


def test_after_a_restart_who_wrote_the_object_itself_is_the_better_guess() -> None:
    obj = managed(
        an_entry("early", "2026-01-01T00:00:00Z"),
        an_entry("alice", "2026-01-03T00:00:00Z"),
        an_entry("heartbeat", "2026-01-04T00:00:00Z", subresource="status"),
    )
    since = "2026-01-02T00:00:00Z"
    assert writer_since(obj, since, with_status=True) == Writer("alice", "Update", "2026-01-03T00:00:00Z")
    assert writer_since(obj, "2026-01-03T12:00:00Z", with_status=True) == Writer(
        "heartbeat", "Update", "2026-01-04T00:00:00Z"
    )
    assert writer_since(obj, "2026-01-03T12:00:00Z", with_status=False) is None
