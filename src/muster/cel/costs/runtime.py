"""What evaluating costs: cel-go's numbers, as data.

Looking a variable or a field up costs 1, making a list 10, a map 30. Calls have a formula by overload id (cel-go's
defaults and its extension libraries) or by function name (the estimators of Kubernetes and Open Cluster Management,
which override the defaults). The plan asks `CostModel.call_cost` once per call; the numbers are counted at run time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from muster.cel.costs.meter import WORK_LIMIT
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

    `fixed` is set when neither arguments nor result matter, `inline` when generated code can count inline. A `metered`
    formula walks over values to price them, and takes the meter before the arguments.
    """

    formula: Callable[..., int | None]
    needs_result: bool = False
    metered: bool = False
    fixed: int | None = None
    inline: str = ""

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


def _first(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0]))


def _second(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[1]))


def _in_list(args: Sequence[Value], _: Value) -> int:
    return content_size(args[1])


def equality(args: Sequence[Value], _: Value) -> int:
    """Comparing two values: a traversal of the smaller one."""
    return traversal(min(content_size(args[0]), content_size(args[1])))


def _concatenation(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0]) + content_size(args[1]))


def _matches(args: Sequence[Value], _: Value) -> int:
    return math.ceil((1.0 + content_size(args[0])) * TRAVERSAL) * math.ceil(content_size(args[1]) * PATTERN)


def _contains(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0])) * traversal(content_size(args[1]))


ONE = fixed(1)
EQUALITY = Price(equality)
_CONCATENATION = Price(_concatenation, inline="ceil((len({0}) + len({1})) * 0.1)")
_MATCHES = Price(_matches, inline="ceil((1.0 + len({0})) * 0.1) * ceil(len({1}) * 0.25)")

DEFAULTS: Mapping[str, Price] = MappingProxyType(
    {
        **dict.fromkeys(("starts_with_string", "ends_with_string"), Price(_second, inline="ceil(len({1}) * 0.1)")),
        **dict.fromkeys(
            ("string_to_bytes", "bytes_to_string", "strings_quote", "string_format"),
            Price(_first, inline="ceil(len({0}) * 0.1)"),
        ),
        "in_list": Price(_in_list, inline="len({1})"),
        **{
            f"{order}_{kind}": EQUALITY
            for order in ("less", "less_equals", "greater", "greater_equals")
            for kind in ("string", "bytes")
        },
        "equals": EQUALITY,
        "not_equals": EQUALITY,
        **dict.fromkeys(("add_string", "add_bytes"), _CONCATENATION),
        **dict.fromkeys(("matches", "matches_string"), _MATCHES),
        "contains_string": Price(_contains, inline="ceil(len({0}) * 0.1) * ceil(len({1}) * 0.1)"),
    }
)


@dataclass(frozen=True, slots=True)
class CostModel:
    """How an environment charges.

    `overloads` come first, then `functions`, then the defaults; a call none of them knows costs 1.
    `presence_test` is what has() itself costs. `work_limit` bounds what calls build and compare beyond what cost
    counts (see meter.py).
    """

    name: str = "cel"
    presence_test: int = SELECT
    overloads: Mapping[str, Price] = field(default_factory=dict)
    functions: Mapping[str, Price] = field(default_factory=dict)
    declining: frozenset[Price] = frozenset()
    work_limit: int = WORK_LIMIT

    def call_cost(self, function: str, overload_id: str) -> Price:
        """The price of a call."""
        known = (self.overloads.get(overload_id), self.functions.get(function), DEFAULTS.get(overload_id))
        chain = [price for price in known if price is not None]
        if not chain:
            return ONE
        if chain[0] not in self.declining:
            return chain[0]
        return _combined((*chain, ONE))


def _combined(chain: tuple[Price, ...]) -> Price:
    """The first that knows an answer decides."""

    def formula(meter: Meter, args: Sequence[Value], result: Value) -> int:
        for price in chain:
            known = price.formula(meter, args, result) if price.metered else price.formula(args, result)
            if known is not None:
                return known
        return 0

    return Price(formula, needs_result=any(price.needs_result for price in chain), metered=True)
