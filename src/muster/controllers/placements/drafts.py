"""What is about to be written for a placement: the pages of its schedule, with clusters in them that guards hold.

Clusters stay on the pages that they are on, so that one change writes one page. Where groups have come, gone or
outgrown their pages, and where the order is that of scores, pages are laid out anew, as the schedule has them.

Everything is read from the schedule at once: rows of the fleet may mean something else after the first wait. A held
cluster stays in the group that its page has, or goes to the last group when there is no such group any more. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.api.placement_decision import ClusterDecision
from muster.controllers.placements.pages import packed
from muster.placement.schedule.groups import PAGE
from muster.placement.schedule.pipeline import warning_of
from muster.placement.schedule.result import NamedClusters, Page, groups_of, paged
from muster.reasons import Code, Reason, Subject, sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from muster.api.placement import DecisionGroupStatus
    from muster.controllers.placements.decision_pages import DecisionPage
    from muster.placement import ScheduleResult

GROUP: Final = "cluster.open-cluster-management.io"
GROUP_NAME: Final = f"{GROUP}/decision-group-name"
GROUP_INDEX: Final = f"{GROUP}/decision-group-index"
_SHOWN_SCORES: Final = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """Decisions to be. `selected` are their clusters, sorted; `going` those that may leave, None for whichever."""

    pages: tuple[Page, ...]
    groups: tuple[DecisionGroupStatus, ...]
    selected: list[str]
    reasons: Reasons
    scores: str
    going: frozenset[str] | None = None

    @property
    def count(self) -> int:
        return len(self.selected)


def draft_of(
    result: ScheduleResult,
    held: Collection[str] = (),
    present: Iterable[DecisionPage] = (),
    going: frozenset[str] | None = None,
) -> Draft:
    """The pages of a schedule; `held` clusters stay in them, near to where `present` pages have them."""
    groups, there = list(result.named_groups()), list(present)
    by_score = result.cycle.plan.by_score
    if held:
        groups = with_held(groups, held, there, by_score=by_score)
    pages = None if by_score else kept_pages(result.cycle.plan.name, groups, there)
    if pages is None:
        pages = tuple(paged(result.cycle.plan.name, groups))
    selected = sorted(name for group in groups for name in group.clusters)
    return Draft(pages, groups_of(pages), selected, Reasons(result, held), _scores_text(result), going)


def kept_pages(
    placement: str, groups: Sequence[NamedClusters], present: Iterable[DecisionPage]
) -> tuple[Page, ...] | None:
    """The groups on the pages that there are, as far as they hold; None where they have to be laid out anew.

    Only the last group may have more pages than before, or fewer: numbers run over all groups.
    """
    by_name = {page.metadata.name: page for page in present}
    numbered = [f"{placement}-decision-{number}" for number in range(1, len(by_name) + 1)]
    if not by_name or by_name.keys() != set(numbered):
        return None
    own: dict[tuple[str, str], list[tuple[str, ...]]] = {(str(group.index), group.name): [] for group in groups}
    order: list[tuple[str, str]] = []
    for name in numbered:
        labels = by_name[name].metadata.labels
        home = labels.get(GROUP_INDEX, ""), labels.get(GROUP_NAME, "")
        if home not in own:
            return None
        own[home].append(by_name[name].clusters)
        order.append(home)
    last = len(groups) - 1
    found: list[Page] = []
    for at, (there, group) in enumerate(zip(own.values(), groups, strict=True)):
        pages = packed(there, group.clusters, PAGE)
        is_sparse = len(pages) > 2 * (len(group.clusters) // PAGE + 1)
        if not there or is_sparse or (at != last and len(pages) != len(there)):
            return None
        place = {name: number for number, name in enumerate(group.clusters)}
        for clusters in pages:
            name = f"{placement}-decision-{len(found) + 1}"
            found.append(Page(name, group.name, group.index, tuple(sorted(clusters, key=place.__getitem__))))
    return tuple(found) if order == sorted(order, key=list(own).index) else None


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
        self.warning = warning_of(result.cycle, result.ranked)
        fleet, predicates = result.cycle.fleet, result.cycle.plan.predicates
        rows = result.ranked
        numbers = np.zeros(len(rows), dtype=np.int64)
        for number in range(len(predicates), 0, -1):
            holds = np.ones(len(rows), dtype=np.bool_)
            for part in predicates[number - 1]:
                holds &= fleet.mask(part).selected[rows]
            numbers[holds] = number
        whys = [Reason(Code.MATCHES_ALWAYS)]
        whys += [Reason(Code.MATCHES_PREDICATE, Subject(predicate=number + 1)) for number in range(len(predicates))]
        texts = [sentence(why) for why in whys]
        names = fleet.names(rows.tolist())
        self._reasons = {name: texts[number] for name, number in zip(names, numbers.tolist(), strict=True)}
        self._reasons |= dict.fromkeys(held, sentence(Reason(Code.HELD_IN_DECISION)))
        self._scores = result.total_scores() if result.cycle.plan.by_score else {}

    def decision(self, cluster: str) -> ClusterDecision:
        reason = self._reasons[cluster] if cluster in self._reasons else sentence(Reason(Code.WAS_SELECTED))
        return ClusterDecision(cluster, reason, self._scores.get(cluster))


def _scores_text(result: ScheduleResult) -> str:
    """The scores by name, as many as an event shows. Only of clusters that are decided: the others are nobody's who
    reads the placement's events."""
    taken = np.isin(result.feasible, result.ranked)
    rows, totals = result.feasible[taken][:_SHOWN_SCORES].tolist(), result.totals[taken][:_SHOWN_SCORES].tolist()
    names = result.cycle.fleet.names(rows)
    return "".join(f"{name}:{score} " for name, score in zip(names, totals, strict=True))
