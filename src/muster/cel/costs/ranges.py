"""Ranges of sizes and costs, with cel-go's unsigned 64-bit arithmetic: sums and products stop at the largest number."""

from __future__ import annotations

import math
from typing import NamedTuple

MAX = 2**64 - 1
_TWO_TO_64 = float(2**64)


def saturating_add(x: int, y: int) -> int:
    return min(x + y, MAX)


def saturating_multiply(x: int, y: int) -> int:
    return min(x * y, MAX)


def wrapped(x: int) -> int:
    """Where cel-go computes without a guard, the number wraps around."""
    return x & MAX


def _scaled(x: int, factor: float) -> int:
    if x > 0 and factor > 0 and float(x) > _TWO_TO_64 / factor:
        return MAX
    product = math.ceil(float(x) * factor)
    return MAX if product >= 2**64 else product


class Range(NamedTuple):
    """A least and a greatest size or cost."""

    min: int
    max: int

    def plus(self, other: Range) -> Range:
        return Range(saturating_add(self.min, other.min), saturating_add(self.max, other.max))

    def times(self, other: Range) -> Range:
        return Range(saturating_multiply(self.min, other.min), saturating_multiply(self.max, other.max))

    def scaled(self, factor: float) -> Range:
        """Each end times the factor, rounded up."""
        return Range(_scaled(self.min, factor), _scaled(self.max, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.min, other.min), max(self.max, other.max))


def exactly(number: int) -> Range:
    return Range(number, number)


ZERO = exactly(0)
ONE = exactly(1)
UNKNOWN = Range(0, MAX)
EMPTY = Range(MAX, 0)  # the union with anything is that thing
