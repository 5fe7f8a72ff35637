"""The styles that no library owns: Go's %v, which error texts show, and CEL's own notation, for explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.syntax.unparser import literal_text
from muster.cel.traversals.writing import Style, brief
from muster.cel.values import Duration, OptionalValue, Timestamp, TypeValue
from muster.cel.values.numbers import format_double, int_text
from muster.cel.values.timestamps import format_duration, format_timestamp
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_LONGEST_SHOWN = 8000  # characters of a value in an explanation
_MOST_SHOWN = 12_000  # units, for about two thousand parts


def go_leaf(value: Value) -> str:
    """A plain value as `%v` prints it."""
    match value:
        case None:
            return "0"  # cel-go's Null is an int in disguise
        case bool():
            return "true" if value else "false"
        case float():
            return format_double(value)
        case int():
            return int_text(value)
        case str():
            return value
        case bytes():
            return f"[{' '.join(map(int_text, value))}]"
        case _:
            return str(value)


def _literal(value: Value) -> str:
    match value:
        case Timestamp():
            return f'timestamp("{format_timestamp(value)}")'
        case Duration():
            return f'duration("{format_duration(value)}")'
        case TypeValue():
            return value.type.name
        case OptionalValue():
            return "optional.none()"
        case None | bool() | int() | float() | str() | bytes():
            return literal_text(value)
        case _:
            return (
                f'{type(value).cel_type.name}("{value}")' if hasattr(type(value), "cel_type") else type(value).__name__
            )


GO = Style(go_leaf, go_leaf, ordered=False, optional=("optional(", ")"))
LITERAL = Style(_literal, _literal, ordered=False, optional=("optional.of(", ")"))


def go_text(value: Value) -> str:
    """The value as an error text shows it; of a large one, the beginning."""
    return brief(value, GO)


def no_such_key(key: Value) -> EvaluationError:
    text = go_text(key)
    return EvaluationError(f"no such key: {text}", FailureKind.NO_SUCH_KEY, text)


def value_text(value: Value) -> str:
    """The value in CEL's own notation, of a large one the beginning; an error says that it is one."""
    if isinstance(value, EvaluationError):
        return f"error: {value}"
    return brief(value, LITERAL, _LONGEST_SHOWN, _MOST_SHOWN)
