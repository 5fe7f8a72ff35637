"""Options: what is checked before anything happens."""

from __future__ import annotations

import pytest

from muster.hub.options import Write, revision, write_options
from muster.hub.requests import WriteOptions
from muster.hub.status import StatusError


def test_without_a_manager_the_program_of_the_user_agent_stands_in() -> None:
    assert write_options("CreateOptions", WriteOptions(user_agent="kubectl/v1.36 (linux)")) == Write(
        dry_run=False, manager="kubectl", validation="Warn", force=False
    )
    assert write_options("CreateOptions", WriteOptions(user_agent="a\tb/1")).manager == "ab"
    assert write_options("CreateOptions", WriteOptions()).manager == "unknown"
    assert len(write_options("CreateOptions", WriteOptions(user_agent="é" * 200)).manager.encode()) == 128


def test_a_manager_must_be_short_and_printable() -> None:
    with pytest.raises(StatusError) as caught:
        write_options("UpdateOptions", WriteOptions(field_manager="é\n" + "x" * 126))
    shown = '"é\\n' + "x" * 126 + '"'
    assert str(caught.value) == (
        'UpdateOptions.meta.k8s.io "" is invalid: [fieldManager: Too long: may not be more than 128 bytes, '
        f"fieldManager: Invalid value: {shown}: invalid character U+000A (at position 2)]"
    )


@pytest.mark.parametrize(("text", "number"), [("", 0), ("0", 0), ("17", 17), ("18446744073709551615", 2**64 - 1)])
def test_revisions_are_unsigned_numbers(text: str, number: int) -> None:
    assert revision(text) == number


@pytest.mark.parametrize(
    ("text", "problem"),
    [("abc", "invalid syntax"), ("-1", "invalid syntax"), ("٣", "invalid syntax"), ("9" * 25, "value out of range")],
)
def test_what_is_not_a_revision_is_refused_as_go_would(text: str, problem: str) -> None:
    with pytest.raises(StatusError) as caught:
        revision(text)
    assert (caught.value.code, caught.value.message) == (
        500,
        f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {problem}',
    )
