"""The meter: what an evaluation may still build, walk over, compare, copy or write, beside what it costs.

cel-go charges 1 for joining two lists of any length, 10 for a list literal of any length, and 1 for comparing two
structures however deep. A cost limit therefore bounds neither time nor memory. So every evaluation has a meter too, in
every environment: an element that is visited is a unit, four characters are one. Values are graphs in which one list
may be reached a million times; units count visits, not lists. What grows is charged before it grows.

A meter is a plain list of two numbers, the units left and the units there were: every evaluation makes one, and
nothing is made faster. Whoever walks over a value takes it as its first argument (see traversals/ and Overload).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from muster.errors import BudgetExceededError

if TYPE_CHECKING:
    from muster.cel.values.value import Value

Meter: TypeAlias = list[int]

WORK_LIMIT = 1_000_000  # units of one evaluation; a unit is about a tenth of a microsecond
CHARACTERS_PER_UNIT = 4
FREE_LITERAL = 8  # list and map literals up to this size are paid for by their cost

# Functions that take apart a text: each call is some work, however short the text is.
PARSING = frozenset(
    {"quantity", "isQuantity", "semver", "isSemver", "url", "isURL", "ip", "isIP", "cidr", "isCIDR", "parseJSON"}
    | {"timestamp", "duration", "format", "semver_compare", "find", "findAll", "matches", "validate"}
    | {"regex.extract", "regex.extractAll", "regex.replace", "json.encode", "ip.isCanonical"}
)
PARSING_UNITS = 32


def new_meter(units: int = WORK_LIMIT) -> Meter:
    return [units, units]


def spend(meter: Meter, units: int) -> None:
    """Take the units off; the evaluation ends when there are not as many left."""
    meter[0] -= units
    if meter[0] < 0:
        raise exceeded(meter)


def exceeded(meter: Meter) -> BudgetExceededError:
    return BudgetExceededError(
        f"operation cancelled: the expression builds or compares more than the {meter[1]} elements it may", "work"
    )


def spend_on_text(meter: Meter, characters: int) -> None:
    """As spend, for a text that is about to be made or walked over."""
    meter[0] -= characters // CHARACTERS_PER_UNIT + 1
    if meter[0] < 0:
        raise exceeded(meter)


def spend_on_call(meter: Meter, function: str, args: Sequence[Value]) -> None:
    """What any call is charged before it runs: the lengths of its arguments. What is inside them, it charges itself."""
    units = PARSING_UNITS if function in PARSING else 0
    for arg in args:
        if isinstance(arg, (str, bytes)):
            units += len(arg) // CHARACTERS_PER_UNIT
        elif isinstance(arg, (list, tuple, Mapping)):
            units += len(arg)
    spend(meter, units)
