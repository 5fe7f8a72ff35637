"""Objects from files and directories: YAML with several documents, JSON, JSON lines, Lists.

Files are read one object at a time, so that a fleet of any size can be sent. Aliases in YAML are refused
beyond a bound, because a few lines of them can stand for gigabytes. `muster.load` and all commands read with it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO


T = TypeVar("T")
SUFFIXES = (".yaml", ".yml", ".json", ".ndjson")
_BUFFER = 1 << 17  # bytes: lines of a few thousand are then taken from the file many at a time
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # of JSON; the last is depth
_MOST_WRITTEN_OUT = 64 * 1024 * 1024  # bytes, with every alias replaced by what it stands for


@dataclass(frozen=True, slots=True)
class Document:
    """An object, and where it was read."""

    origin: str
    object: JsonObject


def read_path(name: str) -> Iterator[Document]:
    """Every object in a file, or in the files of a directory by their names. Raises InvalidObjectError."""
    return read_files(name, read_stream)


def read_files(name: str, read: Callable[[str, BinaryIO], Iterator[T]]) -> Iterator[T]:
    """What a reader finds in a file, or in the files of a directory by their names. Raises InvalidObjectError."""
    path = Path(name)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        if not files:
            raise InvalidObjectError(name, f"no file in this directory ends in {', '.join(SUFFIXES)}")
    elif path.exists():
        files = [path]
    else:
        raise InvalidObjectError(name, "no such file or directory")
    for file in files:
        try:
            with file.open("rb", buffering=_BUFFER) as stream:
                yield from read(str(file), stream)
        except OSError as error:
            raise InvalidObjectError(str(file), error.strerror or str(error)) from error


def read_stream(origin: str, stream: BinaryIO) -> Iterator[Document]:
    """Every object in an open file."""
    first = stream.readline()
    if not is_json_line(first):
        yield from text_objects(origin, first + stream.read())
        return
    for number, line in enumerate(chain((first,), stream), start=1):
        if line.strip():
            yield from line_objects(origin, number, line)


def text_objects(origin: str, text: bytes) -> Iterator[Document]:
    """Every object in a text that is not one JSON object a line."""
    if text.lstrip().startswith(b"{"):
        try:
            yield from _unpacked(origin, 1, msgspec.json.decode(text))
            return
        except _UNREADABLE:
            pass  # flow-style YAML starts with a brace too; its error will be the better one
    yield from _yaml_documents(origin, text)


def is_json_line(first: bytes) -> bool:
    """Whether a file that begins with this line has one JSON object in each."""
    if not first.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(first)
    except _UNREADABLE:
        return False
    return True


def line_objects(origin: str, number: int, line: bytes) -> Iterator[Document]:
    """The object of one line, or the items of a List."""
    try:
        obj = msgspec.json.decode(line)
    except _UNREADABLE as error:
        raise InvalidObjectError(f"{origin}:{number}", f"not valid JSON: {error}") from error
    yield from _unpacked(origin, number, obj)


def _yaml_documents(origin: str, text: bytes) -> Iterator[Document]:
    for line, obj in yaml_values(origin, text):
        yield from _unpacked(origin, line, obj)


def yaml_values(origin: str, text: bytes) -> Iterator[tuple[int, Json]]:
    """The documents of a YAML text that are not empty, with their lines."""
    from muster.values.yaml_reading import YamlError, YamlLimits  # who reads JSON can do without
    from muster.values.yaml_reading import read_documents as yaml_documents

    try:
        # A fleet may have any number of values; only what aliases add is bounded.
        limits = YamlLimits(values=sys.maxsize, size=max(_MOST_WRITTEN_OUT, 2 * len(text)))
        for document in yaml_documents(text, limits):
            if document.value is not None:
                yield document.line, document.value
    except YamlError as error:
        place = f":{error.line}:{error.column}" if error.column else f":{error.line}" if error.line else ""
        raise InvalidObjectError(f"{origin}{place}", f"not valid YAML: {error.problem}") from error


def _unpacked(origin: str, line: int, obj: Json) -> Iterator[Document]:
    """The object, or the items of a List."""
    where = f"{origin}:{line}"
    if not isinstance(obj, dict):
        raise InvalidObjectError(
            where, f"an object is a mapping with apiVersion and kind, this is {type(obj).__name__}"
        )
    if str(obj.get("kind", "")).endswith("List") and isinstance(obj.get("items"), list):
        for item in obj["items"]:
            yield from _unpacked(origin, line, item)
        return
    for key in ("apiVersion", "kind"):
        if not isinstance(obj.get(key), str) or not obj[key]:
            raise InvalidObjectError(where, f"the object has no {key}")
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not any(map(metadata.get, ("name", "generateName"))):
        raise InvalidObjectError(where, f"{obj['kind']} has no metadata.name")
    for key in ("name", "generateName", "namespace"):
        if not isinstance(given := metadata.get(key, ""), str | None):
            text = f"metadata.{key}: expected a text, this is of type {type(given).__name__}"
            raise InvalidObjectError(where, text)
    yield Document(where, obj)
