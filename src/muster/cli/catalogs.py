"""Catalogs from files and directories: file-based catalogs in JSON or YAML, and bundle directories.

Blobs are handed on one at a time, so that a catalog of hundreds of megabytes is never held whole. What cannot be read
is reported with file and line, and reading goes on behind it.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec
import yaml

from muster.errors import InvalidObjectError
from muster.resolution.blobs import CatalogBuilder
from muster.resolution.registry_bundle import read_bundle_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cli.progress import Progress

SUFFIXES = (".json", ".ndjson", ".yaml", ".yml")
_MOST_ALIASES = 1000
_MOST_BLOB = 64 * 1024 * 1024  # bytes of one blob


def read_catalog(argument: str, priorities: dict[str, int], progress: Progress) -> CatalogBuilder:
    """The catalog that `[NAME=]PATH` speaks of. Raises InvalidObjectError only if there is nothing to read."""
    name, path = _split(argument)
    builder = CatalogBuilder(name, priority=priorities.get(name, 0))
    if not path.exists():
        raise InvalidObjectError(str(path), "no such file or directory")
    for file in _files(path):
        try:
            if file.is_dir():
                _read_bundle(file, builder)
            else:
                _read_file(file, builder, progress)
        except OSError as error:
            builder.fault(str(file), error.strerror or str(error))
    if not builder.blobs and not builder.places and not builder.faults:
        raise InvalidObjectError(str(path), f"no blobs: no file here ends in {', '.join(SUFFIXES)}, or all are empty")
    return builder


def _split(argument: str) -> tuple[str, Path]:
    name, equals, rest = argument.partition("=")
    path = Path(rest if equals and "/" not in name else argument)
    if equals and "/" not in name:
        return name, path
    return path.resolve().name.split(".")[0] or str(path), path


def _files(path: Path) -> Iterator[Path]:
    """Files with blobs, and directories that are bundles, in a fixed order."""
    if path.is_file():
        yield path
        return
    if (path / "manifests").is_dir() and (path / "metadata").is_dir():
        yield path
        return
    for child in sorted(path.iterdir()):
        if child.name.startswith("."):
            continue
        if child.is_dir():
            yield from _files(child)
        elif child.name.removesuffix(".gz").endswith(SUFFIXES):
            yield child


def _read_file(file: Path, builder: CatalogBuilder, progress: Progress) -> None:
    with cast("IO[bytes]", gzip.open(file) if file.suffix == ".gz" else file.open("rb")) as stream:
        is_json = file.name.removesuffix(".gz").endswith((".json", ".ndjson"))
        blobs = _json_blobs(str(file), stream, builder) if is_json else _yaml_blobs(str(file), stream, builder)
        for where, blob in blobs:
            if isinstance(blob, bytes):
                builder.add_text(blob, where)
            else:
                builder.add_object(blob, where)
            progress.advance()


def _json_blobs(name: str, stream: IO[bytes], builder: CatalogBuilder) -> Iterator[tuple[str, bytes]]:
    """Objects one after the other: each on a line, or printed over several with only its braces at the margin."""
    pending: list[bytes] = []
    size = started = 0
    for number, line in enumerate(stream, 1):
        if pending and line.startswith(b"{"):  # what came before has no end, but this is a beginning
            yield from _checked(name, started, b"".join(pending), builder)
            pending = []
        if not pending:
            if not line.strip():
                continue
            started, size = number, 0
        pending.append(line)
        size += len(line)
        on_one_line = len(pending) == 1 and (_is_whole(line) or b"}{" in line)
        if line.startswith(b"}") or on_one_line or size > _MOST_BLOB:
            yield from _checked(name, started, b"".join(pending), builder)
            pending = []
    if pending:
        yield from _checked(name, started, b"".join(pending), builder)


def _is_whole(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _checked(name: str, started: int, text: bytes, builder: CatalogBuilder) -> Iterator[tuple[str, bytes]]:
    """The text if it is one JSON value, its parts if it is several; else a fault."""
    where = f"{name}:{started}"
    if len(text) > _MOST_BLOB:
        builder.fault(where, f"a blob of more than {_MOST_BLOB} bytes")
    elif _is_whole(text):
        yield where, text
    else:
        yield from _several(name, started, text, builder)


def _several(name: str, started: int, text: bytes, builder: CatalogBuilder) -> Iterator[tuple[str, bytes]]:
    decoder = json.JSONDecoder()
    rest = text.decode("utf-8", "replace").rstrip()
    place = 0
    while place < len(rest):
        if rest[place].isspace():
            place += 1
            continue
        line = started + rest.count("\n", 0, place)
        try:
            _, end = decoder.raw_decode(rest, place)
        except (ValueError, RecursionError) as error:
            at = started + getattr(error, "lineno", 1) - 1
            builder.fault(
                f"{name}:{at}", f"not valid JSON: {getattr(error, 'msg', error)} (the blob begins in line {line})"
            )
            return
        yield f"{name}:{line}", rest[place:end].encode()
        place = end


def _yaml_blobs(name: str, stream: IO[bytes], builder: CatalogBuilder) -> Iterator[tuple[str, Any]]:
    """Documents between lines of ---, each read for itself, so that a broken one spoils no other."""
    lines: list[bytes] = []
    started = 1
    for number, line in enumerate(stream, 1):
        if line.startswith(b"---") and not line[3:].strip():
            yield from _yaml_document(name, started, b"".join(lines), builder)
            lines, started = [], number + 1
        else:
            lines.append(line)
    yield from _yaml_document(name, started, b"".join(lines), builder)


def _yaml_document(name: str, started: int, text: bytes, builder: CatalogBuilder) -> Iterator[tuple[str, Any]]:
    if not text.strip():
        return
    try:
        aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CSafeLoader))
        if aliases > _MOST_ALIASES:
            builder.fault(f"{name}:{started}", f"{aliases} YAML aliases; at most {_MOST_ALIASES} are taken")
            return
        value = yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = started + (mark.line if mark is not None else 0)
        builder.fault(f"{name}:{line}", f"not valid YAML: {getattr(error, 'problem', None) or error}")
        return
    if value is not None:
        yield f"{name}:{started}", value


def _read_bundle(directory: Path, builder: CatalogBuilder) -> None:
    """A registry+v1 bundle directory."""
    try:
        csv = _manifest(directory / "manifests")
        annotations = _optional(directory / "metadata" / "annotations.yaml")
        read = read_bundle_directory(
            csv,
            annotations,
            _optional(directory / "metadata" / "dependencies.yaml"),
            _optional(directory / "metadata" / "properties.yaml"),
        )
    except InvalidObjectError as error:
        builder.fault(str(directory), str(error))
        return
    edge = {"replaces": read.replaces, "skips": list(read.skips), "skipRange": read.skip_range}
    builder.add_bundle(read.bundle, dict.fromkeys(read.channels, edge), str(directory))
    builder.set_default_channel(read.bundle.package, read.default_channel)


def _manifest(directory: Path) -> Any:
    for file in sorted(directory.iterdir()):
        if file.suffix in (".yaml", ".yml", ".json"):
            value = _yaml_file(file)
            if isinstance(value, dict) and value.get("kind") == "ClusterServiceVersion":
                return value
    raise InvalidObjectError(str(directory), "no ClusterServiceVersion among the manifests")


def _optional(file: Path) -> Any:
    return _yaml_file(file) if file.exists() else None


def _yaml_file(file: Path) -> Any:
    from muster.cli.documents import load_one

    return load_one(str(file))
