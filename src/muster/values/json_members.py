"""Members of free-form JSON, whatever it holds: the object, the list or the text of a name, or an empty one.

For JSON that no struct of `api/` describes: objects of any kind before they are checked, parts that are written back as
they are. Where a kind is known, its struct is read instead. What is found is to be read, not to be written to.
"""

from __future__ import annotations

from muster.values.json import Json, JsonMapping, JsonObject


def object_at(source: JsonMapping, *path: str) -> JsonObject:
    """The object at a path of names; an empty one where there is none, or something else."""
    found: Json = source
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def list_at(source: JsonMapping, *path: str) -> list[Json]:
    """The list at a path of names; an empty one where there is none, or something else."""
    *above, last = path
    found = object_at(source, *above).get(last)
    return found if isinstance(found, list) else []


def text_at(source: JsonMapping, *path: str) -> str:
    """The text at a path of names; an empty one where there is none, or something else."""
    *above, last = path
    found = object_at(source, *above).get(last)
    return found if isinstance(found, str) else ""
