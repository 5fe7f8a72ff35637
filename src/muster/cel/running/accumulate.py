"""Growing the list or map of a comprehension in place. Only its loop can see it, so nobody notices, and a loop over n
elements makes one list instead of n.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muster.cel.costs.meter import spend
from muster.cel.traversals import go_text
from muster.cel.values import MISSING, MapValue, find
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value


def append_to(accumulator: list[Value], more: Sequence[Value]) -> list[Value]:
    accumulator.extend(more)
    return accumulator


def insert_into(meter: Meter, accumulator: dict[Value, Value] | MapValue, *entry: Any) -> dict[Value, Value] | MapValue:
    """Add a key with its value, or all entries of a map; a key that is already there is an error."""
    entries: list[tuple[Value, Value]]
    if len(entry) == 2:
        entries = [(entry[0], entry[1])]
    else:
        source = entry[0]
        if not isinstance(source, Mapping):
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        spend(meter, len(source))
        entries = list(source.items())
    for key, value in entries:
        if find(accumulator, key) is not MISSING:
            raise EvaluationError(f"insert failed: key {go_text(key)} already exists", FailureKind.REPEATED_KEY)
        if not isinstance(key, (str, int)):
            raise EvaluationError("unsupported key type", FailureKind.UNSUPPORTED_KEY)
        if isinstance(accumulator, MapValue):
            accumulator.add(key, value)
        elif isinstance(key, bool):
            spend(meter, len(accumulator))
            accumulator = MapValue([*accumulator.items(), (key, value)])
        else:
            accumulator[key] = value
    return accumulator
