"""About values/causes.py."""

from __future__ import annotations

from muster.values.causes import (
    Cause,
    duplicate,
    invalid,
    not_supported,
    quoted,
    required,
    sentence,
    too_long,
    too_many,
)


def test_each_kind_of_cause_has_the_text_of_the_real_server() -> None:
    assert [
        str(cause)
        for cause in (
            invalid("spec.a", "x", "is wrong"),
            invalid("spec.a", 3, "is wrong"),
            invalid("spec.a", None, "is wrong"),
            required("spec.a"),
            required("spec.a", "say something"),
            duplicate("spec.a[1]", {"type": "x"}),
            not_supported("spec.a", "x", ("b", "c")),
            too_long("spec.a", 1),
            too_long("spec.a", 63),
            too_many("spec.a", 3, 2),
        )
    ] == [
        'spec.a: Invalid value: "x": is wrong',
        "spec.a: Invalid value: 3: is wrong",
        "spec.a: Invalid value: null: is wrong",
        "spec.a: Required value",
        "spec.a: Required value: say something",
        'spec.a[1]: Duplicate value: {"type":"x"}',
        'spec.a: Unsupported value: "x": supported values: "b", "c"',
        "spec.a: Too long: may not be more than 1 byte",
        "spec.a: Too long: may not be more than 63 bytes",
        "spec.a: Too many: 3: must have at most 2 items",
    ]


def test_several_causes_stand_in_brackets_each_once() -> None:
    first, second = required("a"), required("b")
    assert sentence([first]) == "a: Required value"
    assert sentence([first, second, first]) == "[a: Required value, b: Required value]"


def test_quoting_escapes_what_cannot_be_printed() -> None:
    assert quoted('é"\\\n\x00\u200b\U000e0001') == '"é\\"\\\\\\n\\x00\\u200b\\U000e0001"'


def test_a_cause_becomes_an_entry_of_a_status() -> None:
    assert Cause("FieldValueRequired", "a", "Required value").to_status() == {
        "reason": "FieldValueRequired",
        "message": "Required value",
        "field": "a",
    }
