"""One step into a value: `value.field`, `value[key]`, and whether it is there. Errors have cel-go's texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from muster.cel.running.dispatch import list_index
from muster.cel.traversals import go_text, no_such_key
from muster.cel.values import MISSING, find
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

__all__ = ["MISSING", "lookup", "present", "qualify", "qualify_if_present"]


def lookup(container: Mapping[Value, Value], key: Value) -> Value:
    """`map[key]`; an absent key is an error."""
    found = find(container, key)
    if found is MISSING:
        raise no_such_key(key)
    return found


def qualify(value: Value, key: Value) -> Value:
    """The field, entry or element; an error when it is not there."""
    if isinstance(value, Mapping):
        return lookup(value, key)
    if isinstance(value, (list, tuple)):
        index = list_index(key)
        if 0 <= index < len(value):
            return value[index]
        raise EvaluationError(f"index out of bounds: {go_text(key)}", FailureKind.INDEX_OUT_OF_BOUNDS)
    raise no_such_key(key)


def qualify_if_present(value: Value, key: Value, strict: bool = False) -> Value:
    """As qualify, but MISSING when it is not there; a key that a list cannot have is still an error.

    A value that can have no fields is an error only when `strict`.
    """
    if isinstance(value, Mapping):
        return find(value, key)
    if isinstance(value, (list, tuple)):
        index = list_index(key)
        return value[index] if 0 <= index < len(value) else MISSING
    if strict:
        raise no_such_key(key)
    return MISSING


def present(value: Value, key: Value, strict: bool = False) -> bool:
    """What has() asks."""
    return qualify_if_present(value, key, strict) is not MISSING
