"""Ranges that mean something else than they seem to."""

from __future__ import annotations

import pytest

from muster.reasons import sentence
from muster.resolution.constraints.range_traps import range_traps


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("1.0.0 - 2.0.0", "no hyphen range"),
        ("!1.x", "matches nothing"),
        ("<2.0.0", "contains pre-releases of 2.0.0, such as 2.0.0-rc.1"),
        (">=1.0.0", None),
        ("<2.0.0-0", None),
    ],
)
def test_traps_in_ranges(text: str, part: str | None) -> None:
    found = [sentence(each) for each in range_traps(text)]
    assert (part is None and not found) or (part is not None and any(part in each for each in found)), found
