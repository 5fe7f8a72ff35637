"""Paths while they are followed. A state is (path, value at the path, value); without paths the first two are None.

As in gojq, an expression that is not a path leaves the path alone and changes the value; the next step along a path
notices that they no longer agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from muster.jq.values.ordering import equal
from muster.jq.values.value import Value

if TYPE_CHECKING:
    from muster.jq.budgets import Meter

Place: TypeAlias = tuple[Value, Value]
"""A path and the value there; two times None outside of paths."""

ROOT: Value = ()
"""The path of the input itself; longer paths are pairs (path, key)."""


def path_list(meter: Meter, path: Value) -> list[Value]:
    keys: list[Value] = []
    while path:
        path, key = path
        meter.grow(1)
        keys.append(key)
    keys.reverse()
    return keys


def is_intact(meter: Meter, value: Value, tracked: Value) -> bool:
    """Whether the value at hand is still the one at the path."""
    if value is tracked:
        return True
    if isinstance(value, list | dict):
        # gojq cannot tell empty arrays apart
        return type(value) is list and type(tracked) is list and not value and not tracked
    if value != value:
        return type(tracked) is float and tracked != tracked
    return type(value) is type(tracked) and equal(meter, value, tracked)
