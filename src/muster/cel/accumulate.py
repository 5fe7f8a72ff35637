"""Growing the list or map of a comprehension in place. Only its loop can see it, so nobody notices, and a loop over n
elements makes one list instead of n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.cel.values import MISSING, MapValue, find, go_text
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def append_to(accumulator: list[Any], more: Sequence[Any]) -> list[Any]:
    accumulator.extend(more)
    return accumulator


def insert_into(accumulator: dict[Any, Any] | MapValue, *entry: Any) -> dict[Any, Any] | MapValue:
    """Add a key with its value, or all entries of a map; a key that is already there is an error."""
    entries: list[tuple[Any, Any]]
    if len(entry) == 2:
        entries = [(entry[0], entry[1])]
    else:
        source: Mapping[Any, Any] = entry[0]
        entries = list(source.items())
    for key, value in entries:
        if find(accumulator, key) is not MISSING:
            raise EvaluationError(f"insert failed: key {go_text(key)} already exists")
        if isinstance(accumulator, MapValue) or isinstance(key, bool):
            accumulator = MapValue([*accumulator.items(), (key, value)])
        else:
            accumulator[key] = value
    return accumulator
