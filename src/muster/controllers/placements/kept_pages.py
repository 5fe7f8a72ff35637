"""A schedule's groups on the pages that there are, as far as these hold. Pure.

Mostly one cluster of tens of thousands comes or goes: then rows tell which pages that concerns, and only their names
are looked at. Both ways lay out the same pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from muster.controllers.placements.pages import packed
from muster.placement.schedule.groups import PAGE
from muster.placement.schedule.result import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from muster.controllers.placements.decision_pages import DecisionPage, KnownPages, PageRows
    from muster.placement import ScheduleResult
    from muster.placement.schedule.groups import Group
    from muster.placement.schedule.result import NamedClusters

GROUP: Final = "cluster.open-cluster-management.io"
GROUP_NAME: Final = f"{GROUP}/decision-group-name"
GROUP_INDEX: Final = f"{GROUP}/decision-group-index"


class Kept(NamedTuple):
    """Pages, and how their clusters differ from those before; the names of both are sorted."""

    pages: tuple[Page, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]


def kept_pages(
    placement: str, groups: Sequence[NamedClusters], present: Iterable[DecisionPage]
) -> tuple[Page, ...] | None:
    """The groups on the pages that there are, as far as they hold; None where they have to be laid out anew.

    Only the last group may have more pages than before, or fewer: numbers run over all groups.
    """
    there = list(present)
    own = _by_group(placement, groups, there)
    if own is None:
        return None
    found: list[Page] = []
    for at, group in enumerate(groups):
        pages = packed([there[number].clusters for number in own[at]], group.clusters, PAGE)
        if not _holds(len(pages), len(own[at]), len(group.clusters), is_last=at == len(groups) - 1):
            return None
        place = {name: number for number, name in enumerate(group.clusters)}
        laid_out = [tuple(sorted(clusters, key=place.__getitem__)) for clusters in pages]
        found += _numbered(placement, group, laid_out, len(found))
    return tuple(found)


def kept_by_rows(result: ScheduleResult, present: KnownPages) -> Kept | None:
    """The same by rows; None where they are laid out anew, and where pages are not as we write them: out of order, with
    clusters twice, or with names that no row has."""
    fleet, groups = result.cycle.fleet, result.groups
    own = np.zeros(fleet.capacity, dtype=np.bool_)
    own[present.rows] = True
    is_tidy = not present.others and np.count_nonzero(own) == len(present.rows)
    if result.cycle.plan.by_score or not is_tidy or not all(each.is_sorted for each in present.looked_up):
        return None
    homes = _by_group(result.cycle.plan.name, groups, present.pages)
    if homes is None:
        return None
    found: list[Page] = []
    for at, group in enumerate(groups):
        pages = _packed_rows([present.looked_up[number] for number in homes[at]], group.rows, result)
        if not _holds(len(pages), len(homes[at]), len(group.rows), is_last=at == len(groups) - 1):
            return None
        found += _numbered(result.cycle.plan.name, group, pages, len(found))
    selected = np.zeros(fleet.capacity, dtype=np.bool_)
    selected[result.rows] = True
    gained, lost = (np.flatnonzero(np.greater(*each)).tolist() for each in ((selected, own), (own, selected)))
    return Kept(tuple(found), tuple(sorted(fleet.names(gained))), tuple(sorted(fleet.names(lost))))


def _packed_rows(
    present: Sequence[PageRows], wanted: NDArray[np.intp], result: ScheduleResult
) -> list[tuple[str, ...]]:
    """As `packed`, for pages in the order of names, and each page in that order."""
    fleet = result.cycle.fleet
    rows = np.concatenate([each.rows for each in present]) if present else np.array([], dtype=np.intp)
    is_wanted, is_there = (np.zeros(fleet.capacity, dtype=np.bool_) for _ in range(2))
    is_wanted[wanted], is_there[rows] = True, True
    page_of = np.repeat(np.arange(len(present)), [len(each.rows) for each in present])
    touched = set(page_of[~is_wanted[rows]].tolist())
    new = fleet.names(wanted[~is_there[wanted]].tolist())
    pages: list[tuple[str, ...]] = []
    for number, each in enumerate(present):
        clusters = each.page.clusters
        if number in touched or len(clusters) > PAGE:
            stays = is_wanted[each.rows].tolist()
            clusters = tuple(name for name, does_stay in zip(clusters, stays, strict=True) if does_stay)
            new += clusters[PAGE:] if len(clusters) > PAGE else ()
            clusters = clusters[:PAGE]
        pages.append(clusters)
    new.sort()
    for number, clusters in enumerate(pages):
        if new and len(clusters) < PAGE:
            room = PAGE - len(clusters)
            pages[number] = tuple(sorted((*clusters, *new[:room])))
            new = new[room:]
    pages += [tuple(new[start : start + PAGE]) for start in range(0, len(new), PAGE)]
    while len(pages) > 1 and not pages[-1]:
        pages.pop()
    return pages or [()]


def _by_group(
    placement: str, groups: Sequence[Group | NamedClusters], present: Sequence[DecisionPage]
) -> list[list[int]] | None:
    """The places of each group's pages among those present, by number; None where they are not numbered as ours are,
    or not those of the groups in their order."""
    at = {page.metadata.name: number for number, page in enumerate(present)}
    numbered = [f"{placement}-decision-{number}" for number in range(1, len(at) + 1)]
    if not at or at.keys() != set(numbered):
        return None
    group_of = {(str(group.index), group.name): number for number, group in enumerate(groups)}
    own: list[list[int]] = [[] for _ in groups]
    last = 0
    for name in numbered:
        labels = present[at[name]].metadata.labels
        home = group_of.get((labels.get(GROUP_INDEX, ""), labels.get(GROUP_NAME, "")))
        if home is None or home < last:
            return None
        last = home
        own[home].append(at[name])
    return own


def _holds(pages: int, before: int, clusters: int, *, is_last: bool) -> bool:
    """Whether a group can stay on its pages."""
    is_sparse = pages > 2 * (clusters // PAGE + 1)
    return before > 0 and not is_sparse and (is_last or pages == before)


def _numbered(
    placement: str, group: Group | NamedClusters, pages: Iterable[tuple[str, ...]], before: int
) -> Iterable[Page]:
    return [
        Page(f"{placement}-decision-{number}", group.name, group.index, clusters)
        for number, clusters in enumerate(pages, start=before + 1)
    ]
