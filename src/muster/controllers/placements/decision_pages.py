"""The PlacementDecisions there are: whose they are, which clusters they have, and how often each cluster is decided.

What is about to be decided counts for other placements before it is written, and what is written counts again when it
is. The world puts pages in; knows no schedule.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from dataclasses import dataclass
from operator import is_, lt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from muster.controllers.placements.decision_counts import DecisionCounts
from muster.controllers.placements.keys import Key
from muster.placement import Decided

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from muster.api.parts import ObjectMeta
    from muster.api.placement_decision import PlacementDecision
    from muster.client.heads import Place
    from muster.controllers.runtime.mirror import Stored
    from muster.fleet import Fleet

PLACEMENT_LABEL: Final = "cluster.open-cluster-management.io/placement"


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A PlacementDecision as the server has it."""

    stored: Stored[PlacementDecision]
    owner: Key
    clusters: tuple[str, ...]

    @classmethod
    def of(cls, stored: Stored[PlacementDecision]) -> DecisionPage:
        owner = Key(stored.place.namespace, stored.obj.metadata.labels.get(PLACEMENT_LABEL, ""))
        return cls(stored, owner, tuple(each.cluster_name for each in stored.obj.status.decisions))

    @property
    def metadata(self) -> ObjectMeta:
        return self.stored.obj.metadata


