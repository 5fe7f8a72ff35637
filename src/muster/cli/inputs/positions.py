"""Where in a file a field stands: from a field path such as `spec.predicates[0].labelSelector` to a line.

YAML is read once more, for the places of its nodes only; JSON is YAML enough for that. Lines count from 1.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import yaml

from muster.values.yaml_reading import YamlError, YamlLimits, events

_LARGEST: Final = 4 * 1024 * 1024  # bytes: larger files are fleets, not placements that people write


class Place:
    """Where a value stands, and what is in it."""

    __slots__ = ("items", "line", "members")

    def __init__(self, line: int) -> None:
        self.line = line
        self.members: dict[str, tuple[int, Place]] = {}  # of a mapping: the key's line and the value
        self.items: list[Place] = []  # of a list


class Positions:
    """The fields of the documents of files, read when first asked for."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[int, Place]] = {}

    def line(self, origin: str, path: str) -> tuple[str, int]:
        """The file, and the line of the field or of the nearest around it. `origin` is `file:line` of the object."""
        name, _, first = origin.rpartition(":")
        if not first.isdecimal():
            return origin, 0
        node = self._of(name).get(int(first))
        return (name, int(first)) if node is None else (name, _line(node, path))

    def _of(self, name: str) -> dict[int, Place]:
        if name not in self._documents:
            self._documents[name] = _nodes(name)
        return self._documents[name]


def _nodes(name: str) -> dict[int, Place]:
    """The documents of a file by the lines at which they start."""
    path = Path(name)
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        roots = _places(path.read_bytes())
    except (OSError, YamlError):
        return {}  # stdin, or lines of JSON: the object's own place has to do
    return {root.line: root for root in roots}


def _places(text: bytes) -> list[Place]:
    """The documents of a text. What an alias stands for has no places of its own."""
    roots: list[Place] = []
    open_places: list[Place] = []
    keys: list[tuple[int, str] | None] = []  # of each open mapping: the key whose value comes next
    mappings: list[bool] = []
    for event in events(text, YamlLimits(values=_LARGEST)):
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            open_places.pop(), keys.pop(), mappings.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        line = 1 if event.start_mark is None else event.start_mark.line + 1
        if mappings and mappings[-1] and keys[-1] is None and not isinstance(event, yaml.CollectionStartEvent):
            keys[-1] = line, str(getattr(event, "value", ""))
            continue
        place = Place(line)
        if not open_places:
            roots.append(place)
        elif mappings[-1]:
            key_line, key = keys[-1] or (line, "")
            open_places[-1].members[key] = key_line, place
            keys[-1] = None
        else:
            open_places[-1].items.append(place)
        if isinstance(event, yaml.CollectionStartEvent):
            open_places.append(place)
            keys.append(None)
            mappings.append(isinstance(event, yaml.MappingStartEvent))
    return roots


def _line(place: Place, path: str) -> int:
    """Down the path as far as it leads. A label key may have dots in it, so the longest key that fits is taken."""
    line = place.line
    while path:
        index = re.match(r"\.?\[(\d{1,9})\]", path)
        if index is not None and int(index[1]) < len(place.items):
            place = place.items[int(index[1])]
            path = path[index.end() :]
            line = place.line
            continue
        path = path.removeprefix(".")
        fitting = [key for key in place.members if path == key or path.startswith((f"{key}.", f"{key}["))]
        if not fitting:
            break
        key = max(fitting, key=len)
        line, place = place.members[key]
        path = path[len(key) :]
    return line
