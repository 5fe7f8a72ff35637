"""When two plain values are equal, and which is less, as the CEL specification and cel-go have it.

Numbers of different types compare by value; values of different types are otherwise simply unequal, but have no order.
Lists, maps and optionals are compared by traversals/equality.py, which counts what it visits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.values.model import Duration, OpaqueValue, Timestamp, TypeValue, Uint
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

# Classes whose values Python compares as CEL does, provided both sides are of the same class.
PLAIN = frozenset({str, int, Uint, float, bool, bytes, type(None), Timestamp, Duration, TypeValue})
_INTS = frozenset({int, Uint})
ORDERED = frozenset({str, int, Uint, float, bool, bytes, Timestamp, Duration})


def equal_plain(a: Value, b: Value) -> bool:
    """`a == b` where `a` is no list, map or optional. NaN differs from everything."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is kind_b and kind_a in PLAIN:
        return bool(a == b)
    if kind_a in _INTS:
        if kind_b in _INTS:
            return bool(a == b)
        return kind_b is float and float(a) == b
    if kind_a is float:
        return kind_b in _INTS and a == float(b)
    if kind_a in PLAIN and kind_b in PLAIN:
        return False
    return _equal_others(a, b)


def _equal_others(a: Value, b: Value) -> bool:
    """Opaque values, and subclasses of the plain Python types such as enums.

    The left side decides: an opaque type may refuse to be compared with others, everything else is simply different.
    """
    if isinstance(a, OpaqueValue):
        return b is not None and bool(a == b)
    if isinstance(a, bool) != isinstance(b, bool) or isinstance(b, OpaqueValue):
        return False
    return bool(a == b)


def compare(a: Value, b: Value) -> int:
    """-1, 0 or 1; an error where CEL has no order between the two."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is float or kind_b is float:
        return _compare_with_double(a, b)
    if (kind_a is not kind_b and not (kind_a in _INTS and kind_b in _INTS)) or kind_a not in ORDERED:
        return _compare_others(a, b)
    return int(a > b) - int(a < b)


def _compare_with_double(a: Value, b: Value) -> int:
    if type(a) is float and a != a:
        raise EvaluationError("NaN values cannot be ordered", FailureKind.UNORDERED_NAN)
    for side in (a, b):
        if type(side) is not float and type(side) not in _INTS:
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
    left, right = float(a), float(b)  # lossy for large ints, as in cel-go
    if right != right:
        raise EvaluationError("NaN values cannot be ordered", FailureKind.UNORDERED_NAN)
    return (left > right) - (left < right)


def _compare_others(a: Value, b: Value) -> int:
    """Subclasses of the ordered classes, such as str enums; everything else has no order."""
    if (isinstance(a, str) and isinstance(b, str)) or (isinstance(a, bytes) and isinstance(b, bytes)):
        return int(a > b) - int(a < b)  # type: ignore[operator]  # both are of one kind, which mypy does not combine
    raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
