"""The simple JSONPath of printer columns: `.a.b`, `.a[*].b`, `.a[?(@.type=="X")].b`, `.a["k"]`, `.a\\.b/c`.

Compiled once per column. A path that leads nowhere gives no values. Not the language of `kubectl -o jsonpath`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_STEP = re.compile(
    r"""\.(?P<field>(?:[^.\[\]\\]|\\.)+)
      | \[(?P<every>\*)\]
      | \[(?P<index>-?\d+)\]
      | \[["'](?P<key>[^"']+)["']\]
      | \[\?\(@\.(?P<name>[\w-]+)\s*==\s*["'](?P<value>[^"']*)["']\)\]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str

    def walk(self, value: Json) -> Iterator[Json]:
        if isinstance(value, dict) and self.name in value:
            yield value[self.name]


@dataclass(frozen=True, slots=True)
class _Every:
    def walk(self, value: Json) -> Iterator[Json]:
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()


@dataclass(frozen=True, slots=True)
class _Index:
    at: int

    def walk(self, value: Json) -> Iterator[Json]:
        if isinstance(value, list) and -len(value) <= self.at < len(value):
            yield value[self.at]


@dataclass(frozen=True, slots=True)
class _Where:
    name: str
    wanted: str

    def walk(self, value: Json) -> Iterator[Json]:
        if isinstance(value, list):
            for each in value:
                if isinstance(each, dict) and each.get(self.name) == self.wanted:
                    yield each


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path."""

    steps: tuple[_Field | _Every | _Index | _Where, ...]

    def values(self, obj: Json) -> list[Json]:
        found: Iterable[Json] = [obj]
        for step in self.steps:
            found = [each for value in found for each in step.walk(value)]
        return list(found)

    def first(self, obj: Json) -> Json:
        """The first value, or None."""
        found = self.values(obj)
        return found[0] if found else None


@lru_cache(maxsize=512)
def compile_path(text: str) -> Path:
    """Raises InvalidObjectError for what this small language has no word for."""
    steps: list[_Field | _Every | _Index | _Where] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise InvalidObjectError("jsonPath", f"cannot read {text!r} at {at}")
        at = match.end()
        if (field := match["field"]) is not None:
            steps.append(_Field(re.sub(r"\\(.)", r"\1", field)))
        elif match["every"]:
            steps.append(_Every())
        elif (index := match["index"]) is not None:
            steps.append(_Index(int(index)))
        elif (key := match["key"]) is not None:
            steps.append(_Field(key))
        else:
            steps.append(_Where(match["name"], match["value"]))
    return Path(tuple(steps))
