"""cel-go's optional values in versions 0 to 2: optional.of() and its kin, `?.`, `[?]`, or() and orValue()."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, DYN, INT, STRING, list_of, optional_of, type_of_type
from muster.cel.declarations import Constant, Function, Library
from muster.cel.libraries.declare import LIST_V, MAP_KV, OPTIONAL_V, K, V, call, method
from muster.cel.libraries.relations import index_list
from muster.cel.running.qualify import lookup
from muster.cel.syntax.macros import OPTIONAL_FLAT_MAP_MACROS, OPTIONAL_MAP_MACROS
from muster.cel.traversals import go_text
from muster.cel.values import (
    MISSING,
    OPTIONAL_NONE,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    find,
    optional,
)
from muster.cel.values.messages import EmptyValue
from muster.cel.values.model import MIN_TIMESTAMP_NS
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

LATEST = 2


def is_zero(value: Value) -> bool:
    """Whether the value is the empty one of its type: null, 0, false, '', [], {} and so on."""
    match value:
        case None:
            return True
        case Duration():
            return value.ns == 0
        case Timestamp():
            return value.ns == MIN_TIMESTAMP_NS  # Go's zero time is the first of January of year 1
        case EmptyValue():
            return True
        case bool() | int() | float() | str() | bytes() | list() | tuple() | Mapping():
            return not value
        case _:
            return False


def of_non_zero_value(value: Value) -> OptionalValue:
    return OPTIONAL_NONE if is_zero(value) else optional(value)


def none() -> OptionalValue:
    return OPTIONAL_NONE


def value_of(maybe: OptionalValue) -> Value:
    return maybe.value


def has_value(maybe: OptionalValue) -> bool:
    return maybe.present


def or_optional(maybe: OptionalValue, other: OptionalValue) -> OptionalValue:
    return maybe if maybe.present else other


def or_value(maybe: OptionalValue, other: Value) -> Value:
    return maybe.content if maybe.present else other


def select_field(operand: Value, field: str) -> OptionalValue:
    """`a.?b`: absent when a has no b; the absence of a itself carries on."""
    while isinstance(operand, OptionalValue):
        if not operand.present:
            return OPTIONAL_NONE
        operand = operand.content
    if not isinstance(operand, Mapping):
        raise EvaluationError(f"no such key: {field}", FailureKind.NO_SUCH_KEY, field)
    return find_key(operand, field)


def find_key(entries: Value, key: Value) -> OptionalValue:
    found = find(entries, key)
    return OPTIONAL_NONE if found is MISSING else optional(found)


def find_index(items: Value, index: int) -> OptionalValue:
    return optional(items[index]) if 0 <= index < len(items) else OPTIONAL_NONE


def find_index_in_optional(maybe: OptionalValue, index: int) -> OptionalValue:
    return find_index(maybe.content, index) if maybe.present else OPTIONAL_NONE


def find_key_in_optional(maybe: OptionalValue, key: Value) -> OptionalValue:
    return find_key(maybe.content, key) if maybe.present else OPTIONAL_NONE


def index_optional_list(maybe: OptionalValue, index: int) -> OptionalValue:
    return optional(index_list(maybe.content, index)) if maybe.present else OPTIONAL_NONE


def index_optional_map(maybe: OptionalValue, key: Value) -> OptionalValue:
    return optional(lookup(maybe.content, key)) if maybe.present else OPTIONAL_NONE


def first(items: Value) -> OptionalValue:
    return optional(items[0]) if items else OPTIONAL_NONE


def last(items: Value) -> OptionalValue:
    return optional(items[-1]) if items else OPTIONAL_NONE


def unwrap(items: Value) -> list[Value]:
    for item in items:
        if not isinstance(item, OptionalValue):
            raise EvaluationError(f"value {go_text(item)} is not optional")
    return [item.content for item in items if item.present]


_LIST_OF_OPTIONAL = list_of(OPTIONAL_V)
_OPTIONAL_LIST = optional_of(LIST_V)
_OPTIONAL_MAP = optional_of(MAP_KV)

_VERSION_0 = (
    Function(
        "optional.of",
        (call("optional_of", (V,), OPTIONAL_V, optional),),
        doc="An optional that has the value.",
        examples={"optional.of(1).value()": 1},
    ),
    Function(
        "optional.ofNonZeroValue",
        (call("optional_ofNonZeroValue", (V,), OPTIONAL_V, of_non_zero_value),),
        doc="An optional that has the value, unless it is empty: null, 0, false, '', [] or {}.",
        examples={"optional.ofNonZeroValue('').hasValue()": False, "optional.ofNonZeroValue('a').hasValue()": True},
    ),
    Function(
        "optional.none",
        (call("optional_none", (), OPTIONAL_V, none),),
        doc="An optional without a value.",
        examples={"optional.none().hasValue()": False},
    ),
    Function(
        "value",
        (method("optional_value", (OPTIONAL_V,), V, value_of),),
        doc="The value of an optional; an error if it has none.",
        examples={"optional.of('a').value()": "a"},
    ),
    Function(
        "hasValue",
        (method("optional_hasValue", (OPTIONAL_V,), BOOL, has_value),),
        doc="Whether an optional has a value.",
        examples={"{'a': 1}.?a.hasValue()": True},
    ),
    Function(
        "or",
        (method("optional_or_optional", (OPTIONAL_V, OPTIONAL_V), OPTIONAL_V, or_optional),),
        doc="The optional if it has a value, otherwise the other one, which is evaluated only then.",
        examples={"optional.none().or(optional.of(1)).value()": 1},
    ),
    Function(
        "orValue",
        (method("optional_orValue_value", (OPTIONAL_V, V), V, or_value),),
        doc="The value of the optional if it has one, otherwise the given value, which is evaluated only then.",
        examples={"{'env': 'dev'}.?zone.orValue('eu')": "eu"},
    ),
    Function(
        "_?._",
        (call("select_optional_field", (DYN, STRING), OPTIONAL_V, select_field),),
        doc="Written `a.?b`: the field if it is there, as an optional.",
        examples={"{'a': {'b': 1}}.?a.?b.orValue(0)": 1, "{'a': {}}.?a.?b.orValue(0)": 0},
    ),
    Function(
        "_[?_]",
        (
            call("list_optindex_optional_int", (LIST_V, INT), OPTIONAL_V, find_index),
            call("optional_list_optindex_optional_int", (_OPTIONAL_LIST, INT), OPTIONAL_V, find_index_in_optional),
            call("map_optindex_optional_value", (MAP_KV, K), OPTIONAL_V, find_key),
            call("optional_map_optindex_optional_value", (_OPTIONAL_MAP, K), OPTIONAL_V, find_key_in_optional),
        ),
        doc="Written `a[?b]`: the element or the value under the key if it is there, as an optional.",
        examples={"[1, 2][?5].orValue(0)": 0, "{'k': 3}[?'k'].value()": 3},
    ),
    Function(
        "_[_]",
        (
            call("optional_list_index_int", (_OPTIONAL_LIST, INT), OPTIONAL_V, index_optional_list),
            call("optional_map_index_value", (_OPTIONAL_MAP, K), OPTIONAL_V, index_optional_map),
        ),
        examples={"optional.of([1, 2])[1].value()": 2},
    ),
)
_VERSION_2 = (
    Function(
        "last",
        (method("list_last", (LIST_V,), OPTIONAL_V, last),),
        doc="The last element of a list, as an optional.",
        examples={"[1, 2, 3].last().value()": 3, "[].last().hasValue()": False},
    ),
    Function(
        "first",
        (method("list_first", (LIST_V,), OPTIONAL_V, first),),
        doc="The first element of a list, as an optional.",
        examples={"[1, 2, 3].first().value()": 1},
    ),
    Function(
        "optional.unwrap",
        (call("optional_unwrap", (_LIST_OF_OPTIONAL,), LIST_V, unwrap),),
        doc="The values of those optionals of a list that have one.",
        examples={"optional.unwrap([optional.of(1), optional.none()])": [1]},
    ),
    Function(
        "unwrapOpt",
        (method("optional_unwrapOpt", (_LIST_OF_OPTIONAL,), LIST_V, unwrap),),
        doc="The values of those optionals of a list that have one.",
        examples={"[optional.of(1), optional.none()].unwrapOpt()": [1]},
    ),
)
_TYPE = Constant("optional_type", type_of_type(OPTIONAL_V), TypeValue(OPTIONAL_V))


def optional_library(version: int = LATEST) -> Library:
    """The library as it was in that version. The environment must allow the optional syntax with it."""
    return Library(
        "cel.lib.optional",
        (*_VERSION_0, *(_VERSION_2 if version >= 2 else ())),
        (*OPTIONAL_MAP_MACROS, *(OPTIONAL_FLAT_MAP_MACROS if version >= 1 else ())),
        (_TYPE,),
    )
