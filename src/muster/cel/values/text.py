"""Values as Go's fmt prints them inside cel-go's error texts."""

from __future__ import annotations

from typing import Any

from muster.cel.values.model import type_of
from muster.cel.values.numbers import format_double
from muster.errors import EvaluationError


def go_text(value: Any) -> str:
    """The value as `%v` prints it."""
    match value:
        case None:
            return "0"  # cel-go's Null is an int in disguise
        case bool():
            return "true" if value else "false"
        case float():
            return format_double(value)
        case int():
            return str(int(value))
        case str():
            return value
        case bytes():
            return f"[{' '.join(map(str, value))}]"
        case _:
            return str(value)


def no_such_overload(function: str, *args: Any) -> EvaluationError:
    """What cel-go says when no overload of a function takes the values it was given."""
    return EvaluationError(f"no such overload: {function}({', '.join(type_of(arg).name for arg in args)})")
