"""Catalogs from files and directories: file-based catalogs in JSON or YAML, and bundle directories.

The command line and the worker of the controllers read catalogs with it. Blobs are handed on one at a time, so that a
catalog of hundreds of megabytes is never held whole. What cannot be read is reported with file and line, and reading
goes on behind it. What blobs mean is the builder's matter.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import msgspec

from muster.errors import InvalidObjectError
from muster.reasons import Code, Reason
from muster.resolution.catalog.registry_bundle import read_bundle_directory
from muster.values.json import Json
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.reasons import Parameter
    from muster.resolution.catalog.blobs import CatalogBuilder

Fault: TypeAlias = Callable[[str, Reason], None]  # told where something cannot be read, and why
SUFFIXES: Final = (".json", ".ndjson", ".yaml", ".yml")
_MOST_BLOB: Final = 64 * 1024 * 1024  # bytes of one blob
_YAML_LIMITS: Final = YamlLimits(values=_MOST_BLOB, size=_MOST_BLOB)
_CHUNK: Final = 1024 * 1024
_SCHEMA: Final = re.compile(rb'\{\s*"schema"\s*:')


class Named(NamedTuple):
    """A file or directory, and what it is called where somebody is told of it: a server's paths are its own matter."""

    path: Path
    name: str

    def below(self, path: Path) -> Named:
        return Named(path, f"{self.name}{str(path).removeprefix(str(self.path))}")


def read_path(
    path: Path, builder: CatalogBuilder, advance: Callable[[], None] = lambda: None, *, name: str = ""
) -> None:
    """Read a file or everything in a directory. Raises InvalidObjectError only if there is nothing to read.

    Faults speak of the path, or of `name` in its place.
    """
    root = Named(path, name or str(path))
    if not path.exists():
        raise InvalidObjectError(root.name, "no such file or directory")
    for file in _files(root, builder):
        try:
            if file.path.is_dir():
                _read_bundle(file, builder)
                advance()
            else:
                with file.path.open("rb") as stream:
                    read_stream(file.path.name, stream, builder, advance, name=file.name)
        except OSError as error:
            builder.fault(file.name, _unreadable(error))
    if not builder.blobs and not builder.places and not builder.faults:
        raise InvalidObjectError(root.name, f"no blobs: no file here ends in {', '.join(SUFFIXES)}, or all are empty")


def read_stream(
    file: str, stream: IO[bytes], builder: CatalogBuilder, advance: Callable[[], None] = lambda: None, *, name: str = ""
) -> None:
    """Read one file; the ending of it says what it is. Faults speak of it by `name`, if that is another one."""
    for where, blob in blobs_of(file, stream, builder.fault, name=name):
        if isinstance(blob, bytes):
            builder.add_text(blob, where)
        else:
            builder.add_object(blob, where)
        advance()


def blobs_of(file: str, stream: IO[bytes], fault: Fault, *, name: str = "") -> Iterator[tuple[str, Json]]:
    """The objects of a file with where they begin: as JSON text if that is what it has, else as values."""
    plain, told = file.removesuffix(".gz"), name or file
    text = cast("IO[bytes]", gzip.GzipFile(fileobj=stream)) if plain != file else stream
    is_json = plain.endswith((".json", ".ndjson"))
    try:
        yield from _json_blobs(told, text, fault) if is_json else _yaml_blobs(told, text, fault)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        fault(told, Reason(Code.GZIP_BROKEN, parameters={"message": str(error)}))


def _unreadable(error: OSError) -> Reason:
    return Reason(Code.FILE_UNREADABLE, parameters={"message": error.strerror or str(error)})


def is_catalog_file(name: str) -> bool:
    return name.removesuffix(".gz").endswith(SUFFIXES)


def fingerprint(path: Path) -> str:
    """Changes when a file below the path does, without reading any; empty if there is nothing."""
    digest = hashlib.sha256()
    try:
        for file in sorted([path, *path.rglob("*")] if path.is_dir() else [path]):
            state = file.stat()
            digest.update(f"{file}\0{state.st_mtime_ns}\0{state.st_size}\0{state.st_ino}\n".encode())
    except OSError:
        return ""
    return digest.hexdigest()


def content_digest(path: Path) -> str:
    """A digest of all files below the path: their names and what is in them."""
    digest = hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]:
        digest.update(f"{file.relative_to(path)}\0".encode())
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _files(place: Named, builder: CatalogBuilder) -> Iterator[Named]:
    """Files with blobs, and directories that are bundles, in a fixed order."""
    path = place.path
    if path.is_file() or ((path / "manifests").is_dir() and (path / "metadata").is_dir()):
        yield place
        return
    try:
        children = sorted(path.iterdir())
    except OSError as error:
        builder.fault(place.name, _unreadable(error))
        return
    for child in children:
        if child.name.startswith("."):
            continue
        if child.is_dir():
            yield from _files(place.below(child), builder)
        elif is_catalog_file(child.name):
            yield place.below(child)


