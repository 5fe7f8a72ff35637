"""The names that values have in cel-go's own language, since some of its error texts show them.

Planner and both back ends ask. A value that the caller handed in is a plain Go value there until something computes
with it; then it is one of cel-go's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.values import Duration, MapValue, OpaqueValue, OptionalValue, Timestamp, TypeValue, Uint
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_GO_TYPES: dict[type, str] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    list: "*types.baseList",
    tuple: "*types.baseList",
    dict: "*types.baseMap",
    MapValue: "*types.baseMap",
    TypeValue: "*types.Type",
    OptionalValue: "*types.Optional",
}
_NATIVE_TYPES: dict[type, str] = {
    bytes: "[]uint8",
    type(None): "<nil>",
    list: "[]interface {}",
    tuple: "[]interface {}",
    dict: "map[string]interface {}",
    Timestamp: "time.Time",
    Duration: "time.Duration",
}


def go_type(value: Value, *, native: bool = False) -> str:
    """The name of a value's Go type, which some of cel-go's error texts show; `native` as the caller handed it in."""
    known = _NATIVE_TYPES.get(type(value)) if native else None
    known = known or _GO_TYPES.get(type(value))
    if known is not None:
        return known
    if isinstance(value, OpaqueValue):
        package = getattr(value, "go_package", "cel")  # of Kubernetes' libraries, or of cel-go's
        return f"{package}.{value.cel_type.name.rpartition('.')[2].removeprefix('Named')}"
    return f"types.{type(value).__name__}"


def not_a_key(key: Value, *, native: bool) -> EvaluationError:
    """What cel-go says when something that can be no key is looked up."""
    return EvaluationError(f"invalid qualifier type: {go_type(key, native=native)}", FailureKind.INVALID_QUALIFIER)
