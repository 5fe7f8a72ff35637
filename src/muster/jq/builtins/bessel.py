"""Bessel functions of integer order, which Python's math lacks. Used by maths.py.

J comes from its integral over a period, where the trapezoidal rule converges faster than any power; Y from the series
around zero below 12, in exact fractions because its terms cancel; both from Hankel's expansion for large arguments.
"""

from __future__ import annotations

import math
from fractions import Fraction

_EULER = 0.5772156649015329
_LARGE = 30.0
_MAX_ORDER = 100_000


def j0(x: float) -> float:
    return _bessel_j(0, x)


def j1(x: float) -> float:
    return _bessel_j(1, x)


def jn(order: float, x: float) -> float:
    return _bessel_j(_order(order), x)


def y0(x: float) -> float:
    return _bessel_y(0, x)


def y1(x: float) -> float:
    return _bessel_y(1, x)


def yn(order: float, x: float) -> float:
    return _bessel_y(_order(order), x)


def terms(order: float, x: float) -> int:
    """How many terms a function of an order adds up at most, for those who count the work."""
    return sum(int(min(abs(number), _MAX_ORDER)) for number in (order, x) if math.isfinite(number))


def _order(order: float) -> int:
    if not math.isfinite(order):
        raise ValueError("order is not a number")
    return int(min(max(order, -_MAX_ORDER), _MAX_ORDER))


def _bessel_j(order: int, x: float) -> float:
    if x != x:
        return x
    if math.isinf(x):
        return 0.0
    sign = 1.0
    if order < 0:
        order, sign = -order, -1.0 if order % 2 else 1.0
    if x < 0:
        x, sign = -x, sign * (-1.0 if order % 2 else 1.0)
    if x == 0:
        return 1.0 if order == 0 else 0.0
    if order > 4 * x + 400:
        return 0.0  # smaller than the smallest number
    if order > x and order > 1 and x < 1:
        return sign * _small_j(order, x)
    if order <= 1 and x > _LARGE:
        return sign * _hankel(order, x)[0]
    if x > _LARGE and order * order < x:
        before, now = _hankel(0, x)[0], _hankel(1, x)[0]
        for step in range(1, order):
            before, now = now, 2 * step / x * now - before
        return sign * now
    points = int(min(x, 100_000.0)) + order + 60
    step_width = math.pi / points
    total = 0.5 * (1.0 + math.cos(order * math.pi))
    total += math.fsum(math.cos(order * at * step_width - x * math.sin(at * step_width)) for at in range(1, points))
    return sign * total / points


def _small_j(order: int, x: float) -> float:
    half = x / 2
    term = math.exp(order * math.log(half) - math.lgamma(order + 1))
    total = term
    for step in range(1, 60):
        term *= -half * half / (step * (order + step))
        total += term
    return total


def _bessel_y(order: int, x: float) -> float:
    if x != x or x < 0:
        return math.nan
    sign = 1.0
    if order < 0:
        order, sign = -order, -1.0 if order % 2 else 1.0
    if x == 0:
        return -math.inf * sign
    if math.isinf(x):
        return 0.0
    before, now = _y_base(0, x), _y_base(1, x)
    if order == 0:
        return sign * before
    for step in range(1, order):
        before, now = now, 2 * step / x * now - before
        if math.isinf(now):
            return sign * -math.inf
    return sign * now


def _y_base(order: int, x: float) -> float:
    if x > _LARGE:
        return _hankel(order, x)[1]
    return _y0_series(x) if order == 0 else _y1_series(x)


def _y0_series(x: float) -> float:
    quarter = Fraction(x) ** 2 / 4
    term, harmonic, total = Fraction(1), Fraction(0), Fraction(0)
    for step in range(1, _terms(x)):
        term = _short(term * -quarter / (step * step))
        harmonic += Fraction(1, step)
        total += term * _short(harmonic)
    return 2 / math.pi * ((math.log(x / 2) + _EULER) * _bessel_j(0, x) - float(total))


def _y1_series(x: float) -> float:
    half = Fraction(x) / 2
    term, total = half, Fraction(0)
    harmonic = Fraction(1)  # H(k) + H(k + 1) at k = 0
    for step in range(_terms(x)):
        total += term * _short(harmonic)
        term = _short(term * -half * half / ((step + 1) * (step + 2)))
        harmonic += Fraction(1, step + 1) + Fraction(1, step + 2)
    return 2 / math.pi * ((math.log(x / 2) + _EULER) * _bessel_j(1, x) - 1 / x) - float(total) / math.pi


def _terms(x: float) -> int:
    return int(2 * x) + 25


def _short(number: Fraction) -> Fraction:
    """To 160 bits: enough against the cancellation, and the fractions stay small."""
    return Fraction(round(number * (1 << 160)), 1 << 160)


def _hankel(order: int, x: float) -> tuple[float, float]:
    """J and Y for large arguments."""
    mu = 4.0 * order * order
    even, odd, term = 1.0, 0.0, 1.0
    for step in range(1, 40):
        following = term * (mu - (2 * step - 1) ** 2) / (step * 8 * x)
        if abs(following) > abs(term):
            break
        term = following
        signed = -term if step % 4 in (2, 3) else term
        if step % 2:
            odd += signed
        else:
            even += signed
        if abs(term) < 1e-18:
            break
    phase = x - (order / 2 + 0.25) * math.pi
    scale = math.sqrt(2 / (math.pi * x))
    return (
        scale * (even * math.cos(phase) - odd * math.sin(phase)),
        scale * (even * math.sin(phase) + odd * math.cos(phase)),
    )
