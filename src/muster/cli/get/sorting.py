"""`--sort-by`: the value of a field by its path, and an order over whatever the values are. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from muster.values.json import Json

    Item = TypeVar("Item")

_STEP: Final = re.compile(r"\.([A-Za-z0-9_-]+)|\['([^']+)'\]|\[(\d{1,6})\]")
_DIGITS: Final = re.compile(r"(\d+)")
Path = tuple[str | int, ...]


def field_path(text: str) -> Path:
    """`.metadata.name`, `metadata.name`, `{.status.conditions[0].type}` or `.metadata.labels['a/b']`.

    >>> field_path("{.spec.taints[0].key}")
    ('spec', 'taints', 0, 'key')
    """
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    inner = inner if inner.startswith((".", "[")) else f".{inner}"
    steps: list[str | int] = []
    at = 0
    while at < len(inner):
        step = _STEP.match(inner, at)
        if step is None:
            reason = f"{text!r} is not the path of a field, such as .metadata.creationTimestamp or .spec.taints[0].key"
            raise InvalidObjectError("--sort-by", reason)
        steps.append(int(step[3]) if step[3] is not None else step[1] or step[2])
        at = step.end()
    return tuple(steps)


def in_order(items: Sequence[Item], path: Path, object_of: Callable[[Item], Json]) -> list[Item]:
    """By the field: those without it first, then numbers, then texts with the numbers in them counted as such.

    Raises InvalidObjectError if none of them has the field.
    """
    values = [value_at(object_of(item), path) for item in items]
    if items and all(value is None for value in values):
        written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
        raise InvalidObjectError("--sort-by", f"no object has a field {written}")
    order = sorted(range(len(items)), key=lambda at: _rank(values[at]))
    return [items[at] for at in order]


def value_at(value: Json, path: Path) -> Json:
    """None where there is none."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _rank(value: Json) -> tuple[int, float, tuple[tuple[int, str], ...]]:
    match value:
        case None:
            return 0, 0.0, ()
        case bool() | int() | float():
            return 1, float(value), ()
        case _:
            parts = _DIGITS.split(str(value))
            return 2, 0.0, tuple((int(part), "") if part.isdigit() else (0, part) for part in parts)
