"""From decided pages to the writes that get there, so that no cluster is ever out of all pages on the way. Pure.

A cluster that is selected before and after may move to another page. Pages are separate objects and cannot be
written at once, so what moves is first added where it goes, and only then taken from where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Clusters = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageWrite:
    """Make a page have these clusters."""

    name: str
    clusters: Clusters


@dataclass(frozen=True, slots=True)
class PageDelete:
    name: str


def page_writes(present: Mapping[str, Clusters], wanted: Mapping[str, Clusters]) -> list[PageWrite | PageDelete]:
    """The writes in order: additions first, then exactly what is wanted, then pages that are too many."""
    kept = _members(present) & _members(wanted)
    writes: list[PageWrite | PageDelete] = []
    between: dict[str, Clusters] = dict(present)
    # 1. Whatever moves is added to its new page, which keeps for now what is about to leave it.
    for name, clusters in wanted.items():
        before = present.get(name, ())
        arriving = [cluster for cluster in clusters if cluster in kept and cluster not in before]
        leaving = [cluster for cluster in before if cluster in kept and cluster not in clusters]
        if arriving and leaving:
            between[name] = (*clusters, *leaving)
            writes.append(PageWrite(name, between[name]))
        elif arriving:
            between[name] = clusters
            writes.append(PageWrite(name, clusters))
    # 2. Now every cluster is where it belongs, and what left can go.
    writes += [PageWrite(name, clusters) for name, clusters in wanted.items() if between.get(name) != clusters]
    # 3. Pages that are no longer there.
    writes += [PageDelete(name) for name in present if name not in wanted]
    return writes


def _members(pages: Mapping[str, Clusters]) -> set[str]:
    return {cluster for clusters in pages.values() for cluster in clusters}
