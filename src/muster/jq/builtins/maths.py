"""Builtins about numbers. Everything but `abs` works in floats, as Go's math package does: nothing here raises for a
number, the answer is not-a-number or an infinity instead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.builtins.bessel import j0, j1, jn, terms, y0, y1, yn
from muster.jq.values.numbers import bounded, go_int, is_number, to_float, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_LARGEST_EXPONENT, _SMALLEST_EXPONENT = 1023, -1075
_ONE_BY_LN2 = 1.44269504088896340735992468100189214
_LN2_BY_LN10 = 0.30102999566398119521373889472449302676


_STEPS: Mapping[str, int] = {
    "cbrt": 10, "fma": 5, "gamma": 1, "j0": 50, "j1": 50, "jn": 50, "lgamma": 1, "tgamma": 1, "y0": 800, "y1": 800,
    "yn": 1600,
}  # fmt: skip
"""Functions that take more than a microsecond or two."""


def _guarded(function: Callable[..., float]) -> Callable[..., float]:
    """Outside the domain is not-a-number; too large is infinite."""

    def guarded(*args: float) -> float:
        try:
            return function(*args)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return guarded


def _unary(name: str, function: Callable[[float], float]) -> Callable[[Meter, Value], float]:
    safe = _guarded(function)
    steps = _STEPS.get(name, 0)

    def applied(meter: Meter, value: Value) -> float:
        if not is_number(value):
            raise texts.not_applicable(meter, name, value)
        if steps:
            meter.step(steps)
        return safe(to_float(value))

    return applied


def _several(name: str, function: Callable[..., float]) -> Callable[..., float]:
    safe = _guarded(function)

    def applied(meter: Meter, _value: Value, *args: Any) -> float:
        for argument in args:
            if not is_number(argument):
                raise texts.not_applicable(meter, name, argument)
        numbers = [to_float(argument) for argument in args]
        if name in _STEPS:
            meter.step(_STEPS[name] + terms(*numbers) // 4 if name in ("jn", "yn") else _STEPS[name])
        return safe(*numbers)

    return applied


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function, for infinities too, keeping the sign of zero."""

    def rounded(value: float) -> float:
        return math.copysign(float(function(value)), value) if math.isfinite(value) else value

    return rounded


def _round_half_away(value: float) -> float:
    cut = math.trunc(value)
    return cut + math.copysign(1, value) if abs(value - cut) >= 0.5 else cut


def _log(function: Callable[[float], float], pole: float) -> Callable[[float], float]:
    return lambda value: -math.inf if value == pole else function(value)


def _log2(value: float) -> float:
    """By Go's formula, which differs from the C library's in the last digit."""
    if value == 0:
        return -math.inf
    fraction, exponent = math.frexp(value)
    return float(exponent - 1) if fraction == 0.5 else math.log(fraction) * _ONE_BY_LN2 + exponent


def _log10(value: float) -> float:
    return _log2(value) * _LN2_BY_LN10


def _atanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value)


