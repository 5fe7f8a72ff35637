"""The values of CEL: their Python form, their types, equality, order and limits.

JSON-like Python objects are values as they are. The rest is here: Uint, Timestamp, Duration, TypeValue,
OptionalValue, OpaqueValue (the base for libraries) and MapValue (only for maps with bool keys).
"""

from muster.cel.values.equality import compare, equals
from muster.cel.values.inputs import check_input
from muster.cel.values.maps import MISSING, MapValue, contains, find, lookup, make_map, no_such_key
from muster.cel.values.model import (
    OPTIONAL_NONE,
    Duration,
    OpaqueValue,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    kind_of,
    optional,
    type_of,
)
from muster.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT, check_int, check_uint, format_double, format_plain
from muster.cel.values.text import go_text, no_such_overload

__all__ = [
    "MAX_INT",
    "MAX_UINT",
    "MIN_INT",
    "MISSING",
    "OPTIONAL_NONE",
    "Duration",
    "MapValue",
    "OpaqueValue",
    "OptionalValue",
    "Timestamp",
    "TypeValue",
    "Uint",
    "Value",
    "check_input",
    "check_int",
    "check_uint",
    "compare",
    "contains",
    "equals",
    "find",
    "format_double",
    "format_plain",
    "go_text",
    "kind_of",
    "lookup",
    "make_map",
    "no_such_key",
    "no_such_overload",
    "optional",
    "type_of",
]
