"""Texts fit the limits of every server, cut between characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.messages import condition_message, condition_reason, event_message, fitting, listed


@given(st.text(max_size=200), st.integers(min_value=3, max_value=300))
def test_a_fitting_text_is_short_enough_and_begins_as_the_text_does(text: str, most: int) -> None:
    found = fitting(text, most)
    assert len(found.encode()) <= most
    assert found == text or text.startswith(found.removesuffix("…"))


@pytest.mark.parametrize("character", ["a", "é", "…", "😀", "\ud800"])
def test_messages_have_at_most_the_bytes_that_servers_take(character: str) -> None:
    for count in (0, 1, 255, 1023, 1024, 1025, 32_767, 32_768, 32_769, 100_000):
        text = character * count
        assert len(condition_message(text).encode()) <= 32_768
        assert len(condition_reason(text).encode()) <= 1_024
        assert len(event_message(text).encode()) <= 1_024


def test_what_fits_is_left_as_it_is() -> None:
    assert condition_message("é" * 16_384) == "é" * 16_384
    assert event_message("x" * 1024) == "x" * 1024
    assert event_message("x" * 1025) == "x" * 1018 + "......"


def test_half_a_character_does_not_stop_a_message() -> None:
    assert condition_message("a\ud800b") == "a?b"


def test_lists_say_how_many_more_there_are() -> None:
    names = [f"set-{number}" for number in range(5000)]
    assert listed(names[:3]) == "set-0, set-1, set-2"
    assert listed(names).endswith(", set-99 and 4900 more")
    assert listed(["x" * 100] * 10, room=250) == f"{'x' * 100}, {'x' * 100} and 8 more"
    assert listed([]) == ""


def test_a_name_that_is_too_long_for_a_list_is_cut() -> None:
    text = listed(["é" * 50_000, "b"])
    assert len(text.encode()) < 8_300
    assert text.endswith("… and 1 more")
