"""Bessel functions of integer order, which Python's math lacks. Used by maths.py.

J comes from its series for small arguments, from its integral over a period below 30, where the trapezoidal rule
converges faster than any power, and from Hankel's expansion above; Y from the series around zero, in exact fractions
because its terms cancel, and from Hankel. Higher orders are reached by recurrence: upwards where that is stable, for J
beyond its argument downwards. What Go's math package does at the edges is done here too: orders that are no integers
of 64 bits, and arguments so large that the order hardly matters.
"""

from __future__ import annotations

import math
from fractions import Fraction

from muster.jq.values.numbers import MIN_INT, go_int

_EULER = 0.5772156649015329
_LARGE = 30.0
_HUGE = 2.0**302
_ROOT_OF_PI = math.sqrt(math.pi)


def j0(x: float) -> float:
    return _bessel_j(0, x)


def j1(x: float) -> float:
    return _bessel_j(1, x)


def jn(order: float, x: float) -> float:
    return _bessel_j(go_int(order), x)


def y0(x: float) -> float:
    return _bessel_y(0, x)


def y1(x: float) -> float:
    return _bessel_y(1, x)


def yn(order: float, x: float) -> float:
    return _bessel_y(go_int(order), x)


def terms(order: float, x: float) -> int:
    """How many steps a function of an order takes at most, for those who count the work.

    Not many beyond the argument: there J is soon too small and Y too large for any number.
    """
    number = abs(go_int(order))
    if number == -MIN_INT or not math.isfinite(x) or abs(x) >= _HUGE:
        return 0
    return 2 * min(number, 2 * int(abs(x)) + 2000)


def _vanishes(order: int, x: float) -> bool:
    """Whether J of the order is smaller than the smallest number: its first term is, and the others are smaller."""
    if order <= x or order < 2:
        return False
    return x == 0 or order * (math.log(x) - math.log(2)) - math.lgamma(order + 1) < -760


def _bessel_j(order: int, x: float) -> float:
    if x != x:
        return x
    if math.isinf(x):
        return 0.0
    if order == 0:
        return _base_j(0, abs(x))
    if x == 0:
        return 0.0
    if order == MIN_INT:  # it has no opposite, and goes no step up from the order 1
        return _far(0, abs(x))[0] if abs(x) >= _HUGE else _base_j(1, abs(x))
    negative = order % 2 == 1 and (x < 0) != (order < 0)
    value = _positive_j(abs(order), abs(x))
    return -value if negative else value


def _positive_j(order: int, x: float) -> float:
    if order == 1:
        return _base_j(1, x)
    if x >= _HUGE:
        return _far(order, x)[0]
    if _vanishes(order, x):
        return 0.0
    if order > x:
        return _series_j(order, x) if x < 1 else _downwards(order, x)
    before, now = _base_j(0, x), _base_j(1, x)
    for step in range(1, order):
        before, now = now, 2 * step / x * now - before
    return now


def _base_j(order: int, x: float) -> float:
    """Order 0 or 1."""
    if x < 1:
        return _series_j(order, x)
    if x > _LARGE:
        return _hankel(order, x)[0]
    points = int(x) + 60
    width = math.pi / points
    total = 0.5 * (1.0 + math.cos(order * math.pi))
    total += math.fsum(math.cos(order * at * width - x * math.sin(at * width)) for at in range(1, points))
    return total / points


def _series_j(order: int, x: float) -> float:
    """Around zero, below 1: no terms cancel, and twenty are enough."""
    half = x / 2
    term = 1.0
    for step in range(1, order + 1):
        term *= half / step
        if term == 0:
            return term
    total = term
    for step in range(1, 20):
        term *= -half * half / (step * (order + step))
        total += term
    return total


def _downwards(order: int, x: float) -> float:
    """Miller's recurrence from an order at which J is next to nothing, scaled by what all even orders sum up to."""
    start = 2 * ((order + int(math.sqrt(160 * order)) + 20) // 2)
    after, now, found, total = 0.0, 1e-300, 0.0, 0.0
    for step in range(start, 0, -1):
        after, now = now, 2 * step / x * now - after
        if abs(now) > 1e200:
            after, now, found, total = after * 1e-250, now * 1e-250, found * 1e-250, total * 1e-250
        if step - 1 == order:
            found = now
        if step % 2 == 1:
            total += now
    return found / (2 * total - now)


def _bessel_y(order: int, x: float) -> float:
    if x != x or x < 0:
        return math.nan
    if math.isinf(x):
        return 0.0
    odd_below = order < 0 and order % 2 == 1
    if x == 0:
        return math.inf if odd_below else -math.inf
    if order == 0:
        return _base_y(0, x)
    if order == MIN_INT:
        return _far(0, x)[1] if x >= _HUGE else _base_y(1, x)
    value = _positive_y(abs(order), x)
    return -value if odd_below else value


def _positive_y(order: int, x: float) -> float:
    if order > 1 and x >= _HUGE:
        return _far(order, x)[1]
    before, now = _base_y(0, x), _base_y(1, x)
    for step in range(1, order):
        if math.isinf(now):
            break
        before, now = now, 2 * step / x * now - before
    return now


def _base_y(order: int, x: float) -> float:
    """Order 0 or 1."""
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
    return 2 / math.pi * ((_log_of_half(x) + _EULER) * _base_j(0, x) - float(total))


def _y1_series(x: float) -> float:
    half = Fraction(x) / 2
    term, total = half, Fraction(0)
    harmonic = Fraction(1)  # H(k) + H(k + 1) at k = 0
    for step in range(_terms(x)):
        total += term * _short(harmonic)
        term = _short(term * -half * half / ((step + 1) * (step + 2)))
        harmonic += Fraction(1, step + 1) + Fraction(1, step + 2)
    return 2 / math.pi * ((_log_of_half(x) + _EULER) * _base_j(1, x) - 1 / x) - float(total) / math.pi


def _log_of_half(x: float) -> float:
    return math.log(x) - math.log(2)  # half of the smallest number is none


def _terms(x: float) -> int:
    return int(2 * x) + 25


def _short(number: Fraction) -> Fraction:
    """To 160 bits: enough against the cancellation, and the fractions stay small."""
    return Fraction(round(number * (1 << 160)), 1 << 160)


def _hankel(order: int, x: float) -> tuple[float, float]:
    """J and Y of order 0 or 1 for large arguments."""
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
    cosine, sine = _phase(order, x)
    scale = 1 / (_ROOT_OF_PI * math.sqrt(x))
    return scale * (even * cosine - odd * sine), scale * (even * sine + odd * cosine)


def _far(order: int, x: float) -> tuple[float, float]:
    """J and Y for arguments beside which the order is nothing: the waves alone."""
    cosine, sine = _phase(order, x)
    scale = 1 / (_ROOT_OF_PI * math.sqrt(x))
    return scale * cosine, scale * sine


def _phase(order: int, x: float) -> tuple[float, float]:
    """The root of two times cosine and sine of x - (2 * order + 1) * pi / 4, a difference that no float could hold."""
    cosine, sine = math.cos(x), math.sin(x)
    match order % 4:
        case 0:
            return cosine + sine, sine - cosine
        case 1:
            return sine - cosine, -sine - cosine
        case 2:
            return -cosine - sine, cosine - sine
        case _:
            return cosine - sine, sine + cosine
