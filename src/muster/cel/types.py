"""CEL's types, as cel-go models and prints them.

Seam: the checker, the libraries, the interpreter and the code generator all speak in these.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """The families of types."""

    BOOL = auto()
    BYTES = auto()
    DOUBLE = auto()
    DURATION = auto()
    INT = auto()
    LIST = auto()
    MAP = auto()
    NULL = auto()
    OPAQUE = auto()  # optional_type and the types of libraries
    STRING = auto()
    STRUCT = auto()  # message types by name
    TIMESTAMP = auto()
    TYPE = auto()
    TYPE_PARAM = auto()
    UINT = auto()
    ANY = auto()
    DYN = auto()
    ERROR = auto()
    WRAPPER = auto()  # nullable primitive; params[0] is the primitive


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its kind, its name as users see it, and its parameters."""

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case Kind.WRAPPER:
                return f"wrapper({self.params[0]})"
            case _ if self.params:
                return f"{self.name}({', '.join(map(str, self.params))})"
            case _:
                return self.name


BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
UINT = Type(Kind.UINT, "uint")
ANY = Type(Kind.ANY, "any")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "*error*")
TYPE = Type(Kind.TYPE, "type")


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of_type(described: Type) -> Type:
    return Type(Kind.TYPE, "type", (described,))


def type_param(name: str) -> Type:
    return Type(Kind.TYPE_PARAM, name)


def opaque(name: str, *params: Type) -> Type:
    return Type(Kind.OPAQUE, name, params)


def struct(name: str) -> Type:
    return Type(Kind.STRUCT, name)


def wrapper(primitive: Type) -> Type:
    return Type(Kind.WRAPPER, f"wrapper({primitive.name})", (primitive,))
