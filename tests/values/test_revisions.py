"""Which of two revisions is the newer one."""

from __future__ import annotations

import pytest

from muster.values.revisions import is_newer, number_of


@pytest.mark.parametrize(
    ("revision", "known", "newer"),
    [
        ("10", "9", True),
        ("9", "10", False),
        ("9", "9", False),
        ("", "9", True),  # nobody can tell, so it counts
        ("9", "", True),
        ("abc", "9", True),
        ("9" * 21, "1", True),  # no server's, and not worth computing with
        ("18446744073709551615", "18446744073709551614", True),
    ],
)
def test_numbers_are_compared_and_everything_else_counts_as_new(revision: str, known: str, newer: bool) -> None:
    assert is_newer(revision, known) is newer


def test_a_revision_is_a_number_only_in_plain_digits() -> None:
    assert [number_of(text) for text in ("12", "-1", "1.0", " 1", "١", "9" * 21)] == [12, None, None, None, 1, None]
