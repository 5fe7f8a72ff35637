"""Events in two groups: the forms, the way between them, and what each group takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.api.decoding import decode_problem
from muster.api.event import EVENT, GROUP_EVENT
from muster.api.event_forms import CORE_ZERO, as_core, as_group, core_field

Object = dict[str, Any]
NEW: Object = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e", "namespace": "apps"},
    "eventTime": "2026-11-01T10:00:00.123456Z",
    "reportingController": "example.com/ctl",
    "reportingInstance": "ctl-0",
    "action": "Doing",
    "reason": "Because",
    "type": "Normal",
    "note": "a note",
    "regarding": {"kind": "ConfigMap", "name": "cm", "namespace": "apps"},
}


def causes(kind: Any, new: Object, old: Object | None = None) -> list[str]:
    stored = None if old is None else kind.to_storage(old)
    return [str(cause) for cause in kind.rules(kind.to_storage(new), stored)]


def test_an_event_of_the_newer_group_is_stored_under_the_names_of_the_older_one() -> None:
    assert GROUP_EVENT.to_storage(NEW) == {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "apps"},
        "eventTime": "2026-11-01T10:00:00.123456Z",
        "reportingComponent": "example.com/ctl",
        "reportingInstance": "ctl-0",
        "action": "Doing",
        "reason": "Because",
        "type": "Normal",
        "message": "a note",
        "involvedObject": {"kind": "ConfigMap", "name": "cm", "namespace": "apps"},
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
    }


texts = st.text("ab", max_size=2)
stored_events = st.fixed_dictionaries(
    {
        "apiVersion": st.just("v1"),
        "kind": st.just("Event"),
        "metadata": st.fixed_dictionaries({"name": texts}),
        **{name: st.just(value) for name, value in CORE_ZERO.items() if value is None},
        "involvedObject": st.dictionaries(st.sampled_from(["kind", "name"]), texts),
        "source": st.dictionaries(st.sampled_from(["component", "host"]), texts),
        "reportingComponent": texts,
        "reportingInstance": texts,
    },
    optional={"message": texts, "reason": texts, "count": st.integers(1, 9), "action": texts},
)


@given(stored_events)
def test_the_way_through_the_newer_group_changes_nothing(event: Object) -> None:
    assert as_core(as_group(event, ""), "") == event


def test_both_groups_are_stored_in_one_place() -> None:
    assert (EVENT.home.key, GROUP_EVENT.home.key, GROUP_EVENT.key) == ("events", "events", "events.events.k8s.io")


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("regarding.kind", "ConfigMap"),
        ("involvedObject.kind", "ConfigMap"),
        ("reportingController", "example.com/ctl"),
        ("source", "example.com/ctl"),
        ("type", "Normal"),
        ("reason", "Because"),
        ("regarding.fieldPath", ""),
    ],
)
def test_field_selectors_of_either_group_compare_the_same_values(field: str, expected: str) -> None:
    assert core_field(GROUP_EVENT.to_storage(NEW), field) == expected


def test_the_newer_group_takes_complete_events_only() -> None:
    assert causes(GROUP_EVENT, NEW) == []
    poor = {"apiVersion": "events.k8s.io/v1", "metadata": {"namespace": "default"}, "series": {"count": 1}}
    assert causes(GROUP_EVENT, poor | {"deprecatedCount": 1, "deprecatedSource": {"host": "n"}}) == [
        'series.count: Invalid value: "": should be at least 2',
        "series.lastObservedTime: Required value",
        "eventTime: Required value",
        'type: Invalid value: "": has invalid value: ',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
    ]


def test_an_event_with_a_time_says_who_did_what_and_why_in_either_group() -> None:
    bare = {"apiVersion": "v1", "metadata": {"namespace": "apps"}, "eventTime": NEW["eventTime"], "message": "x" * 1025}
    problems = causes(EVENT, bare)
    assert [text for text in problems if "name part" not in text] == [
        'involvedObject.namespace: Invalid value: "": does not match event.namespace',
        "reportingComponent: Required value",
        "reportingInstance: Required value",
        "action: Required value",
        "reason: Required value",
        'message: Invalid value: "": can have at most 1024 characters',
    ]


def test_only_the_series_of_an_event_goes_on_in_the_newer_group() -> None:
    series = {"series": {"count": 2, "lastObservedTime": "2026-11-01T12:00:00.000000Z"}}
    assert causes(GROUP_EVENT, NEW | series, NEW) == []
    reason = 'reason: Invalid value: "Other": field is immutable'
    assert causes(GROUP_EVENT, NEW | {"reason": "Other"}, NEW) == [reason, reason]
    old = EVENT.to_storage(NEW)
    assert causes(EVENT, old | {"reason": "Other"}, old) == []


def test_a_changed_object_is_shown_as_the_real_servers_struct() -> None:
    regarding = {"kind": "Secret", "name": "s", "namespace": "apps"}
    assert causes(GROUP_EVENT, NEW | {"regarding": regarding}, NEW) == [
        'involvedObject: Invalid value: {"Kind":"Secret","Namespace":"apps","Name":"s","UID":"","APIVersion":"",'
        '"ResourceVersion":"","FieldPath":""}: field is immutable'
    ]


@pytest.mark.parametrize(
    ("text", "wrong", "wanted"),
    [
        ("2026-11-01T11:00:00.5Z", ".5Z", ".000000"),
        ("2026-11-01T11:00:00Z", "Z", ".000000"),
        ("2026-11-01T11:00:00.1234567Z", "7Z", "Z07:00"),
        ("yesterday", "yesterday", "2006"),
        ("2026-13-45T99:99:99.123456Z", "2026-13-45T99:99:99.123456Z", "2006"),
        ("2026-11-01T11:00:00.123456+99:99", "+99:99", "Z07:00"),
        ("2026-11-01T11:00:00.123456.5Z", ".5Z", "Z07:00"),
    ],
)
def test_a_time_to_the_microsecond_has_six_digits_and_no_other_form(text: str, wrong: str, wanted: str) -> None:
    problem = decode_problem(GROUP_EVENT, GROUP_EVENT.storage_version, {"metadata": {}, "eventTime": text})
    assert problem == (
        f'parsing time "{text}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "{wrong}" as "{wanted}"'
    )


def test_six_digits_are_read_with_any_zone() -> None:
    for text in ("2026-11-01T11:00:00.123456Z", "2026-11-01T11:00:00.123456+02:00"):
        assert decode_problem(EVENT, EVENT.storage_version, {"metadata": {}, "eventTime": text}) is None
