"""Whether something from outside can be a value: JSON-like Python objects are used as they are, never converted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.values.maps import MapValue
from muster.cel.values.model import Duration, OpaqueValue, OptionalValue, Timestamp, TypeValue, Uint
from muster.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.values.value import Value

_SCALARS = (str, bool, float, bytes, type(None), Timestamp, Duration, TypeValue, OptionalValue, OpaqueValue)


def check_input(value: Value, path: str = "") -> None:
    """Walk over the whole value; raise InvalidObjectError, with the path, for the first thing that CEL cannot hold."""
    pending: list[tuple[Value, str]] = [(value, path)]
    while pending:
        item, place = pending.pop()
        if isinstance(item, _SCALARS):
            continue
        if isinstance(item, int):
            low, high = (0, MAX_UINT) if isinstance(item, Uint) else (MIN_INT, MAX_INT)
            if not low <= item <= high:
                raise InvalidObjectError(place, f"the number {int(item)} does not fit into 64 bits")
        elif isinstance(item, (list, tuple)):
            pending.extend((element, f"{place}[{index}]") for index, element in enumerate(item))
        elif isinstance(item, (dict, MapValue)):
            _check_keys(item, place)
            pending.extend((element, f"{place}.{key}" if place else f"{key}") for key, element in item.items())
        else:
            raise InvalidObjectError(
                place,
                f"a value of Python type '{type(item).__name__}' cannot be used in CEL: "
                "give None, bool, int, float, str, bytes, list, dict, or a class of muster.cel.values",
            )


def _check_keys(item: Mapping[Value, Value], place: str) -> None:
    for key in item:
        if isinstance(key, bool) and not isinstance(item, MapValue):
            raise InvalidObjectError(place, "a dict with bool keys mistakes true for 1: use MapValue")
        if not isinstance(key, (str, int)):
            raise InvalidObjectError(place, f"a map key of Python type '{type(key).__name__}' is neither text nor int")
