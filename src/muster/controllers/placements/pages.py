"""Which cluster is on which page, and the writes that get there, so that none is ever out of all on the way. Pure.

A cluster stays on its page for as long as the pages of its group do: one that comes or goes changes one page.

A cluster that is selected before and after may move to another page. Pages are separate objects and cannot be
written at once, so what moves is first added where it goes, and only then taken from where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def packed(present: Sequence[Sequence[str]], wanted: Sequence[str], most: int) -> list[Clusters]:
    """The wanted clusters on pages of so many at most: who is on one stays there, who is new goes where there is room.

    So a change touches as few pages as it can, and nothing has to move. Empty pages at the end are given up.
    """
    left = dict.fromkeys(wanted)
    pages: list[list[str]] = []
    for each in present:
        kept = [name for name in dict.fromkeys(each) if name in left][:most]  # others may have written one twice
        for name in kept:
            del left[name]
        pages.append(kept)
    new = list(left)
    for each in pages:
        room = most - len(each)
        each += new[:room]
        new = new[room:]
    pages += [new[start : start + most] for start in range(0, len(new), most)]
    while len(pages) > 1 and not pages[-1]:
        pages.pop()
    return [tuple(each) for each in pages] or [()]


def page_writes(present: Mapping[str, Clusters], wanted: Mapping[str, Clusters]) -> list[list[Write]]:
    """The writes in rounds: those of one round may happen in any order, each round comes after the one before."""
    # Pages that stay as they are neither give nor take: of tens of thousands of clusters few are looked at.
    same = {name for name, clusters in wanted.items() if present.get(name) == clusters}
    present = {name: clusters for name, clusters in present.items() if name not in same}
    wanted = {name: clusters for name, clusters in wanted.items() if name not in same}
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
