"""Which overloads of a function a call can mean, and what type that gives.

Called by the checker for every call. Several overloads fit when arguments are dyn; then the back ends choose by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from muster.cel.checking.types import DYN
from muster.cel.checking.unification import is_dyn, renamed
from muster.cel.costs.compile_budget import PER_OVERLOAD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.checking.types import Type
    from muster.cel.checking.unification import Substitution
    from muster.cel.declarations import Function, Overload

_NUMBERS = ("int64", "uint64", "double")
CROSS_TYPE_COMPARISONS = frozenset(
    f"{relation}_{left}_{right}"
    for relation in ("less", "less_equals", "greater", "greater_equals")
    for left in _NUMBERS
    for right in _NUMBERS
    if left != right
)


class Resolution(Struct, frozen=True):
    """The overloads that fit, and the type of the call: dyn when they disagree."""

    type: Type
    overload_ids: tuple[str, ...]


def _instance(overload: Overload, fresh_variable: Callable[[], Type]) -> tuple[tuple[Type, ...], Type]:
    """The signature of a generic overload with type variables of its own."""
    names = {name: fresh_variable() for name in overload.parameters}
    return tuple([renamed(argument, names) for argument in overload.args]), renamed(overload.result, names)


def resolved(
    function: Function,
    given: Sequence[Type],
    substitution: Substitution,
    fresh_variable: Callable[[], Type],
    *,
    member: bool,
    hide_cross_type: bool,
) -> Resolution | None:
    """What a call with these arguments means, or None when no overload fits."""
    result: Type | None = None
    spend, assignable = substitution.budget.spend, substitution.all_assignable
    overload_ids: list[str] = []
    for overload in function.overloads:
        if overload.member is not member or (hide_cross_type and overload.id in CROSS_TYPE_COMPARISONS):
            continue
        spend(PER_OVERLOAD)
        generic = overload.parameters
        wanted, returned = _instance(overload, fresh_variable) if generic else (overload.args, overload.result)
        if not assignable(given, wanted):
            continue
        overload_ids.append(overload.id)
        if generic:
            returned = substitution.apply(returned)
        if result is None:
            result = returned
        elif not is_dyn(result) and returned != result:
            result = DYN
    return None if result is None else Resolution(result, tuple(overload_ids))
