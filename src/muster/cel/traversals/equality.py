"""Whether two values of any depth are equal, and what follows from that: searching, and telling elements apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from muster.cel.costs.meter import exceeded, spend
from muster.cel.values import MISSING, OptionalValue, find
from muster.cel.values.equality import PLAIN, equal_plain
from muster.errors import BudgetExceededError, EvaluationError

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

_CONTAINER = 4  # units beside those of what is in it
_LONG_TEXT = 1024  # comparing as many characters takes about as long as a visit


def equals(meter: Meter, a: Value, b: Value) -> bool:
    """`a == b`. Deep, in the order of the elements; NaN differs from everything, also inside lists."""
    if a.__class__ in PLAIN:
        if a.__class__ is str and len(a) > _LONG_TEXT and b.__class__ is str:
            spend(meter, len(a) // _LONG_TEXT)
        return equal_plain(a, b)
    pairs = _inside(meter, a, b)
    if pairs.__class__ is bool:
        return pairs
    open_pairs: list[Iterator[tuple[Value, Value]]] = [pairs]
    while open_pairs:
        for left, right in open_pairs[-1]:
            if left.__class__ in PLAIN:
                if left.__class__ is str and len(left) > _LONG_TEXT and right.__class__ is str:
                    spend(meter, len(left) // _LONG_TEXT)
                if not equal_plain(left, right):
                    return False
                continue
            deeper = _inside(meter, left, right)
            if deeper is False:
                return False
            if deeper is not True:
                open_pairs.append(deeper)
                break
        else:
            open_pairs.pop()
    return True


def _inside(meter: Meter, a: Value, b: Value) -> Value:
    """Whether the two are equal, or the pairs of what is in them, which have to be."""
    if isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or len(a) != len(b):
            return False
        spend(meter, len(a) + _CONTAINER)
        return zip(a, b, strict=True)
    if isinstance(a, Mapping):
        if not isinstance(b, Mapping) or len(a) != len(b):
            return False
        spend(meter, 2 * len(a) + _CONTAINER)
        return _entries(a, b)
    if a.__class__ is OptionalValue:
        if b.__class__ is not OptionalValue or a.present != b.present:
            return False
        spend(meter, _CONTAINER)
        return iter(((a.content, b.content),)) if a.present else True
    return equal_plain(a, b)


def _entries(a: Mapping[Value, Value], b: Mapping[Value, Value]) -> Iterator[tuple[Value, Value]]:
    """The values under each key; one that only one side has is unlike everything."""
    for key, value in a.items():
        other = find(b, key)
        yield (value, other) if other is not MISSING else (True, False)


def first_index(meter: Meter, items: Sequence[Value], wanted: Value) -> int:
    """Where the value first is in the list; -1 if it is not."""
    for index, item in enumerate(items):
        meter[0] -= 1
        if meter[0] < 0:
            raise exceeded(meter)
        if _same(meter, item, wanted):
            return index
    return -1


def _same(meter: Meter, a: Value, b: Value) -> bool:
    """Equality as searches ask for it: what cannot be compared is not what was sought."""
    try:
        return equals(meter, a, b)
    except BudgetExceededError:
        raise
    except EvaluationError:
        return False


def last_index(meter: Meter, items: Sequence[Value], wanted: Value) -> int:
    for index in reversed(range(len(items))):
        spend(meter, 1)
        if _same(meter, items[index], wanted):
            return index
    return -1


def has_element(meter: Meter, items: Sequence[Value], wanted: Value) -> bool:
    """As `wanted in items` asks: the value is on the left of every comparison."""
    for item in items:
        meter[0] -= 1
        if meter[0] < 0:
            raise exceeded(meter)
        if _same(meter, wanted, item):
            return True
    return False


def shares_element(meter: Meter, items: Sequence[Value], others: Sequence[Value]) -> bool:
    return any(has_element(meter, others, item) for item in items)


def distinct(meter: Meter, items: Sequence[Value]) -> list[Value]:
    """Keeps the first of equal elements. Strings, the usual case, are told apart by a set."""
    strings: set[str] = set()
    others: list[Value] = []
    unique = []
    spend(meter, len(items))
    for item in items:
        if type(item) is str:
            if item in strings:
                continue
            strings.add(item)
        else:
            if has_element(meter, others, item):
                continue
            others.append(item)
        unique.append(item)
    return unique
