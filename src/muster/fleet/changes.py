"""Which of the watched paths differ between two states of an object, without looking at parts that are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.selectors.paths import SCORES, Path
from muster.values.json import Json
from muster.values.paths import encoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class WatchedPaths:
    """The watched paths as a tree by their steps. Scores are not part of an object and are left out."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._root = _Node()
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        if path and path[0] == SCORES:
            return
        node = self._root
        for step in path:
            if not isinstance(step, str):
                break  # elements and presence are told apart by the column; here is where a difference shows
            node = node.children.setdefault(step, _Node())
        if path not in node.paths:
            node.paths.append(path)

    def changed(self, old: Json, new: Json) -> Iterator[Path]:
        """Paths whose values may differ; none of those left out does."""
        return _changed(self._root, old, new)


class _Node:
    __slots__ = ("children", "paths")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.paths: list[Path] = []


def _changed(node: _Node, old: Json, new: Json) -> Iterator[Path]:
    if _same(old, new):
        return
    yield from node.paths
    for step, child in node.children.items():
        if type(old) is dict and type(new) is dict and step in old and step in new:
            yield from _changed(child, old[step], new[step])
        else:
            yield from _all(child)


def _all(node: _Node) -> Iterator[Path]:
    yield from node.paths
    for child in node.children.values():
        yield from _all(child)


def _same(old: Json, new: Json) -> bool:
    """Equal in value and in type: Python's `==` alone takes True for 1."""
    if type(old) is not type(new) or old != new:
        return False
    return type(old) is str or encoded(old) == encoded(new)
