"""Where two states of an object differ, as paths of fields. Pure; plans show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What every write changes.
_PASSING: Final = frozenset({"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"})


def changed_fields(before: JsonMapping, after: JsonMapping) -> list[str]:
    """Paths of what an apply has changed, without what any write changes and without the status."""
    return [path for path in _differences(before, after, "") if not path.startswith("status")]


def _differences(before: Json, after: Json, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            if path == "metadata" and name in _PASSING:
                continue
            inner = f"{path}.{name}" if path else name
            if name not in before or name not in after:
                yield inner
            else:
                yield from _differences(before[name], after[name], inner)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{path}[{place}]")
    elif before != after:
        yield path
