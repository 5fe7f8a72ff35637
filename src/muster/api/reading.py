"""From JSON to the struct of a kind, whatever the JSON holds: as much of an object as can be read, and what cannot.

Called by the mirrors of the controllers for every change, by the rules and columns of kinds, by the hub for the kinds
it lives by, and by whoever has an object from a file. Nearly every object fits its struct at once. One that does not is
fitted field by field: null is what was never said (as Go has it, a null item of a list is the zero of its type), 3.0 is
an integer, and a field that has another shape altogether is left out and named. So a struct never fails on what a
schema allows, or on what a server with another schema has stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

import msgspec
from msgspec import inspect

from muster.errors import InvalidObjectError
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


T = TypeVar("T")
_PLAIN: Final = msgspec.json.Decoder()
_LEFT_OUT: Final = object()
_AT_ONCE: Final = 1000  # lines
_NAMES: Final[Mapping[type[inspect.Type], str]] = {
    inspect.StructType: "an object",
    inspect.DictType: "an object",
    inspect.VarTupleType: "a list",
    inspect.ListType: "a list",
    inspect.StrType: "a string",
    inspect.IntType: "an integer",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
}


class Reading(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """An object as far as it can be read, and the fields that had to be left out, if any."""

    obj: T
    faults: tuple[Fault, ...] = ()

    def fault_in(self, part: str = "") -> Fault | None:
        """The first fault, or the first in a part such as `spec`."""
        return next((each for each in self.faults if each.path.startswith(part)), None)

    def demanded(self, part: str = "") -> T:
        """The object, if it can be read whole, or a part of it such as `spec`. Raises InvalidObjectError."""
        if (fault := self.fault_in(part)) is not None:
            raise InvalidObjectError(fault.path, fault.message)
        return self.obj


class Reader(Generic[T]):
    """Reads one kind. Make one and keep it: what it knows of the struct is found out once."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        decoder = msgspec.json.Decoder(kind)
        self._decode: Callable[[bytes], T] = decoder.decode
        self._decode_lines: Callable[[bytes], list[T]] = decoder.decode_lines
        self._shape: inspect.Type | None = None

    def read(self, encoded: bytes) -> Reading[T] | Fault:
        """A fault alone when it is not even the JSON of an object, or nests deeper than anybody looks."""
        try:
            return Reading(self._decode(encoded))
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            pass
        try:
            return self.fitted(_PLAIN.decode(encoded))
        except RecursionError:
            return Fault("it nests too deep to be read")
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return Fault(str(error))

    def read_lines(self, lines: Sequence[bytes]) -> Iterator[Reading[T] | Fault]:
        """The same of many objects, each of which is one line: together, as long as all fit their struct."""
        for start in range(0, len(lines), _AT_ONCE):
            some = lines[start : start + _AT_ONCE]
            try:
                found = self._decode_lines(b"\n".join(some))
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
                found = []
            yield from map(Reading, found) if len(found) == len(some) else map(self.read, some)

    def fitted(self, plain: object) -> Reading[T] | Fault:
        """The same from an object that is decoded already, or comes from a file."""
        if not isinstance(plain, dict):
            return Fault(f"expected an object, not {_named(plain)}")
        try:
            return Reading(msgspec.convert(plain, self._kind))
        except (msgspec.ValidationError, RecursionError):
            pass  # fitted field by field
        if self._shape is None:
            self._shape = inspect.type_info(self._kind)
        faults: list[Fault] = []
        try:
            obj = msgspec.convert(_fit(plain, self._shape, "", faults), self._kind)
        except msgspec.ValidationError as error:
            return Fault(str(error))
        except RecursionError:
            return Fault("it nests too deep to be read")
        return Reading(obj, tuple(faults))

    def of(self, plain: JsonMapping) -> T:
        """As much of an object as can be read, for those who need no more: of one that a schema has let in, all."""
        found = self.fitted(plain)
        return self._kind() if isinstance(found, Fault) else found.obj

    def demanded(self, plain: object, part: str = "") -> T:
        """For those who need an object whole, or a part of it such as `spec`. Raises InvalidObjectError."""
        return self.partly(plain).demanded(part)

    def partly(self, plain: object) -> Reading[T]:
        """For those who take an object as far as it can be read. Raises InvalidObjectError for what is none at all."""
        found = self.fitted(plain)
        if isinstance(found, Fault):
            raise InvalidObjectError(found.path, found.message)
        return found


