"""Numbers of Go's kinds."""

from __future__ import annotations

import math

from muster.jq.values.numbers import to_int


def test_numbers_become_indices() -> None:
    assert [to_int(number) for number in (1.9, -1.9, math.nan, math.inf, 10**30)] == [
        1, -1, -(2**63), 2**63 - 1, 2**63 - 1,
    ]  # fmt: skip
