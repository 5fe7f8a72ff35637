"""Which catalog an argument of `muster resolve` speaks of. Reading it is `muster.catalog_files`' matter."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

from muster.cli.terminal.progress import Progress
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.resolution import CatalogBuilder


def read_catalog(argument: str, priorities: dict[str, int], progress: Progress) -> CatalogBuilder:
    """The catalog that `[NAME=]PATH` speaks of. Raises InvalidObjectError only if there is nothing to read."""
    from muster.catalog_files import read_path  # the hub's commands need only the names
    from muster.resolution import CatalogBuilder

    name, path = named_path(argument)
    builder = CatalogBuilder(name, priority=priorities.get(name, 0))
    read_path(path, builder, progress.advance)
    return builder


def read_catalogs(catalogs: Iterable[str], priorities: Iterable[str]) -> list[CatalogBuilder]:
    numbers: dict[str, int] = {}
    for text in priorities:
        name, _, number = text.partition("=")
        try:
            numbers[name] = int(number)
        except ValueError:
            raise InvalidObjectError("--priority", f"{text!r} is not NAME=NUMBER") from None
    with Progress("blobs read") as progress:
        builders = [read_catalog(argument, numbers, progress) for argument in catalogs]
    names = [builder.name for builder in builders]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidObjectError("--catalog", f"two catalogs are called {min(twice)}: write NAME=PATH")
    gc.freeze()  # catalogs stay; looking through them again and again for garbage costs more than deciding
    return builders


def named_catalogs(arguments: Iterable[str] | None) -> dict[str, Path]:
    """Catalogs that a hub offers by name: `NAME=PATH`, which must be there. Raises InvalidObjectError."""
    found: dict[str, Path] = {}
    for argument in arguments or ():
        name, equals, rest = argument.partition("=")
        if not name or not equals or not rest:
            raise InvalidObjectError("--catalog", f"{argument!r} is not NAME=PATH")
        if name in found:
            raise InvalidObjectError("--catalog", f"two catalogs are called {name}")
        if not (path := Path(rest).resolve()).exists():
            raise InvalidObjectError("--catalog", f"{rest}: no such file or directory")
        found[name] = path
    return found


def named_path(argument: str) -> tuple[str, Path]:
    """The name and the path of `[NAME=]PATH`; without a name it is that of the file or directory."""
    name, equals, rest = argument.partition("=")
    path = Path(rest if equals and "/" not in name else argument)
    if equals and "/" not in name:
        return name, path
    return path.resolve().name.split(".")[0] or str(path), path
