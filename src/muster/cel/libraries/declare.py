"""Short forms for declaring functions, so that a library reads as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.cel.checking.types import list_of, map_of, optional_of, type_param
from muster.cel.declarations import Overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.checking.types import Type

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


def call(
    overload_id: str, args: tuple[Type, ...], result: Type, impl: Callable[..., Any] | None, *, metered: bool = False
) -> Overload:
    """An overload that is called by its name: f(x, y)."""
    return Overload(overload_id, args, result, impl, metered=metered)


def method(
    overload_id: str, args: tuple[Type, ...], result: Type, impl: Callable[..., Any] | None, *, metered: bool = False
) -> Overload:
    """An overload that is called on its first argument: x.f(y)."""
    return Overload(overload_id, args, result, impl, member=True, metered=metered)
