"""What a schedule decided, kept as masks and rows: names, pages and reasons are made from them when asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muster.api.placement import DecisionGroupStatus
from muster.placement.schedule.groups import PAGE
from muster.reasons import Reason, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from muster.placement.schedule.candidates import Candidates, ScorerResult
    from muster.placement.schedule.cycle import Cycle
    from muster.placement.schedule.groups import Group
    from muster.placement.schedule.plan import Fault


@dataclass(frozen=True, slots=True)
class Stage:
    """A filter, and the clusters that are left after it and all before it."""

    name: str
    passing: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as the status shows it. What Kubernetes calls its reason is the code of ours."""

    status: str
    reason: str
    message: str


class Concluded(NamedTuple):
    """A condition before it is worded."""

    status: str
    why: Reason

    def condition(self) -> Condition:
        return Condition(self.status, str(self.why.code), sentence(self.why))


@dataclass(frozen=True, slots=True)
class Page:
    """One PlacementDecision."""

    name: str
    group_name: str
    group_index: int
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The outcome of one cycle. With a fault there are no groups: what was decided before stays as it is."""

    cycle: Cycle
    available: NDArray[np.bool_]
    stages: tuple[Stage, ...]
    candidates: Candidates
    picked: NDArray[np.intp] | None  # the selected rows, best first; None: all candidates
    groups: tuple[Group, ...]
    unscheduled: int
    concluded: Mapping[str, Concluded]  # the conditions, by type
    fault: Fault | None = None
    warning: str = ""
    failing: NDArray[np.intp] | None = None  # rows on which an expression could not be evaluated
    requeue_at: datetime | None = None

    @property
    def feasible(self) -> NDArray[np.intp]:
        """Rows left after all filters, in the order of names."""
        return self.candidates.rows

    @property
    def scorers(self) -> tuple[ScorerResult, ...]:
        return self.candidates.scorers

    @property
    def totals(self) -> NDArray[np.int64]:
        """Of the feasible rows."""
        return self.candidates.totals

    @property
    def ranked(self) -> NDArray[np.intp]:
        """The selected rows, best first."""
        return self.candidates.ranked if self.picked is None else self.picked

    @property
    def count(self) -> int:
        """How many are selected."""
        return self.candidates.count if self.picked is None else len(self.picked)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The selected rows in any order: for whom that is enough, nobody is ranked."""
        return self.candidates.rows if self.picked is None else self.picked

    @property
    def conditions(self) -> dict[str, Condition]:
        """The conditions in words."""
        return {kind: each.condition() for kind, each in self.concluded.items()}

    @property
    def selected(self) -> list[str]:
        """Names of the selected clusters, sorted."""
        return sorted(self.cycle.fleet.names(self.rows.tolist()))

    @property
    def selected_by_rank(self) -> list[str]:
        return self.cycle.fleet.names(self.ranked.tolist())

    def total_scores(self) -> dict[str, int]:
        names = self.cycle.fleet.names(self.feasible.tolist())
        return dict(zip(names, self.totals.tolist(), strict=True))

    def pages(self) -> Iterator[Page]:
        """PlacementDecisions by name; numbers run over all groups."""
        return paged(self.cycle.plan.name, self.named_groups())

    def named_groups(self) -> Iterator[NamedClusters]:
        """The groups with the names of their clusters."""
        for group in self.groups:
            yield NamedClusters(group.index, group.name, tuple(self.cycle.fleet.names(group.rows.tolist())))

    def decision_groups(self) -> tuple[DecisionGroupStatus, ...]:
        """As a Placement's status shows them."""
        return groups_of(self.pages())


@dataclass(frozen=True, slots=True)
class NamedClusters:
    """A group of decided clusters, by name."""

    index: int
    name: str
    clusters: tuple[str, ...]


def paged(placement: str, groups: Iterable[NamedClusters]) -> Iterator[Page]:
    """PlacementDecisions by name, at least one for each group; numbers run over all groups."""
    number = 0
    for group in groups:
        for start in range(0, max(len(group.clusters), 1), PAGE):
            number += 1
            clusters = group.clusters[start : start + PAGE]
            yield Page(f"{placement}-decision-{number}", group.name, group.index, clusters)


def groups_of(pages: Iterable[Page]) -> tuple[DecisionGroupStatus, ...]:
    """The groups that pages make up, as a Placement's status shows them."""
    found: dict[tuple[int, str], list[Page]] = {}
    for page in pages:
        found.setdefault((page.group_index, page.group_name), []).append(page)
    return tuple(
        DecisionGroupStatus(index, name, tuple(page.name for page in own), sum(len(page.clusters) for page in own))
        for (index, name), own in found.items()
    )
