"""What a classification may be, and how it is read."""

from __future__ import annotations

import pytest

from muster.api.agent_classification import rules
from tests.classification.builders import a_classification


def problems(key: str, value: str) -> list[tuple[str, str]]:
    """The fields that are refused, and how the reasons begin."""
    causes = rules({"spec": {"labelKey": key, "labelValue": value, "query": "true"}}, None)
    return [(cause.field, " ".join(cause.message.rpartition('": ')[2].split()[:6])) for cause in causes]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("size", "medium", []),
        ("a.b-c_d", "A.b-c_9", []),
        ("size", "v" * 52, []),
        ("size", "queryerror", []),
        ("size", "v" * 53, [("spec.labelValue", "must be no more than 52")]),
        ("size", "", [("spec.labelValue", "must not be empty")]),
        ("size", "QUERYERROR", [("spec.labelValue", "label must not start with QUERYERROR")]),
        ("size", "med!um", [("spec.labelValue", "a valid label must be an")]),
        ("s!ze", "medium", [("spec.labelKey", "name part must consist of alphanumeric")]),
        ("example.com/size", "medium", [("spec.labelKey", "a valid label key must consist")]),
        (
            "",
            "medium",
            [
                ("spec.labelKey", "name part must be non-empty"),
                ("spec.labelKey", "name part must consist of alphanumeric"),
            ],
        ),
    ],
)
def test_the_label_must_be_one_in_its_error_form_too(key: str, value: str, expected: list[tuple[str, str]]) -> None:
    assert problems(key, value) == expected


def test_the_label_cannot_be_changed_but_the_query_can() -> None:
    def spec(**changes: str) -> dict[str, dict[str, str]]:
        return {"spec": {"labelKey": "size", "labelValue": "medium", "query": "true", **changes}}

    assert [cause.field for cause in rules(spec(labelKey="k"), spec())] == ["spec.labelKey"]
    assert [cause.field for cause in rules(spec(labelValue="v"), spec())] == ["spec.labelValue"]
    assert rules(spec(query="false"), spec()) == []


def test_a_label_that_cannot_be_is_a_fault_of_a_stored_classification() -> None:
    assert a_classification().fault == ""
    assert a_classification(value="").fault == 'spec.labelValue: Invalid value: "": must not be empty'


def test_a_classification_owns_its_value_and_the_error_form_of_it() -> None:
    owned = [value for value in ("medium", "QUERYERROR-medium", "large", "", None) if a_classification().owns(value)]
    assert owned == ["medium", "QUERYERROR-medium"]
