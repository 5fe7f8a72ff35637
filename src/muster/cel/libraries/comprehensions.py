"""cel-go's two-variable comprehensions: macros over index and element or key and value, and the function they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import MAP_KV, K, V, call
from muster.cel.syntax.macros import MAP_INSERT, TWO_VARIABLE_MACROS
from muster.cel.traversals import go_text
from muster.cel.values import contains, make_map
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value


def insert(entries: Value, key: Value, value: Value) -> Value:
    """A new map with one more entry. Linear in the map: whoever folds should collect entries instead."""
    if contains(entries, key):
        raise _exists(key)
    return make_map((*entries.items(), (key, value)))


def insert_all(entries: Value, more: Value) -> Value:
    for key in more:
        if contains(entries, key):
            raise _exists(key)
    return make_map((*entries.items(), *more.items()))


def _exists(key: Value) -> EvaluationError:
    return EvaluationError(f"insert failed: key {go_text(key)} already exists", FailureKind.REPEATED_KEY)


TWO_VARIABLE_COMPREHENSIONS = Library(
    "cel.lib.ext.comprev2",
    (
        Function(
            MAP_INSERT,
            (
                call("@mapInsert_map_key_value", (MAP_KV, K, V), MAP_KV, insert),
                call("@mapInsert_map_map", (MAP_KV, MAP_KV), MAP_KV, insert_all),
            ),
            doc="What transformMap() and transformMapEntry() call: a map with more entries.",
        ),
    ),
    TWO_VARIABLE_MACROS,
)
