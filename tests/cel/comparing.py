"""Equality for tests: as expressions have it, with a meter of its own."""

from __future__ import annotations

from typing import Any

from muster.cel.costs.meter import new_meter
from muster.cel.traversals import equals as metered_equals


def equals(a: Any, b: Any) -> bool:
    return metered_equals(new_meter(), a, b)
