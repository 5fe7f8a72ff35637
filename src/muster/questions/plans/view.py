"""What of the world a plan looks at, for an asker who may not get every cluster.

A schedule tells something of every cluster that it looks at, even by what it does not pick. So that it looks at the
clusters that the asker may get, at those that the plan itself writes, and at those in sets that are bound to the
placement's namespace now: not at those that the plan would let in. Placements are those that he may know of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muster.controllers.placements.preview import View
from muster.questions.outlooks import reader_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from muster.controllers.placements.keys import Key
    from muster.controllers.placements.world import PlacementWorld
    from muster.fleet import Fleet
    from muster.questions.asked import Scope
    from muster.questions.sharing import Work
    from muster.reasons import Reader


class AskersView(View):
    """The view of one asker. `written` are the names of the clusters that the plan writes, which he may get."""

    def __init__(self, scope: Scope, places: Scope, written: frozenset[str]) -> None:
        self._scope = scope
        self._places = places
        self._written = written
        self._bound: dict[str, NDArray[np.bool_]] = {}

    def shows(self, key: Key) -> bool:
        places = self._places
        return places.everything or key.namespace in places.namespaces or f"{key.namespace}/{key.name}" in places.names

    def seen(self, names: Sequence[str]) -> Sequence[str]:
        """Those that may be named."""
        return names if self._scope.everything else [name for name in names if name in self._scope.names]

    def tells_of_set(self, name: str) -> bool:
        return self._scope.sets is None or name in self._scope.sets

    def look(self, world: PlacementWorld, namespaces: Iterable[str]) -> Work[None]:
        """Remember who is in the sets that are bound now, before anything is changed."""
        if self._scope.everything:
            return
        for namespace in namespaces:
            counted = np.zeros(world.fleet.capacity, dtype=np.bool_)
            for name in world.bindings.get(namespace, {}):
                rule = world.rules[name].membership if name in world.rules else None
                if rule is not None and world.plans.held_set(name) is None:
                    counted |= world.fleet.mask(rule).selected
                yield False
            self._bound[namespace] = counted

    def within(self, fleet: Fleet, key: Key) -> NDArray[np.bool_] | None:
        if self._scope.everything:
            return None
        rows = self.shown(fleet)
        bound = self._bound.get(key.namespace)
        if bound is not None:
            rows[: len(bound)] |= bound
        return rows

    def reader(self, fleet: Fleet) -> Reader:
        """The asker, as reasons know him."""
        return reader_of(fleet, self._scope)

    def shown(self, fleet: Fleet) -> NDArray[np.bool_]:
        """The clusters that may be named."""
        rows = np.zeros(fleet.capacity, dtype=np.bool_)
        if self._scope.everything:
            rows[fleet.rows()] = True
        else:
            names = (*self._scope.names, *self._written)
            rows[[row for name in names if (row := fleet.row(name)) is not None]] = True
        return rows
