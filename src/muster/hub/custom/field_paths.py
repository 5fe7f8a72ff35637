"""Paths of fields that definitions name: `.spec.replicas`, `.spec['a.b']`. Each must lead to a field of the schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from muster.values.json import Json, Schema

_WORD: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+|'", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class InvalidPathError(Exception):
    """A path that leads nowhere; the text says why."""


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path as field errors write it, its first name, and the schema it leads to."""

    text: str
    root: str
    schema: Schema


def read_path(text: str, schema: Schema, *, brackets: bool = True) -> FieldPath:
    """Raises InvalidPathError."""
    words = iter(_WORD.findall(text))
    found, root = "", ""
    for word in words:
        if word == "[":
            if not brackets:
                raise InvalidPathError("array notation is not allowed")
            name = _unquoted(_next(words))
            found, schema = _step(found, name, schema)
            closing = _next(words)
            if closing != "]":
                raise InvalidPathError(f"expected ] but got {closing}")
        elif word == ".":
            name = _next(words)
            found, schema = _step(found, name, schema)
        else:
            raise InvalidPathError(f"expected [ or . but got: {word}")
        root = root or name
    return FieldPath(found, root, schema)


def _next(words: Json) -> str:
    word: str | None = next(words, None)
    if word is None:
        raise InvalidPathError("unexpected end of JSON path")
    return word


def _unquoted(word: str) -> str:
    if len(word) < 2 or word[0] != "'" or word[-1] != "'":
        raise InvalidPathError(f"expected single quoted string but got {word}")

    def unescape(found: re.Match[str]) -> str:
        if found[0][1] not in _ESCAPES:
            raise InvalidPathError(f"invalid string literal: invalid escape char {found[0]}")
        return _ESCAPES[found[0][1]]

    return _ESCAPE.sub(unescape, word[1:-1])


def _step(path: str, name: str, schema: Schema) -> tuple[str, Schema]:
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    if properties is not None:
        if name not in properties:
            raise InvalidPathError("does not refer to a valid field")
        return (f"{path}.{name}" if path else name), properties[name]
    if isinstance(additional, dict):
        return f"{path}[{name}]", additional
    raise InvalidPathError("does not refer to a valid field")
