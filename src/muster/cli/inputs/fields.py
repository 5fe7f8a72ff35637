"""Fields of objects that people wrote: what is missing and what is null are the same to a reader. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.values.json import Json, JsonMapping


def text_in(obj: JsonMapping, key: str) -> str:
    """A text; empty where there is none."""
    found = obj.get(key)
    return "" if found is None else str(found)


def part_of(obj: JsonMapping, key: str) -> JsonMapping:
    """A mapping; empty where there is none."""
    found = obj.get(key)
    return {} if found is None else found


def items_of(obj: JsonMapping, key: str) -> list[Json]:
    """A list; empty where there is none."""
    found = obj.get(key)
    return [] if found is None else list(found)


def number_in(obj: JsonMapping, key: str) -> int:
    """A number; 0 where there is none."""
    found = obj.get(key)
    return 0 if found is None else int(found)