def _fit(value: Json, shape: inspect.Type, path: str, faults: list[Fault]) -> Json:
    """The value as the shape wants it; what has no place in it is `_LEFT_OUT`, and in the faults."""
    match shape:
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            wanted = ((each.encode_name, each.type) for each in fields)
            return _members(((name, value[name], kind) for name, kind in wanted if name in value), path, faults)
        case inspect.DictType(value_type=kind) if isinstance(value, dict):
            return _members(((str(name), each, kind) for name, each in value.items()), path, faults)
        case inspect.VarTupleType(item_type=kind) | inspect.ListType(item_type=kind) if isinstance(value, list | tuple):
            items = (
                _zero(kind) if each is None and not _takes(None, kind) else _fit(each, kind, f"{path}[{at}]", faults)
                for at, each in enumerate(value)
            )
            return [each for each in items if each is not _LEFT_OUT]
        case inspect.IntType() if isinstance(value, float) and value.is_integer():
            return int(value)
        case inspect.UnionType(types=types):
            if isinstance(value, dict) and (struct := _struct_of(types)) is not None:
                return _fit(value, struct, path, faults)
            fitting = next((each for kind in types if (each := _tried(value, kind)) is not _LEFT_OUT), _LEFT_OUT)
            return _left_out(value, shape, path, faults) if fitting is _LEFT_OUT else fitting
        case inspect.RawType():
            return _raw(value, path, faults)
        case _:
            return value if _takes(value, shape) else _left_out(value, shape, path, faults)


def _members(given: Iterable[tuple[str, Json, inspect.Type]], path: str, faults: list[Fault]) -> JsonObject:
    """Null stands for what was never said, except where it may be said."""
    fitted = {
        name: _fit(value, kind, f"{path}.{name}" if path else name, faults)
        for name, value, kind in given
        if value is not None or _takes(None, kind)
    }
    return {name: value for name, value in fitted.items() if value is not _LEFT_OUT}


def _raw(value: Json, path: str, faults: list[Fault]) -> Json:
    """From a file may come what JSON cannot say: lone surrogates, for one."""
    try:
        return msgspec.Raw(msgspec.json.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        faults.append(Fault(str(error), path))
        return _LEFT_OUT


def _struct_of(types: Iterable[inspect.Type]) -> inspect.Type | None:
    return next((kind for kind in types if isinstance(kind, inspect.StructType)), None)


def _tried(value: Json, shape: inspect.Type) -> Json:
    """The value for one of several shapes, if it is of that one."""
    faults: list[Fault] = []
    return _LEFT_OUT if (fitting := _fit(value, shape, "", faults)) is _LEFT_OUT or faults else fitting


def _takes(value: object, shape: inspect.Type) -> bool:
    match shape:
        case inspect.AnyType() | inspect.RawType():
            return True
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.UnionType(types=types):
            return any(_takes(value, kind) for kind in types)
        case _:
            return False


def _zero(shape: inspect.Type) -> Json:
    match shape:
        case inspect.StructType() | inspect.DictType():
            return {}
        case inspect.VarTupleType() | inspect.ListType():
            return []
        case inspect.StrType():
            return ""
        case inspect.BoolType():
            return False
        case _:
            return 0


def _left_out(value: object, shape: inspect.Type, path: str, faults: list[Fault]) -> object:
    kinds = shape.types if isinstance(shape, inspect.UnionType) else (shape,)
    wanted = " or ".join(dict.fromkeys(_NAMES.get(type(kind), "another value") for kind in kinds))
    faults.append(Fault(f"expected {wanted}, not {_named(value)}", path))
    return _LEFT_OUT


def _named(value: object) -> str:
    """The kind of a value, and not the value: it may be long, and nobody's to show."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"