class DecisionPages:
    """By place, and by the placements that own them."""

    def __init__(self, fleet: Fleet) -> None:
        self.by_place: dict[Place, DecisionPage] = {}
        self._fleet = fleet
        self._places_of: dict[Key, list[Place]] = {}  # sorted
        self._totals = DecisionCounts(fleet)
        # What is assumed beyond the pages of a placement, by name: less than nothing for what is about to go. What all
        # have together is counted from pages and from this.
        self._assumed: dict[Key, Counter[str]] = {}
        self._known: dict[Key, KnownPages] = {}

    def fork(self, fleet: Fleet, keys: Collection[Key]) -> DecisionPages:
        """The pages of these placements and the counts of all, over a fork of the fleet, to be changed alone."""
        fork = DecisionPages(fleet)
        fork._totals = self._totals.fork(fleet)
        fork._places_of = {key: list(self._places_of[key]) for key in keys if key in self._places_of}
        fork.by_place = {place: self.by_place[place] for places in fork._places_of.values() for place in places}
        fork._assumed = {key: self._assumed[key].copy() for key in keys if key in self._assumed}
        fork._known = {key: self.known(key) for key in fork._places_of}  # once, not again in every fork
        return fork

    def __len__(self) -> int:
        return len(self.by_place)

    @property
    def total(self) -> int:
        """How many decisions there are, of all placements together."""
        return self._totals.total

    def count(self, cluster: str) -> int:
        """How often a cluster is decided for, by all placements together."""
        return self._totals.of(cluster)

    def put(self, page: DecisionPage) -> DecisionPage | None:
        """The page that was there before, if any."""
        place = page.stored.place
        before = self.by_place.get(place)
        if before is not None and before.owner != page.owner:
            self.remove(place)
        self.by_place[place] = page
        if before is not None and before.owner == page.owner:
            self._count(page.owner, before.clusters, page.clusters)
        else:
            self._count(page.owner, (), page.clusters)
            insort(self._places_of.setdefault(page.owner, []), place)
        return before

    def remove(self, place: Place) -> DecisionPage | None:
        page = self.by_place.pop(place, None)
        if page is None:
            return None
        self._count(page.owner, page.clusters, ())
        siblings = self._places_of[page.owner]
        del siblings[bisect_left(siblings, place)]
        if not siblings:
            del self._places_of[page.owner]
        return page

    def replace(self, key: Key, pages: Iterable[DecisionPage]) -> None:
        """Have these pages of a placement, and no others. Counts change by what differs."""
        new = list(pages)
        self._count(key, _clusters(self.of(key)), _clusters(new))
        for place in self._places_of.pop(key, ()):
            del self.by_place[place]
        self.by_place.update((page.stored.place, page) for page in new)
        if new:
            self._places_of[key] = sorted(page.stored.place for page in new)

    def _count(self, owner: Key, before: Sequence[str], after: Sequence[str]) -> None:
        """Clusters of a placement's pages were these and are those: counts change by what differs."""
        were, are = set(before), set(after)
        gained, lost = are - were, were - are
        more: Iterable[str] = gained
        fewer: Iterable[str] = lost
        if len(were) != len(before) or len(are) != len(after):  # somebody has written a name twice
            counted = Counter(before), Counter(after)
            more, fewer = (counted[1] - counted[0]).elements(), (counted[0] - counted[1]).elements()
        ahead = self._assumed.get(owner)
        if ahead is None:
            self._totals.add(more)
            self._totals.subtract(fewer)
        else:  # all have counted it already, or will when this is over
            ahead.subtract(more)
            ahead.update(fewer)

    def of(self, key: Key) -> list[DecisionPage]:
        """The pages that a placement has now."""
        return [self.by_place[place] for place in self._places_of.get(key, ())]

    def is_assumed(self, key: Key) -> bool:
        """Whether its pages are being written just now."""
        return key in self._assumed

    def assume(self, key: Key, gained: Iterable[str], lost: Iterable[str] = ()) -> None:
        """The pages are about to have these and not those: other placements count that from now on, not only when it is
        written."""
        self.settle(key)
        ahead = self._assumed[key] = Counter(gained)
        self._totals.add(ahead.elements())
        going = list(lost)
        self._totals.subtract(going)
        ahead.subtract(going)

    def settle(self, key: Key) -> None:
        """What is written counts again."""
        ahead = self._assumed.pop(key, None)
        if ahead:
            self._totals.subtract((+ahead).elements())
            self._totals.add((-ahead).elements())

    def decided(self, key: Key) -> Decided:
        """What stands for a placement, and for all others."""
        known, ahead = self.known(key), self._assumed.get(key)
        own = np.zeros(self._fleet.capacity, dtype=np.bool_)
        own[known.rows] = True
        if ahead:
            return Decided(own, *self._totals.without(known.rows, known.others, ahead))
        return Decided(own, *self._totals.without(known.rows, known.others), self._totals.rows)

    def known(self, key: Key) -> KnownPages:
        """A placement's pages with the rows of their clusters.

        Tens of thousands of names are looked up once, until clusters come or go; of a page that changes, its own.
        """
        pages, known, generation = self.of(key), self._known.get(key), self._fleet.generation
        if known is not None and known.generation == generation:
            if len(known.pages) == len(pages) and all(map(is_, known.pages, pages)):
                return known
            looked_up = {id(each.page): each for each in known.looked_up}
        else:
            looked_up = {}
        found = [looked_up.get(id(page)) or _looked_up(self._fleet, page) for page in pages]
        rows = np.concatenate([each.rows for each in found]) if found else np.array([], dtype=np.intp)
        known = KnownPages(generation, pages, found, rows, tuple(name for each in found for name in each.others))
        if pages:
            self._known[key] = known
        else:
            self._known.pop(key, None)
        return known


class PageRows(NamedTuple):
    """A page, the rows of its clusters, and the names that have none."""

    page: DecisionPage
    rows: NDArray[np.intp]
    others: tuple[str, ...]
    is_sorted: bool  # and no name is in it twice


class KnownPages(NamedTuple):
    """The pages of a placement. They are kept, so that no others can have their identities."""

    generation: int
    pages: list[DecisionPage]
    looked_up: list[PageRows]
    rows: NDArray[np.intp]
    others: tuple[str, ...]


def _looked_up(fleet: Fleet, page: DecisionPage) -> PageRows:
    names = page.clusters
    rows = fleet.rows_of(names)
    missing = np.flatnonzero(rows < 0)
    others = tuple(names[at] for at in missing.tolist())
    return PageRows(page, rows[rows >= 0] if others else rows, others, all(map(lt, names, names[1:])))


def _clusters(pages: Iterable[DecisionPage]) -> list[str]:
    return [name for page in pages for name in page.clusters]
