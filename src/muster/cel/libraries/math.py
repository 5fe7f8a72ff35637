"""cel-go's math library, versions 0 to 2. The macros math.greatest and math.least call math.@max and math.@min."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from muster.cel.checking.types import BOOL, DOUBLE, DYN, INT, UINT, Type, list_of
from muster.cel.declarations import Function, Library, Overload
from muster.cel.libraries.declare import call
from muster.cel.syntax.macros import MATH_MACROS
from muster.cel.values import MAX_UINT, Uint, check_int, compare
from muster.cel.values.conversions import identity
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.values.value import Value

LATEST = 2
_NUMBERS: tuple[tuple[str, Type], ...] = (("double", DOUBLE), ("int", INT), ("uint", UINT))
_MIXED = (
    ("int", "uint"),
    ("int", "double"),
    ("double", "int"),
    ("double", "uint"),
    ("uint", "int"),
    ("uint", "double"),
)


def _better(name: str, wanted: int) -> Callable[[Value, Value], Value]:
    def pick(a: Value, b: Value) -> Value:
        try:
            return b if compare(a, b) == wanted else a
        except EvaluationError as error:
            raise EvaluationError(f"{error.message}: math.@{name}", error.kind) from None

    return pick


def _best_of(name: str, pick: Callable[[Value, Value], Value]) -> Callable[[Value], Value]:
    def best(numbers: Value) -> Value:
        if not numbers:
            raise EvaluationError(f"math.@{name}(list) argument must not be empty")
        chosen = numbers[0]
        try:
            for number in numbers[1:]:
                chosen = pick(chosen, number)
        except EvaluationError:  # cel-go looks at the type of the outcome only, and that of an error is wrong too
            chosen = None
        if type(chosen) not in {int, Uint, float}:
            raise EvaluationError(f"no such overload: math.@{name}", FailureKind.NO_SUCH_OVERLOAD)
        return chosen

    return best


def _extremum(name: str, wanted: int, doc: str) -> Function:
    pick = _better(name, wanted)
    best = _best_of(name, pick)
    by_name = dict(_NUMBERS)
    prefix = f"math_@{name}"
    return Function(
        f"math.@{name}",
        (
            *(call(f"{prefix}_{word}", (kind,), kind, identity) for word, kind in _NUMBERS),
            *(call(f"{prefix}_{word}_{word}", (kind, kind), kind, pick) for word, kind in _NUMBERS),
            *(call(f"{prefix}_{a}_{b}", (by_name[a], by_name[b]), DYN, pick) for a, b in _MIXED),
            *(call(f"{prefix}_list_{word}", (list_of(kind),), kind, best) for word, kind in _NUMBERS),
        ),
        doc=doc,
    )


def rounded(number: float) -> float:
    """To the nearest whole number, halves away from zero."""
    if not math.isfinite(number) or abs(number) >= 2.0**52:
        return number
    whole = math.floor(abs(number))
    return math.copysign(whole + (abs(number) - whole >= 0.5), number)


def _whole(towards: Callable[[float], int]) -> Callable[[float], float]:
    def apply(number: float) -> float:
        return math.copysign(float(towards(number)), number) if math.isfinite(number) else number

    return apply


def absolute_int(number: int) -> int:
    return check_int(abs(number))


def sign_of_double(number: float) -> float:
    if number != number:
        return number
    return float((number > 0) - (number < 0))


def sign_of_int(number: int) -> int:
    return (number > 0) - (number < 0)


def sign_of_uint(number: int) -> Uint:
    return Uint(number > 0)


def square_root(number: float) -> float:
    return math.sqrt(float(number)) if number >= 0 else math.nan


def _signed(bits: int) -> int:
    """The lowest 64 bits as a signed number."""
    bits &= MAX_UINT
    return bits - 2**64 if bits >= 2**63 else bits


def bit_not_uint(number: int) -> Uint:
    return Uint(MAX_UINT ^ int(number))


def _offset(function: str, bits: int) -> int:
    if bits < 0:
        raise EvaluationError(f"math.{function}() negative offset: {bits}")
    return min(bits, 64)


def shift_left_int(number: int, bits: int) -> int:
    return _signed(number << _offset("bitShiftLeft", bits))


def shift_left_uint(number: int, bits: int) -> Uint:
    return Uint((int(number) << _offset("bitShiftLeft", bits)) & MAX_UINT)


def shift_right_int(number: int, bits: int) -> int:
    """A logical shift: zeros come in from the left, also for negative numbers."""
    return _signed((number & MAX_UINT) >> _offset("bitShiftRight", bits))


def shift_right_uint(number: int, bits: int) -> Uint:
    return Uint(int(number) >> _offset("bitShiftRight", bits))


def _bitwise(name: str, compute: Callable[[int, int], int], doc: str, examples: dict[str, Value]) -> Function:
    def unsigned(a: int, b: int) -> Uint:
        return Uint(compute(int(a), int(b)))

    return Function(
        f"math.{name}",
        (
            call(f"math_{name}_int_int", (INT, INT), INT, compute),
            call(f"math_{name}_uint_uint", (UINT, UINT), UINT, unsigned),
        ),
        doc=doc,
        examples=examples,
    )


def _of_double(
    name: str, result: Type, impl: Callable[[float], Value], doc: str, examples: dict[str, Value]
) -> Function:
    return Function(f"math.{name}", (call(f"math_{name}_double", (DOUBLE,), result, impl),), doc=doc, examples=examples)


def _for_each(name: str, impls: dict[str, tuple[Type, Callable[..., Any]]]) -> tuple[Overload, ...]:
    kinds = dict(_NUMBERS)
    return tuple(call(f"math_{name}_{word}", (kinds[word],), result, impl) for word, (result, impl) in impls.items())


_VERSION_0 = (
    _extremum("min", 1, "What math.least() calls: the least of its arguments or of a list."),
    _extremum("max", -1, "What math.greatest() calls: the greatest of its arguments or of a list."),
)
_VERSION_1 = (
    _of_double("ceil", DOUBLE, _whole(math.ceil), "The next whole number up.", {"math.ceil(1.2)": 2.0}),
    _of_double("floor", DOUBLE, _whole(math.floor), "The next whole number down.", {"math.floor(-1.2)": -2.0}),
    _of_double(
        "round",
        DOUBLE,
        rounded,
        "The nearest whole number; halves go away from zero.",
        {"math.round(1.5)": 2.0, "math.round(-1.5)": -2.0},
    ),
    _of_double("trunc", DOUBLE, _whole(math.trunc), "The number without its fraction.", {"math.trunc(-1.7)": -1.0}),
    _of_double("isInf", BOOL, math.isinf, "Whether the number is an infinity.", {"math.isInf(1.0 / 0.0)": True}),
    _of_double("isNaN", BOOL, math.isnan, "Whether it is not a number.", {"math.isNaN(0.0 / 0.0)": True}),
    _of_double("isFinite", BOOL, math.isfinite, "Whether it is an ordinary number.", {"math.isFinite(1.2)": True}),
    Function(
        "math.abs",
        _for_each("abs", {"double": (DOUBLE, abs), "int": (INT, absolute_int), "uint": (UINT, identity)}),
        doc="The number without its sign.",
        examples={"math.abs(-5)": 5, "math.abs(-5.5)": 5.5},
    ),
    Function(
        "math.sign",
        _for_each(
            "sign", {"double": (DOUBLE, sign_of_double), "int": (INT, sign_of_int), "uint": (UINT, sign_of_uint)}
        ),
        doc="-1, 0 or 1, in the type of the number.",
        examples={"math.sign(-42)": -1, "math.sign(0.3)": 1.0, "math.sign(7u)": Uint(1)},
    ),
    _bitwise("bitAnd", lambda a, b: a & b, "The bits that both numbers have.", {"math.bitAnd(3, 5)": 1}),
    _bitwise("bitOr", lambda a, b: a | b, "The bits that one of the numbers has.", {"math.bitOr(1u, 2u)": Uint(3)}),
    _bitwise("bitXor", lambda a, b: a ^ b, "The bits that exactly one number has.", {"math.bitXor(3, 5)": 6}),
    Function(
        "math.bitNot",
        (
            call("math_bitNot_int_int", (INT,), INT, lambda number: ~number),
            call("math_bitNot_uint_uint", (UINT,), UINT, bit_not_uint),
        ),
        doc="Every bit flipped.",
        examples={"math.bitNot(1)": -2},
    ),
    Function(
        "math.bitShiftLeft",
        (
            call("math_bitShiftLeft_int_int", (INT, INT), INT, shift_left_int),
            call("math_bitShiftLeft_uint_int", (UINT, INT), UINT, shift_left_uint),
        ),
        doc="The bits moved to the left; what leaves 64 bits is lost.",
        examples={"math.bitShiftLeft(1, 3)": 8},
    ),
    Function(
        "math.bitShiftRight",
        (
            call("math_bitShiftRight_int_int", (INT, INT), INT, shift_right_int),
            call("math_bitShiftRight_uint_int", (UINT, INT), UINT, shift_right_uint),
        ),
        doc="The bits moved to the right; zeros come in from the left.",
        examples={"math.bitShiftRight(16, 2)": 4},
    ),
)
_VERSION_2 = (
    Function(
        "math.sqrt",
        _for_each(
            "sqrt", {"double": (DOUBLE, square_root), "int": (DOUBLE, square_root), "uint": (DOUBLE, square_root)}
        ),
        doc="The square root; of a negative number not a number.",
        examples={"math.sqrt(81)": 9.0},
    ),
)


def math_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    functions = (*_VERSION_0, *(_VERSION_1 if version >= 1 else ()), *(_VERSION_2 if version >= 2 else ()))
    return Library("cel.lib.ext.math", functions, MATH_MACROS)
