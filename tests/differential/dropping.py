"""Makes a case that differs smaller, as long as it differs in the same field.

Knows JSON: it drops members of lists and keys of mappings, large parts first. What is a case's meaning it does not
know; a smaller case that cannot be run does not count.
"""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_KEPT: Final = frozenset({"apiVersion", "kind", "metadata", "name", "namespace", "spec", "now", "placement", "status"})


def shrunk(case: Any, still: Callable[[Any], bool], seconds: float = 20.0) -> Any:
    """The smallest case found within the time."""
    until = time.monotonic() + seconds
    best, going = case, True
    while going:
        going = False
        for place in sorted(_places(best), key=len):
            if time.monotonic() > until:
                return best
            smaller = _without(best, place)
            if smaller is not None and still(smaller):
                best, going = smaller, True
    return best


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Everything that can be left out. Members of a list from its end, so that places before it stay valid."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in _KEPT:
                yield (*at, key)
            yield from _places(item, (*at, key))
    elif isinstance(value, list):
        for number in reversed(range(len(value))):
            yield (*at, number)
            yield from _places(value[number], (*at, number))


def _without(case: Any, place: tuple[Any, ...]) -> Any | None:
    smaller = copy.deepcopy(case)
    inner = smaller
    try:
        for key in place[:-1]:
            inner = inner[key]
        if isinstance(inner[place[-1]], list) and not isinstance(inner, list) and len(place) == 1:
            return None  # a list of the case itself stays, if empty
        del inner[place[-1]]
    except (KeyError, IndexError, TypeError):
        return None  # it went with a larger part
    return smaller
