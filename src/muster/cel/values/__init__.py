"""The values of CEL: their Python form, their types, order and limits; what walks over them is in traversals/.

JSON-like Python objects are values as they are. The rest is here: Uint, Timestamp, Duration, TypeValue,
OptionalValue, OpaqueValue (the base for libraries) and MapValue (only for maps with bool keys).
"""

from muster.cel.values.equality import compare, equal_plain
from muster.cel.values.inputs import check_input
from muster.cel.values.maps import MISSING, MapValue, contains, find, make_map
from muster.cel.values.model import (
    OPTIONAL_NONE,
    Duration,
    OpaqueValue,
    OptionalValue,
    Timestamp,
    TypeValue,
    Uint,
    kind_of,
    no_such_overload,
    optional,
    type_of,
)
from muster.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT, check_int, check_uint, format_double, format_plain
from muster.cel.values.value import Value

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
    "equal_plain",
    "find",
    "format_double",
    "format_plain",
    "kind_of",
    "make_map",
    "no_such_overload",
    "optional",
    "type_of",
]
