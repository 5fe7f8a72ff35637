"""When two values are equal, and which is less, as the CEL specification and cel-go have it.

Numbers of different types compare by value; values of different types are otherwise simply unequal, but have no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cel.values.maps import MISSING, find
from muster.cel.values.model import Duration, OpaqueValue, OptionalValue, Timestamp, TypeValue, Uint
from muster.errors import EvaluationError

# Classes whose values Python compares as CEL does, provided both sides are of the same class.
_PLAIN = frozenset({str, int, Uint, float, bool, bytes, type(None), Timestamp, Duration, TypeValue})
_INTS = frozenset({int, Uint})
_ORDERED = frozenset({str, int, Uint, float, bool, bytes, Timestamp, Duration})


def equals(a: Any, b: Any) -> bool:
    """`a == b`. Deep; NaN differs from everything, also inside lists."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b and kind_a in _PLAIN:
        return bool(a == b)
    if kind_a in _INTS:
        if kind_b in _INTS:
            return bool(a == b)
        return kind_b is float and float(a) == b
    if kind_a is float:
        return kind_b in _INTS and a == float(b)
    if isinstance(a, (list, tuple, Mapping)):
        try:
            return _equal_containers(a, b)
        except RecursionError:
            raise EvaluationError("values nest too deeply to be compared") from None
    if kind_a is OptionalValue:
        if kind_b is not OptionalValue or a.present != b.present:
            return False
        return not a.present or equals(a.content, b.content)
    if kind_a in _PLAIN and kind_b in _PLAIN:
        return False
    return _equal_others(a, b)


def _equal_containers(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping):
        return isinstance(b, Mapping) and _equal_maps(a, b)
    return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(equals, a, b))


def _equal_maps(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    if len(a) != len(b):
        return False
    for key, value in a.items():
        other = find(b, key)
        if other is MISSING or not equals(value, other):
            return False
    return True


def _equal_others(a: Any, b: Any) -> bool:
    """Opaque values, and subclasses of the plain Python types such as enums.

    The left side decides: an opaque type may refuse to be compared with others, everything else is simply different.
    """
    if isinstance(a, bool) != isinstance(b, bool) or (isinstance(b, OpaqueValue) and not isinstance(a, OpaqueValue)):
        return False
    return bool(a == b)


def compare(a: Any, b: Any) -> int:
    """-1, 0 or 1; an error where CEL has no order between the two."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is float or kind_b is float:
        return _compare_with_double(a, b)
    if (kind_a is not kind_b and not (kind_a in _INTS and kind_b in _INTS)) or kind_a not in _ORDERED:
        return _compare_others(a, b)
    return int(a > b) - int(a < b)


def _compare_with_double(a: Any, b: Any) -> int:
    if type(a) is float and a != a:
        raise EvaluationError("NaN values cannot be ordered")
    for side in (a, b):
        if type(side) is not float and type(side) not in _INTS:
            raise EvaluationError("no such overload")
    left, right = float(a), float(b)  # lossy for large ints, as in cel-go
    if right != right:
        raise EvaluationError("NaN values cannot be ordered")
    return (left > right) - (left < right)


def _compare_others(a: Any, b: Any) -> int:
    """Subclasses of the ordered classes, such as str enums; everything else has no order."""
    if (isinstance(a, str) and isinstance(b, str)) or (isinstance(a, bytes) and isinstance(b, bytes)):
        return int(a > b) - int(a < b)  # type: ignore[operator]  # both are of one kind, which mypy does not combine
    raise EvaluationError("no such overload")