def _json_blobs(name: str, stream: IO[bytes], fault: Fault) -> Iterator[tuple[str, bytes]]:
    """Objects one after the other: each on a line, or printed over several lines in any manner.

    A brace at the margin mostly ends an object; whether it did is tried. When it did not, it is tried again when twice
    as much was read, so that the time stays in proportion to the size. A brace that opens where no value can
    stand, or before a schema, begins the next object, so that one without its end spoils no other.
    """
    pending: list[bytes] = []
    size = started = 0
    try_at = 0  # bytes
    before = b""  # the last line that was not blank
    for number, line in enumerate(_lines(stream), 1):
        if not line.strip():
            pending += [line] if pending else []  # lines are counted
            continue
        if pending and line.startswith(b"{") and (_SCHEMA.match(line) or not before.endswith((b"[", b",", b":"))):
            yield from _checked(name, started, b"".join(pending), fault)
            pending = []
        if not pending:
            started, size, try_at = number, 0, 0
        before = line.rstrip()
        pending.append(line)
        size += len(line)
        ending = line.startswith(b"}") or (len(pending) == 1 and line.rstrip().endswith(b"}"))
        if size > _MOST_BLOB:
            yield from _checked(name, started, b"".join(pending), fault)
            pending = []
        elif ending and size >= try_at:
            text = b"".join(pending)
            if _is_whole(text) or (len(pending) == 1 and b"}{" in line):
                yield from _checked(name, started, text, fault)
                pending = []
            else:
                pending, try_at = [text], size * 2
    if pending:
        yield from _checked(name, started, b"".join(pending), fault)


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines; one that is longer than a blob may be comes in parts, so that it is never held whole."""
    while line := stream.readline(_MOST_BLOB + 1):
        yield line


def _is_whole(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _checked(name: str, started: int, text: bytes, fault: Fault) -> Iterator[tuple[str, bytes]]:
    """The text if it is one JSON value, its parts if it is several; else a fault."""
    where = f"{name}:{started}"
    if len(text) > _MOST_BLOB:
        fault(where, Reason(Code.BLOB_TOO_LARGE, parameters={"most": _MOST_BLOB}))
    elif _is_whole(text):
        yield where, text
    else:
        yield from _several(name, started, text, fault)


def _several(name: str, started: int, text: bytes, fault: Fault) -> Iterator[tuple[str, bytes]]:
    decoder = json.JSONDecoder()
    rest = text.decode("utf-8", "replace").rstrip()
    place = counted = 0
    line = started
    while place < len(rest):
        if rest[place].isspace():
            place += 1
            continue
        line += rest.count("\n", counted, place)
        counted = place
        try:
            _, end = decoder.raw_decode(rest, place)
        except (ValueError, RecursionError) as error:
            at = started + getattr(error, "lineno", 1) - 1
            told: dict[str, Parameter] = {"message": str(getattr(error, "msg", error)), "line": line}
            fault(f"{name}:{at}", Reason(Code.JSON_INVALID, parameters=told))
            return
        yield f"{name}:{line}", rest[place:end].encode()
        place = end


def _yaml_blobs(name: str, stream: IO[bytes], fault: Fault) -> Iterator[tuple[str, Json]]:
    """Documents between lines of ---, each read for itself, so that a broken one spoils no other."""
    lines: list[bytes] = []
    started, size = 1, 0
    for number, line in enumerate(_lines(stream), 1):
        if line.startswith(b"---") and not line[3:].strip():
            yield from _yaml_document(name, started, b"".join(lines), fault)
            lines, started, size = [], number + 1, 0
            continue
        size += len(line)
        if size <= _MOST_BLOB:
            lines.append(line)
        elif lines:
            fault(f"{name}:{started}", Reason(Code.DOCUMENT_TOO_LARGE, parameters={"most": _MOST_BLOB}))
            lines = []
    yield from _yaml_document(name, started, b"".join(lines), fault)


def _yaml_document(name: str, started: int, text: bytes, fault: Fault) -> Iterator[tuple[str, Json]]:
    try:
        value = _yaml_value(text)
    except YamlError as error:
        line = started + max(error.line - 1, 0)
        fault(f"{name}:{line}", Reason(Code.YAML_INVALID, parameters={"message": error.problem}))
        return
    if value is not None:
        yield f"{name}:{started}", value


def _yaml_value(text: bytes) -> Json:
    """The value of a document, None if it is empty. Raises YamlError."""
    document = read_yaml(text, _YAML_LIMITS) if text.strip() else None
    return None if document is None else document.value


def _read_bundle(directory: Named, builder: CatalogBuilder) -> None:
    """A registry+v1 bundle directory."""
    metadata = directory.path / "metadata"
    try:
        csv = _manifest(directory.below(directory.path / "manifests"))
        annotations, dependencies, properties = (
            _optional(directory.below(metadata / name))
            for name in ("annotations.yaml", "dependencies.yaml", "properties.yaml")
        )
        read = read_bundle_directory(csv, annotations, dependencies, properties)
    except InvalidObjectError as error:
        told = {"message": str(error)}
        builder.fault(directory.name, Reason(Code.BUNDLE_DIRECTORY_INVALID, parameters=told))
        return
    edge = {"replaces": read.replaces, "skips": list(read.skips), "skipRange": read.skip_range}
    builder.add_bundle(read.bundle, dict.fromkeys(read.channels, edge), directory.name)
    builder.set_default_channel(read.bundle.package, read.default_channel)


def _manifest(directory: Named) -> Json:
    for file in sorted(directory.path.iterdir()):
        if file.suffix in (".yaml", ".yml", ".json"):
            value = _yaml_file(directory.below(file))
            if isinstance(value, dict) and value.get("kind") == "ClusterServiceVersion":
                return value
    raise InvalidObjectError(directory.name, "no ClusterServiceVersion among the manifests")


def _optional(file: Named) -> Json:
    return _yaml_file(file) if file.path.exists() else None


def _yaml_file(file: Named) -> Json:
    """The one document of a file of a bundle. Raises InvalidObjectError with file and line."""
    try:
        with file.path.open("rb") as stream:
            return _yaml_value(stream.read(_MOST_BLOB))
    except OSError as error:
        raise InvalidObjectError(file.name, error.strerror or str(error)) from error
    except YamlError as error:
        where = f"{file.name}:{error.line}" if error.line else file.name
        raise InvalidObjectError(where, f"not valid YAML: {error.problem}") from error
