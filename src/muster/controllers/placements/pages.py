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


Write = PageWrite | PageDelete


def page_writes(present: Mapping[str, Clusters], wanted: Mapping[str, Clusters]) -> list[list[Write]]:
    """The writes in rounds: those of one round may happen in any order, each round comes after the one before."""
    kept = _members(present) & _members(wanted)
    between: dict[str, Clusters] = dict(present)
    # 1. Whatever moves is added to its new page, which keeps for now what is about to leave it.
    additions: list[Write] = []
    for name, clusters in wanted.items():
        before = present.get(name, ())
        arriving = [cluster for cluster in clusters if cluster in kept and cluster not in before]
        if not arriving:
            continue
        leaving = [cluster for cluster in before if cluster in kept and cluster not in clusters]
        between[name] = (*clusters, *leaving) if leaving else clusters
        additions.append(PageWrite(name, between[name]))
    # 2. Now every cluster that stays is where it belongs, and what left can go; first the pages that lose nothing.
    gains: list[Write] = []
    removals: list[Write] = []
    for name, clusters in wanted.items():
        there = between.get(name)
        if there != clusters:
            loses = there is not None and not set(there).issubset(clusters)
            (removals if loses else gains).append(PageWrite(name, clusters))
    # 3. Pages that are no longer there.
    deletions: list[Write] = [PageDelete(name) for name in present if name not in wanted]
    return [each for each in (additions, gains, removals, deletions) if each]


def _members(pages: Mapping[str, Clusters]) -> set[str]:
    return {cluster for clusters in pages.values() for cluster in clusters}
