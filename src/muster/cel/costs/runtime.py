"""What evaluating costs: cel-go's numbers, and the prices of calls.

Looking a variable or a field up costs 1, making a list 10, a map 30. What a call costs is declared beside its function,
in libraries/, with what is here; charging.py says whose price counts where. The plan asks once per call, and the
numbers are counted at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from muster.cel.values import OpaqueValue, OptionalValue
from muster.cel.values.value import Value
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter

SELECT = 1  # also of a variable
LIST = 10
MAP = 30
STRUCT = 40
TRAVERSAL = 0.1  # per character of a text that is walked over
PATTERN = 0.25  # per character of a regular expression

LIMIT_MESSAGE = "operation cancelled: actual cost limit exceeded"

Formula: TypeAlias = Callable[[Sequence[Value], Value], "int | None"]
"""(arguments, result) -> cost; None leaves it to the next in line. Both may be errors, and of any type."""


@dataclass(frozen=True, slots=True, eq=False)
class Price:
    """What a call costs. One that does not need the result is charged before the call, so that the limit stops it.

    `fixed` is set when neither arguments nor result matter, `inline` when generated code can count inline: {0} is the
    first argument, {result} the result, {otherwise} the price by its formula. A `metered` formula walks over values to
    price them, and takes the meter before the arguments. One that `declines` may give None, which leaves the call to
    whoever is asked next.
    """

    formula: Callable[..., int | None]
    needs_result: bool = False
    metered: bool = False
    fixed: int | None = None
    inline: str = ""
    declines: bool = False

    def __call__(self, meter: Meter, args: Sequence[Value], result: Value) -> int:
        if self.metered:
            return self.formula(meter, args, result) or 0
        return self.formula(args, result) or 0


def fixed(cost: int) -> Price:
    return Price(lambda _, __: cost, fixed=cost)


_SIZED = (str, bytes, list, tuple, Mapping)
_PLAINLY_SIZED = frozenset({str, bytes, list, tuple, dict})
_UNSIZED = frozenset({int, float, bool, type(None), EvaluationError})


def size_of(value: Value) -> int:
    """The size of a text, list or map; the size an opaque value states; 1 for everything else, also for errors."""
    kind = value.__class__
    if kind in _PLAINLY_SIZED:
        return len(value)
    if kind in _UNSIZED:
        return 1
    if isinstance(value, _SIZED):
        return len(value)
    if isinstance(value, OpaqueValue):
        return int(getattr(value, "cel_size", 1))
    return 1


def content_size(value: Value) -> int:
    """As size_of, looking into optionals: what cel-go itself does, but not its libraries."""
    while value.__class__ is OptionalValue:
        if not value.present:
            return 1
        value = value.content
    return size_of(value)


def traversal(size: int, factor: float = TRAVERSAL) -> int:
    """The factor times the size, rounded up in floating point as cel-go does."""
    return math.ceil(size * factor)


def equality(args: Sequence[Value], _: Value) -> int:
    """Comparing two values: a traversal of the smaller one."""
    return traversal(min(content_size(args[0]), content_size(args[1])))


ONE = fixed(1)  # of every call that nobody has priced
EQUALITY = Price(equality)


def first_of(prices: tuple[Price, ...]) -> Price:
    """The first of them that knows an answer decides."""

    def formula(meter: Meter, args: Sequence[Value], result: Value) -> int:
        for price in prices:
            known = price.formula(meter, args, result) if price.metered else price.formula(args, result)
            if known is not None:
                return known
        return 0

    return Price(formula, needs_result=any(price.needs_result for price in prices), metered=True)
