"""What is about to be written for a placement: the pages of its schedule, with clusters in them that guards hold.

Clusters stay on the pages that they are on, so that one change writes one page. Where groups have come, gone or
outgrown their pages, and where the order is that of scores, pages are laid out anew, as the schedule has them.

Everything is read from the schedule at once: rows of the fleet may mean something else after the first wait. A held
cluster stays in the group that its page has, or goes to the last group when there is no such group any more. Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.api.placement_decision import ClusterDecision
from muster.controllers.placements.kept_pages import GROUP_INDEX, GROUP_NAME, kept_by_rows, kept_pages
from muster.placement.schedule.pipeline import warning_of
from muster.placement.schedule.result import groups_of, paged
from muster.reasons import Code, Reason, Subject, sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from muster.api.placement import DecisionGroupStatus
    from muster.controllers.placements.decision_pages import DecisionPage, KnownPages
    from muster.placement import Page, ScheduleResult
    from muster.placement.schedule.result import NamedClusters

_SHOWN_SCORES: Final = 200


@dataclass(frozen=True)
class Draft:
    """Decisions to be. `going` are those that may leave, None for whichever.

    `gained` and `lost` are sorted, and are what differs from the pages that there are; `surplus` are names that these
    have more than once, as often as that is too often.
    """

    pages: tuple[Page, ...]
    groups: tuple[DecisionGroupStatus, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    surplus: tuple[str, ...]
    reasons: Reasons
    scores: str
    going: frozenset[str] | None = None

    @cached_property
    def selected(self) -> list[str]:
        """All clusters, sorted. They may be very many, and mostly nobody asks."""
        return sorted(chain.from_iterable(page.clusters for page in self.pages))

    @cached_property
    def count(self) -> int:
        return sum(len(page.clusters) for page in self.pages)


def draft_of(
    result: ScheduleResult,
    present: KnownPages,
    held: Collection[str] = (),
    going: frozenset[str] | None = None,
) -> Draft:
    """The pages of a schedule; `held` clusters stay in them, near to where `present` pages have them."""
    reasons, scores = Reasons(result, held), _scores_text(result)
    if not held and (kept := kept_by_rows(result, present)) is not None:
        return Draft(kept.pages, groups_of(kept.pages), kept.gained, kept.lost, (), reasons, scores, going)
    groups = list(result.named_groups())
    by_score = result.cycle.plan.by_score
    if held:
        groups = with_held(groups, held, present.pages, by_score=by_score)
    pages = None if by_score else kept_pages(result.cycle.plan.name, groups, present.pages)
    if pages is None:
        pages = tuple(paged(result.cycle.plan.name, groups))
    there = Counter(name for page in present.pages for name in page.clusters)
    wanted = {name for page in pages for name in page.clusters}
    gained, lost = tuple(sorted(wanted - there.keys())), tuple(sorted(there.keys() - wanted))
    surplus = tuple((there - Counter(there.keys())).elements())
    return Draft(pages, groups_of(pages), gained, lost, surplus, reasons, scores, going)


def with_held(
    groups: list[NamedClusters], held: Collection[str], present: Iterable[DecisionPage], *, by_score: bool
) -> list[NamedClusters]:
    """The groups with the held clusters in them: in order of names, or behind those that have a score."""
    homes = {(str(group.index), group.name): at for at, group in enumerate(groups)}
    by_name = {group.name: at for at, group in reversed(list(enumerate(groups)))}
    more: dict[int, set[str]] = {}
    left = set(held)
    for page in present:
        labels = page.metadata.labels
        index, name = labels.get(GROUP_INDEX, ""), labels.get(GROUP_NAME, "")
        home = homes.get((index, name), by_name.get(name, len(groups) - 1))
        more.setdefault(home, set()).update(left.intersection(page.clusters))
        left.difference_update(page.clusters)
    more.setdefault(len(groups) - 1, set()).update(left)
    found = []
    for at, group in enumerate(groups):
        extra = sorted(more.get(at, ()))
        clusters = (*group.clusters, *extra) if by_score else tuple(sorted((*group.clusters, *extra)))
        found.append(replace(group, clusters=clusters) if extra else group)
    return found


class Reasons:
    """Why a cluster is in a decision: the first predicate that it matches, or that a guard holds it."""

    def __init__(self, result: ScheduleResult, held: Collection[str] = ()) -> None:
        # Everybody sees the placement's events: clusters that are not decided are not named there.
        self.warning = "" if result.candidates.by_decisions else warning_of(result.cycle, result.ranked)
        fleet, predicates = result.cycle.fleet, result.cycle.plan.predicates
        rows = result.rows
        numbers = np.zeros(len(rows), dtype=np.int64)
        for number in range(len(predicates), 0, -1):
            holds = np.ones(len(rows), dtype=np.bool_)
            for part in predicates[number - 1]:
                holds &= fleet.mask(part).selected[rows]
            numbers[holds] = number
        whys = [Reason(Code.MATCHES_ALWAYS)]
        whys += [Reason(Code.MATCHES_PREDICATE, Subject(predicate=number + 1)) for number in range(len(predicates))]
        texts = [sentence(why) for why in whys]
        # What is true of most is said of whoever is not known to be another: tens of thousands need no entry each.
        usual = int(np.bincount(numbers, minlength=1).argmax())
        others = np.flatnonzero(numbers != usual)
        names = fleet.names(rows[others].tolist())
        self._usual: str = texts[usual]
        self._fleet = fleet
        self._selected = np.zeros(fleet.capacity, dtype=np.bool_)
        self._selected[rows] = True
        self._reasons: dict[str, str] = {
            name: texts[number] for name, number in zip(names, numbers[others].tolist(), strict=True)
        }
        self._reasons |= dict.fromkeys(held, sentence(Reason(Code.HELD_IN_DECISION)))
        self._scores = result.total_scores() if result.cycle.plan.by_score else {}

    def decision(self, cluster: str) -> ClusterDecision:
        return ClusterDecision(cluster, self._reason(cluster), self._scores.get(cluster))

    def _reason(self, cluster: str) -> str:
        if cluster in self._reasons:
            return self._reasons[cluster]
        row = self._fleet.row(cluster)  # None for one that has left since: it was selected
        is_selected = row is not None and row < len(self._selected) and bool(self._selected[row])
        return self._usual if is_selected else sentence(Reason(Code.WAS_SELECTED))


def _scores_text(result: ScheduleResult) -> str:
    """The scores by name, as many as an event shows. Only of clusters that are decided: the others are nobody's who
    reads the placement's events."""
    rows = result.rows if result.picked is None else result.cycle.fleet.ordered(result.picked)
    rows = rows[:_SHOWN_SCORES]
    names = result.cycle.fleet.names(rows.tolist())
    scored = zip(names, result.candidates.totals_of(rows).tolist(), strict=True)
    return "".join(f"{name}:{score} " for name, score in scored)
