"""The PlacementDecisions there are: whose they are, which clusters they have, and how often each cluster is decided.

What is about to be decided counts for other placements before it is written, and what is written counts again when it
is. The world puts pages in; knows no schedule.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
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
        self._places_of: dict[Key, set[Place]] = {}
        self._totals = DecisionCounts(fleet)
        self._assumed: dict[Key, tuple[str, ...]] = {}
        self._known: dict[Key, _Known] = {}

    def fork(self, fleet: Fleet, keys: Collection[Key]) -> DecisionPages:
        """The pages of these placements and the counts of all, over a fork of the fleet, to be changed alone."""
        fork = DecisionPages(fleet)
        fork._totals = self._totals.fork(fleet)
        fork._places_of = {key: set(self._places_of[key]) for key in keys if key in self._places_of}
        fork.by_place = {place: self.by_place[place] for places in fork._places_of.values() for place in places}
        fork._assumed = {key: self._assumed[key] for key in keys if key in self._assumed}
        for key in fork._places_of:
            self._rows(key)  # once, not again in every fork
        fork._known = {key: self._known[key] for key in fork._places_of}
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
        before = self.remove(place)
        self.by_place[place] = page
        if page.owner not in self._assumed:
            self._totals.add(page.clusters)
        self._places_of.setdefault(page.owner, set()).add(place)
        return before

    def remove(self, place: Place) -> DecisionPage | None:
        page = self.by_place.pop(place, None)
        if page is None:
            return None
        if page.owner not in self._assumed:
            self._totals.subtract(page.clusters)
        siblings = self._places_of[page.owner]
        siblings.discard(place)
        if not siblings:
            del self._places_of[page.owner]
        return page

    def replace(self, key: Key, pages: Iterable[DecisionPage]) -> None:
        """Have these pages of a placement, and no others. Counts change by what differs."""
        new = list(pages)
        before = Counter(name for page in self.of(key) for name in page.clusters)
        after = Counter(name for page in new for name in page.clusters)
        if key not in self._assumed:
            self._totals.subtract((before - after).elements())
            self._totals.add((after - before).elements())
        for place in self._places_of.pop(key, ()):
            del self.by_place[place]
        self.by_place.update((page.stored.place, page) for page in new)
        if new:
            self._places_of[key] = {page.stored.place for page in new}

    def of(self, key: Key) -> list[DecisionPage]:
        """The pages that a placement has now."""
        return [self.by_place[place] for place in sorted(self._places_of.get(key, ()))]

    def is_assumed(self, key: Key) -> bool:
        """Whether its pages are being written just now."""
        return key in self._assumed

    def assume(self, key: Key, clusters: Iterable[str]) -> None:
        """These are about to be decided: other placements count them from now on, not only when they are written."""
        self.settle(key)
        for page in self.of(key):
            self._totals.subtract(page.clusters)
        self._assumed[key] = tuple(clusters)
        self._totals.add(self._assumed[key])

    def settle(self, key: Key) -> None:
        """What is written counts again."""
        if key not in self._assumed:
            return
        self._totals.subtract(self._assumed.pop(key))
        for page in self.of(key):
            self._totals.add(page.clusters)

    def decided(self, key: Key) -> Decided:
        """What stands for a placement, and for all others."""
        rows, others = self._rows(key)
        own = np.zeros(self._fleet.capacity, dtype=np.bool_)
        own[rows] = True
        if key in self._assumed:
            # What is assumed is not in the pages, and the other way round: this placement's part is taken out by name.
            rows, others = _looked_up(self._fleet, self._assumed[key])
        return Decided(own, *self._totals.without(rows, others))

    def _rows(self, key: Key) -> tuple[NDArray[np.intp], tuple[str, ...]]:
        """The rows of the clusters that a placement's pages name, and the names that have none.

        Tens of thousands of names are looked up once, until pages change, or clusters come or go.
        """
        pages, known = self.of(key), self._known.get(key)
        now = (self._fleet.generation, *map(id, pages))
        if known is None or known.seen != now:
            found = _looked_up(self._fleet, [name for page in pages for name in page.clusters])
            known = self._known[key] = _Known(now, pages, *found)
            if not pages:
                del self._known[key]
        return known.rows, known.others


class _Known(NamedTuple):
    """The rows of a placement's pages. The pages are kept, so that no others can have their identities."""

    seen: tuple[int, ...]
    pages: list[DecisionPage]
    rows: NDArray[np.intp]
    others: tuple[str, ...]


def _looked_up(fleet: Fleet, names: Sequence[str]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    rows = fleet.rows_of(names)
    missing = np.flatnonzero(rows < 0)
    return rows[rows >= 0], tuple(names[at] for at in missing.tolist())
