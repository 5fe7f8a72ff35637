"""CEL's types, as cel-go models and prints them.

Seam: the checker, the libraries, the interpreter and the code generator all speak in these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from muster.values.arguments import expected, several, text

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind:
    """The families of types; each is there once.

    No Enum: to ask one for a member takes Python 3.11 five times as long, and the checker asks at every node.
    """

    __slots__ = ("name",)

    BOOL: ClassVar[Kind]
    BYTES: ClassVar[Kind]
    DOUBLE: ClassVar[Kind]
    DURATION: ClassVar[Kind]
    INT: ClassVar[Kind]
    LIST: ClassVar[Kind]
    MAP: ClassVar[Kind]
    NULL: ClassVar[Kind]
    OPAQUE: ClassVar[Kind]  # optional_type and the types of libraries
    STRING: ClassVar[Kind]
    STRUCT: ClassVar[Kind]  # message types by name
    TIMESTAMP: ClassVar[Kind]
    TYPE: ClassVar[Kind]
    TYPE_PARAM: ClassVar[Kind]
    UINT: ClassVar[Kind]
    ANY: ClassVar[Kind]
    DYN: ClassVar[Kind]
    ERROR: ClassVar[Kind]
    WRAPPER: ClassVar[Kind]  # nullable primitive; params[0] is the primitive

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Kind.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:  # the same one in another process, or in a copy
        return getattr, (Kind, self.name)


for _name in Kind.__annotations__:
    setattr(Kind, _name, Kind(_name))


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type: its kind, its name as users see it, and its parameters.

    Types nest as deep as expressions do, so nothing here may lean on Python's stack more than a loop does.
    """

    kind: Kind
    name: str
    params: tuple[Type, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Type):
            return NotImplemented
        pairs = [(self, other)]
        seen: set[tuple[int, int]] = set()  # a type may hold another one many times over
        while pairs:
            left, right = pairs.pop()
            if left is right:
                continue
            if left.params:
                if (id(left), id(right)) in seen:
                    continue
                seen.add((id(left), id(right)))
            if left.kind is not right.kind or left.name != right.name or len(left.params) != len(right.params):
                return False
            pairs.extend(zip(left.params, right.params, strict=True))
        return True

    def __hash__(self) -> int:
        return hash((self.kind, self.name, tuple([parameter.name for parameter in self.params])))

    def __str__(self) -> str:
        return written(self)


_MOST_WRITTEN = 1000  # types within types; the text of one that holds itself many times over has no end


def written(shown: Type, names: Mapping[Kind, str] | None = None) -> str:
    """The type as text, with other names for some kinds; the beginning of it where it has no end."""
    pieces: list[str] = []
    waiting: list[Type | str] = [shown]
    count = 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        count += 1
        if count > _MOST_WRITTEN:
            pieces.append("…")
            break
        name = names.get(item.kind) if names else None
        pieces.append(item.name if name is None else name)
        if name is None and item.params and item.kind is not Kind.WRAPPER:
            pieces.append("(")
            waiting.append(")")
            for index, parameter in enumerate(reversed(item.params)):
                if index:
                    waiting.append(", ")
                waiting.append(parameter)
    return "".join(pieces)


BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
UINT = Type(Kind.UINT, "uint")
ANY = Type(Kind.ANY, "google.protobuf.Any")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "*error*")
TYPE = Type(Kind.TYPE, "type")


def parameters_of(*signature: Type) -> list[str]:
    """The names of the type parameters in the types, each once, in the order of their appearance."""
    found: dict[str, None] = {}
    waiting = [*reversed(signature)]
    while waiting:
        each = waiting.pop()
        if each.kind is Kind.TYPE_PARAM:
            found[each.name] = None
        if each.params:
            waiting.extend(reversed(each.params))
    return list(found)


_A_TYPE = "a type such as DYN or list_of(STRING)"


def _type(given: Type, name: str) -> Type:
    return expected(given, Type, name, _A_TYPE)


def list_of(element: Type) -> Type:
    """A list of elements of one type."""
    return Type(Kind.LIST, "list", (_type(element, "element"),))


def map_of(key: Type, value: Type) -> Type:
    """A map from keys of one type to values of another."""
    return Type(Kind.MAP, "map", (_type(key, "key"), _type(value, "value")))


def optional_of(value: Type) -> Type:
    """A value of that type, or none."""
    return Type(Kind.OPAQUE, "optional_type", (_type(value, "value"),))


def type_of_type(described: Type) -> Type:
    """The type of a type."""
    return Type(Kind.TYPE, "type", (described,))


def type_param(name: str) -> Type:
    """A type that is whatever the arguments of a call make it; equal names are equal types."""
    return Type(Kind.TYPE_PARAM, text(name, "name"))


def opaque(name: str, *params: Type) -> Type:
    """A type of a library, known by its name only."""
    return Type(Kind.OPAQUE, text(name, "name"), several(params, Type, "params", _A_TYPE))


def struct(name: str) -> Type:
    """A type with fields, known by its name; a type provider says which."""
    return Type(Kind.STRUCT, text(name, "name"))


def wrapper(primitive: Type) -> Type:
    """A primitive, or null."""
    return Type(Kind.WRAPPER, f"wrapper({primitive.name})", (primitive,))
