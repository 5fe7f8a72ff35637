"""The standard definitions: every operator, conversion and function that CEL has without any library."""

from __future__ import annotations

from muster.cel.checking import types
from muster.cel.checking.types import BOOL, type_of_type
from muster.cel.declarations import Constant, Function, Library
from muster.cel.libraries import arithmetic, relations, standard_conversions, text, times
from muster.cel.libraries.declare import A, call
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.values import TypeValue
from muster.cel.values.messages import EmptyValue
from muster.cel.values.model import LIST_OF_DYN, MAP_OF_DYN


def negate_bool(value: bool) -> bool:
    return not value


LOGIC = (
    Function(
        "_?_:_",
        (call("conditional", (BOOL, A, A), A, None),),
        doc="Written `condition ? yes : no`: one of two values; the other one is not evaluated.",
        examples={"true ? 'yes' : 'no'": "yes"},
    ),
    Function(
        "_&&_",
        (call("logical_and", (BOOL, BOOL), BOOL, None),),
        doc="Whether both sides are true. A side that is false decides, even if the other one fails.",
        examples={"true && false": False, "1 / 0 > 0 && false": False},
    ),
    Function(
        "_||_",
        (call("logical_or", (BOOL, BOOL), BOOL, None),),
        doc="Whether one of the sides is true. A side that is true decides, even if the other one fails.",
        examples={"true || false": True, "1 / 0 > 0 || true": True},
    ),
    Function(
        "!_",
        (call("logical_not", (BOOL,), BOOL, negate_bool),),
        doc="The opposite.",
        examples={"!true": False},
    ),
    Function(
        "@not_strictly_false",
        (call("not_strictly_false", (BOOL,), BOOL, None),),
        doc="Used by the macros that iterate: false only for false, true also for an error.",
    ),
)

TYPES = (
    Constant("google.protobuf.NullValue.NULL_VALUE", types.INT, 0),
    Constant(EmptyValue.cel_type.name, type_of_type(EmptyValue.cel_type), TypeValue(EmptyValue.cel_type)),
    *(
        Constant(described.name, type_of_type(described), TypeValue(described))
        for described in (
            types.BOOL,
            types.BYTES,
            types.DOUBLE,
            types.DURATION,
            types.INT,
            LIST_OF_DYN,
            MAP_OF_DYN,
            types.NULL,
            types.STRING,
            types.TIMESTAMP,
            types.TYPE,
            types.UINT,
        )
    ),
)

STANDARD = Library(
    "cel.lib.std",
    functions=(
        *LOGIC,
        *relations.FUNCTIONS,
        *arithmetic.FUNCTIONS,
        *standard_conversions.FUNCTIONS,
        *text.FUNCTIONS,
        *times.FUNCTIONS,
    ),
    # existsOne is the newer name of exists_one; cel-go 0.29 knows it only with two variables.
    macros=tuple(macro for macro in STANDARD_MACROS if macro.name != "existsOne"),
    constants=TYPES,
)
