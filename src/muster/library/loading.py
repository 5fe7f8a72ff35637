"""`muster.load`: objects from files, ready for everything else."""

from __future__ import annotations

from collections import Counter
from os import PathLike, fspath
from typing import TYPE_CHECKING, Final, TypeAlias

from muster.errors import InvalidObjectError
from muster.library.documents import read_path
from muster.placement.explain.tables import Table, Tabular
from muster.values.arguments import CheckedObjects

if TYPE_CHECKING:
    from muster.values.json import JsonObject

_MOST_ROWS: Final = 50
PathText: TypeAlias = "str | PathLike[str]"


class Objects(CheckedObjects, Tabular):
    """Objects as they were read, in their order: a sequence of plain mappings. Give it to `select` and the others."""

    __slots__ = ()

    def of_kind(self, *kinds: str) -> Objects:
        """Those of some kinds."""
        return Objects(obj for obj in self if obj.get("kind") in kinds)

    def named(self, name: str, kind: str = "") -> JsonObject:
        """The one of that name, or of that namespace and name with a slash between. Raises InvalidObjectError."""
        found = [obj for obj in self if name in _names(obj) and kind in ("", obj.get("kind"))]
        if len(found) == 1:
            return found[0]
        what = f"{kind or 'object'} {name!r}"
        if not found:
            raise InvalidObjectError("", f"there is no {what}")
        several = ", ".join(sorted({f"{obj.get('kind')} {_names(obj)[-1]}" for obj in found}))
        raise InvalidObjectError("", f"{what} may be any of {several}")

    @property
    def kinds(self) -> dict[str, int]:
        """How many there are of each kind, the most frequent first."""
        return dict(Counter(str(obj.get("kind", "")) for obj in self).most_common())

    def __add__(self, other: Objects) -> Objects:
        return Objects([*self, *other])

    def __repr__(self) -> str:
        return f"<Objects: {', '.join(f'{count} {kind}' for kind, count in self.kinds.items()) or 'none'}>"

    def table(self) -> Table:
        """Kind, name and labels of the first ones."""
        rows = []
        for obj in self[:_MOST_ROWS]:
            labels = obj["metadata"].get("labels") or {}
            shown = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
            rows.append((str(obj.get("kind", "")), _names(obj)[-1], shown))
        more = f" (the first {_MOST_ROWS} are shown)" if len(self) > _MOST_ROWS else ""
        counts = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        return Table(f"{len(self)} objects: {counts}{more}", ("Kind", "Name", "Labels"), tuple(rows))


def load(*paths: PathText) -> Objects:
    """Read files and directories: YAML, JSON and JSON lines, with Lists taken apart.

    Raises InvalidObjectError with file, line and column for what cannot be read.

    >>> import muster
    >>> muster.load("examples/06-first-look")
    <Objects: 1 Placement>
    """
    if not paths:
        raise InvalidObjectError("paths", "name at least one file or directory")
    found: list[JsonObject] = []
    for number, path in enumerate(paths):
        if not isinstance(path, str | PathLike):
            raise InvalidObjectError(f"paths[{number}]", f"expected a path, this is of type {type(path).__name__}")
        found += [document.object for document in read_path(fspath(path))]
    return Objects(found)


def _names(obj: JsonObject) -> tuple[str, ...]:
    """By which an object goes: its name, and with its namespace."""
    metadata = obj["metadata"]
    name = str(metadata.get("name") or metadata.get("generateName", ""))
    namespace = metadata.get("namespace")
    return (name, f"{namespace}/{name}") if namespace else (name,)
