"""A budget for what cost does not see: building and comparing big values.

cel-go charges 1 for joining two lists of any length, 10 for a list literal of any length, and 1 for comparing two
structures however deep. A cost limit therefore does not bound time or memory. Environments with a work limit count
units beside the cost: an element is a unit, four characters are one. Calls are measured before they run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muster.cel.values import Uint
from muster.errors import BudgetExceededError

CHARACTERS_PER_UNIT = 4
FREE_LITERAL = 8  # list and map literals up to this size are paid for by their cost

_SMALL = frozenset({int, float, bool, type(None), Uint})

# Functions that look at everything inside their arguments, not only at their length.
DEEP = frozenset(
    {"_==_", "_!=_", "@in", "format", "flatten", "distinct", "sets.contains", "sets.equivalent", "sets.intersects"}
    | {"isSorted", "sum", "min", "max", "indexOf", "lastIndexOf", "includes", "sort", "@sortByAssociatedKeys"}
    | {"optional.ofNonZeroValue", "join"}
)


# Functions that take apart a text: each call is some work, however short the text is.
PARSING = frozenset(
    {"quantity", "isQuantity", "semver", "isSemver", "url", "isURL", "ip", "isIP", "cidr", "isCIDR", "parseJSON"}
    | {"timestamp", "duration", "format", "semver_compare", "find", "findAll", "matches", "validate"}
)
PARSING_UNITS = 16


def exceeded(limit: int) -> BudgetExceededError:
    return BudgetExceededError(
        f"operation cancelled: the expression builds or compares more than the {limit} elements it may", "work"
    )


def shallow_units(args: Sequence[Any]) -> int:
    """The lengths of the arguments."""
    units = 0
    for arg in args:
        if isinstance(arg, (str, bytes)):
            units += len(arg) // CHARACTERS_PER_UNIT
        elif isinstance(arg, (list, tuple, Mapping)):
            units += len(arg)
    return units


def deep_units(values: Sequence[Any], enough: int) -> int:
    """Everything in the values, counted as often as it is reached; stops soon after `enough`."""
    units = len(values)
    pending: list[Any] = list(values)
    while pending and units <= enough:
        item = pending.pop()
        kind = item.__class__
        if kind in _SMALL:
            continue
        if kind is list or kind is tuple:
            units += len(item)
            pending.extend(item)
        elif isinstance(item, (str, bytes)):
            units += len(item) // CHARACTERS_PER_UNIT
        elif isinstance(item, Mapping):
            units += len(item)
            pending.extend(item.values())
    return units


def growth(function: str, args: Sequence[Any]) -> int:
    """What the result may have more than the arguments, for functions that multiply or make up their result."""
    match function, args:
        case "replace", [str(text), str(old), str(new), *_]:
            times = text.count(old) if old else len(text) + 1
            return times * len(new) // CHARACTERS_PER_UNIT
        case "join", [items, str(separator)] if isinstance(items, (list, tuple)):
            return len(items) * len(separator) // CHARACTERS_PER_UNIT
        case (("findAll" | "regex.extractAll"), [str(text), *_]):
            return 2 * len(text)  # a match per character, each of them a new text
        case "lists.range", [int(count)]:
            return max(count, 0)
        case _:
            return 0


def units_of(function: str, args: Sequence[Any], enough: int) -> int:
    """The work of a call, measured before it runs."""
    units = growth(function, args) + (PARSING_UNITS if function in PARSING else 0)
    if units > enough:
        return units
    return units + (deep_units(args, enough) if function in DEEP else shallow_units(args))
