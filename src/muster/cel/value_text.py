"""A CEL value as one would write it in an expression. For explanations and tools; knows no commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cel.unparser import literal_text
from muster.cel.values import Duration, OptionalValue, Timestamp, TypeValue
from muster.cel.values.timestamps import format_duration, format_timestamp
from muster.errors import EvaluationError


def value_text(value: Any) -> str:
    """The value in CEL's own notation; an error says that it is one."""
    match value:
        case EvaluationError():
            return f"error: {value}"
        case Timestamp():
            return f'timestamp("{format_timestamp(value)}")'
        case Duration():
            return f'duration("{format_duration(value)}")'
        case TypeValue():
            return value.type.name
        case OptionalValue():
            return f"optional.of({value_text(value.content)})" if value.present else "optional.none()"
        case list() | tuple():
            return f"[{', '.join(map(value_text, value))}]"
        case Mapping():
            return "{" + ", ".join(f"{value_text(key)}: {value_text(item)}" for key, item in value.items()) + "}"
        case None | bool() | int() | float() | str() | bytes():
            return literal_text(value)
        case _:
            return f'{type(value).cel_type.name}("{value}")' if hasattr(type(value), "cel_type") else repr(value)
