"""Where in a file a field stands: from a field path such as `spec.predicates[0].labelSelector` to a line.

YAML is read once more, for the places of its nodes only; JSON is YAML enough for that. Lines count from 1.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

_LARGEST: Final = 4 * 1024 * 1024  # bytes: larger files are fleets, not placements that people write


class Positions:
    """The fields of the documents of files, read when first asked for."""

    def __init__(self) -> None:
        self._documents: dict[str, dict[int, Any]] = {}

    def line(self, origin: str, path: str) -> tuple[str, int]:
        """The file, and the line of the field or of the nearest around it. `origin` is `file:line` of the object."""
        name, _, first = origin.rpartition(":")
        if not first.isdecimal():
            return origin, 0
        node = self._of(name).get(int(first))
        return (name, int(first)) if node is None else (name, _line(node, path))

    def _of(self, name: str) -> dict[int, Any]:
        if name not in self._documents:
            self._documents[name] = _nodes(name)
        return self._documents[name]


def _nodes(name: str) -> dict[int, Any]:
    """The documents of a file by the lines at which they start."""
    path = Path(name)
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        with path.open("rb") as stream:
            return {node.start_mark.line + 1: node for node in yaml.compose_all(stream, Loader=yaml.CSafeLoader)}
    except (OSError, yaml.YAMLError, ValueError, RecursionError):
        return {}  # stdin, or lines of JSON: the object's own place has to do


def _line(node: Any, path: str) -> int:
    """Down the path as far as it leads. A label key may have dots in it, so the longest key that fits is taken."""
    line = int(node.start_mark.line) + 1
    while path:
        index = re.match(r"\.?\[(\d+)\]", path)
        if index is not None and isinstance(node, yaml.SequenceNode) and int(index[1]) < len(node.value):
            node = node.value[int(index[1])]
            path = path[index.end() :]
        elif isinstance(node, yaml.MappingNode):
            path = path.removeprefix(".")
            fitting = [
                (key, value)
                for key, value in node.value
                if path == key.value or path.startswith((f"{key.value}.", f"{key.value}["))
            ]
            if not fitting:
                break
            key, node = max(fitting, key=lambda pair: len(pair[0].value))
            line, path = int(key.start_mark.line) + 1, path[len(key.value) :]
            continue
        else:
            break
        line = int(node.start_mark.line) + 1
    return line