def _sinh(value: float) -> float:
    try:
        return math.sinh(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _gamma(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    if value == -math.inf:
        return math.nan
    try:
        return math.gamma(value)
    except OverflowError:
        return math.copysign(math.inf, value) if abs(value) < 1 else math.inf


def _lgamma(value: float) -> float:
    if value == -math.inf:
        return -math.inf
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


def _logb(value: float) -> float:
    if value == 0:
        return -math.inf
    return float(math.frexp(value)[1] - 1) if math.isfinite(value) else abs(value)


def _cbrt(value: float) -> float:
    """The C library may be off by one digit, which shows for perfect cubes: one exact step of Newton's corrects it."""
    root = math.cbrt(value)
    if not math.isfinite(root) or root == 0:
        return root
    exact = Fraction(root)
    return float(exact - (exact**3 - Fraction(value)) / (3 * exact**2))


def _significand(value: float) -> float:
    return math.frexp(value)[0] * 2


def _power(base: float, exponent: float) -> float:
    if exponent == 0 or base == 1 or exponent != exponent or base != base:
        return math.pow(base, exponent)
    odd = math.isfinite(exponent) and exponent % 2 == 1
    if base == 0 and exponent < 0:
        return math.copysign(math.inf, base) if odd else math.inf
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf


def _scaled(value: float, exponent: float) -> float:
    """As in Go, where an exponent that no integer holds is the smallest one, and sums of exponents wrap around."""
    if value == 0 or not math.isfinite(value):
        return value
    power = go_int(exponent)
    total = wrapped(power + math.frexp(value)[1] - 1)
    if total < _SMALLEST_EXPONENT:
        return math.copysign(0.0, value)
    return math.copysign(math.inf, value) if total > _LARGEST_EXPONENT else math.ldexp(value, power)


def _fdim(left: float, right: float) -> float:
    difference = left - right
    return 0.0 if difference <= 0 else difference


def _drem(left: float, right: float) -> float:
    rest = math.remainder(left, right)
    return math.copysign(rest, left) if rest == 0 else rest


def _greatest(left: float, right: float) -> float:
    if left != left or right != right:
        return right if left != left else left
    return max(left, right, key=lambda value: (value, math.copysign(1, value)))


def _least(left: float, right: float) -> float:
    if left != left or right != right:
        return right if left != left else left
    return min(left, right, key=lambda value: (value, math.copysign(1, value)))


def _fused(left: float, right: float, addend: float) -> float:
    """left * right + addend with one rounding."""
    if not all(map(math.isfinite, (left, right, addend))):
        finite = math.isfinite(left) and math.isfinite(right)
        return addend if finite else left * right + addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if not exact:
        return left * right + addend
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _frexp(meter: Meter, value: Value) -> list[Value]:
    if not is_number(value):
        raise texts.not_applicable(meter, "frexp", value)
    return list(math.frexp(to_float(value)))


def _modf(meter: Meter, value: Value) -> list[Value]:
    if not is_number(value):
        raise texts.not_applicable(meter, "modf", value)
    number = to_float(value)
    return [math.copysign(0.0, number), number] if math.isinf(number) else list(math.modf(number))


def _abs(meter: Meter, value: Value) -> Value:
    if not is_number(value):
        raise texts.not_applicable(meter, "abs", value)
    return abs(value) if type(value) is float else bounded(meter, abs(value))


def _is_nan(meter: Meter, value: Value) -> bool:
    if value is None:
        return False
    if not is_number(value):
        raise texts.not_applicable(meter, "isnan", value)
    return bool(value != value)


def _is_normal(_meter: Meter, value: Value) -> bool:
    if not is_number(value):
        return False
    size = abs(to_float(value))
    return 2.2250738585072014e-308 <= size < math.inf


def _is_finite(_meter: Meter, value: Value) -> bool:
    return is_number(value) and not math.isinf(to_float(value))


def _is_infinite(_meter: Meter, value: Value) -> bool:
    return is_number(value) and math.isinf(to_float(value))


_UNARY: Mapping[str, Callable[[float], float]] = {
    "acos": math.acos,
    "acosh": math.acosh,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": _atanh,
    "cbrt": _cbrt,
    "ceil": _whole(math.ceil),
    "cos": math.cos,
    "cosh": math.cosh,
    "erf": math.erf,
    "erfc": math.erfc,
    "exp": math.exp,
    "exp10": lambda value: _power(10.0, value),
    "exp2": math.exp2,
    "expm1": math.expm1,
    "fabs": math.fabs,
    "floor": _whole(math.floor),
    "gamma": _gamma,
    "j0": j0,
    "j1": j1,
    "lgamma": _lgamma,
    "log": _log(math.log, 0),
    "log10": _log10,
    "log1p": _log(math.log1p, -1),
    "log2": _log2,
    "logb": _logb,
    "nearbyint": _whole(round),
    "rint": _whole(round),
    "round": _whole(_round_half_away),
    "significand": _significand,
    "sin": math.sin,
    "sinh": _sinh,
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
    "tgamma": _gamma,
    "trunc": _whole(math.trunc),
    "y0": y0,
    "y1": y1,
}

_SEVERAL: Mapping[tuple[str, int], Callable[..., float]] = {
    ("atan2", 2): math.atan2,
    ("copysign", 2): math.copysign,
    ("drem", 2): _drem,
    ("fdim", 2): _fdim,
    ("fma", 3): _fused,
    ("fmax", 2): _greatest,
    ("fmin", 2): _least,
    ("fmod", 2): math.fmod,
    ("hypot", 2): math.hypot,
    ("jn", 2): jn,
    ("ldexp", 2): _scaled,
    ("nextafter", 2): math.nextafter,
    ("nexttoward", 2): math.nextafter,
    ("pow", 2): _power,
    ("remainder", 2): math.remainder,
    ("scalb", 2): _scaled,
    ("scalbln", 2): _scaled,
    ("yn", 2): yn,
}

NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    **{(name, 0): _unary(name, function) for name, function in _UNARY.items()},
    **{key: _several(key[0], function) for key, function in _SEVERAL.items()},
    ("abs", 0): _abs,
    ("frexp", 0): _frexp,
    ("modf", 0): _modf,
    ("infinite", 0): lambda _meter, _value: math.inf,
    ("nan", 0): lambda _meter, _value: math.nan,
    ("isfinite", 0): _is_finite,
    ("isinfinite", 0): _is_infinite,
    ("isnan", 0): _is_nan,
    ("isnormal", 0): _is_normal,
}
