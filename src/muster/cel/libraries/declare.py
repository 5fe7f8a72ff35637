"""Short forms for declaring functions, so that a library reads as a table."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from muster.cel.checking.types import Type, list_of, map_of, optional_of, type_param
from muster.cel.costs.charge import LIBRARY
from muster.cel.declarations import Overload
from muster.errors import InvalidObjectError
from muster.values.arguments import expected, several, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.cel.costs.charge import Charge, Tariff
    from muster.cel.declarations import Function

A = type_param("A")
B = type_param("B")
K = type_param("K")
T = type_param("T")
V = type_param("V")
LIST_A = list_of(A)
LIST_T = list_of(T)
LIST_V = list_of(V)
MAP_AB = map_of(A, B)
MAP_KV = map_of(K, V)
OPTIONAL_V = optional_of(V)
NOTHING: Mapping[Tariff, Charge] = MappingProxyType({})  # nobody charges for it: it costs 1


def call(
    overload_id: str,
    args: tuple[Type, ...],
    result: Type,
    impl: Callable[..., Any] | None,
    *,
    metered: bool = False,
    charges: Mapping[Tariff, Charge] = NOTHING,
) -> Overload:
    """An overload that is called by its name: f(x, y)."""
    _check(overload_id, args, result, impl)
    return Overload(overload_id, args, result, impl, metered=metered, charges=charges)


def method(
    overload_id: str,
    args: tuple[Type, ...],
    result: Type,
    impl: Callable[..., Any] | None,
    *,
    metered: bool = False,
    charges: Mapping[Tariff, Charge] = NOTHING,
) -> Overload:
    """An overload that is called on its first argument: x.f(y)."""
    _check(overload_id, args, result, impl)
    return Overload(overload_id, args, result, impl, member=True, metered=metered, charges=charges)


def _check(overload_id: str, args: tuple[Type, ...], result: Type, impl: Callable[..., Any] | None) -> None:
    """What people declare wrongly, told where they declare it. Raises InvalidObjectError."""
    text(overload_id, "overload_id")
    several(args, Type, "args", "a type such as DYN or list_of(STRING)")
    expected(result, Type, "result", "a type such as DYN or list_of(STRING)")
    if impl is not None and not callable(impl):
        raise InvalidObjectError("impl", "expected a function")


def uncharged(function: Function) -> Function:
    """The function as it was before its library declared costs."""
    return replace(
        function, overloads=tuple(replace(each, charges=_without_library(each)) for each in function.overloads)
    )


def _without_library(overload: Overload) -> Mapping[Tariff, Charge]:
    return {tariff: charge for tariff, charge in overload.charges.items() if tariff != LIBRARY}
