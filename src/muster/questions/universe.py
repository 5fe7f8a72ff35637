"""What of the world a question ranges over: the objects that the asker may get, and those that are only counted.

A question is evaluated on nothing else, because any number that depends on an expression tells what is evaluated.
Whatever is outside is one number, the same for every question.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.controllers.placements.keys import SetKey
from muster.fleet.snapshots import Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from muster.controllers.placements.world import PlacementWorld
    from muster.questions.asked import Scope
    from muster.questions.sharing import Work
    from muster.selectors.paths import Path

_WARM: Final = 48  # columns that are kept for the next question


@dataclass(frozen=True, slots=True)
class Universe:
    """Rows of a snapshot: first those that may be shown, in the order of names, then those that are only counted."""

    snapshot: Snapshot
    rows: NDArray[np.intp]
    shown: int
    hidden: int
    generation: int = 0  # of the fleet; when it moves, rows come to mean other objects

    @property
    def may_show(self) -> NDArray[np.bool_]:
        """Which of the rows may be shown."""
        return np.arange(len(self.rows)) < self.shown

    def only_shown(self) -> NDArray[np.intp]:
        return self.rows[: self.shown]

    def name(self, at: int) -> str:
        return self.snapshot.name(int(self.rows[at]))


class ClusterUniverse:
    """The live fleet. Columns that questions read are kept up to date for the next ones, the latest of them."""

    def __init__(self, world: PlacementWorld) -> None:
        self._world = world
        self._warm: OrderedDict[Path, tuple[str, Path]] = OrderedDict()

    def of(self, scope: Scope, paths: Iterable[Path]) -> Work[Universe]:
        """What the asker may be told of, with the columns of these paths, at the moment at which it ends."""
        wanted = tuple(paths)
        fleet = self._world.fleet
        yield from self.fill(wanted)
        bound = self._bound_sets(scope.bound)
        for name in bound:
            yield from fleet.steps(SetKey(name))
        # From here on nothing pauses: it is one moment.
        snapshot = fleet.snapshot(wanted)
        if scope.everything:
            return Universe(snapshot, snapshot.order, len(snapshot.order), 0, fleet.generation)
        shown = np.zeros(fleet.capacity, dtype=np.bool_)
        shown[[row for name in scope.names if (row := fleet.row(name)) is not None]] = True
        counted = np.zeros(fleet.capacity, dtype=np.bool_)
        for name in bound:
            rule = self._world.rules[name].membership
            if rule is not None:
                counted |= fleet.mask(rule).selected
        rows = [snapshot.order[mask[snapshot.order]] for mask in (shown, counted & ~shown)]
        hidden = len(fleet) - len(rows[0]) - len(rows[1])
        return Universe(snapshot, np.concatenate(rows), len(rows[0]), hidden, fleet.generation)

    def fill(self, paths: Iterable[Path]) -> Work[None]:
        """Have columns of these paths, and keep them for the next question."""
        wanted = tuple(paths)
        for path in wanted:
            self._keep(path)
        for path in wanted:
            yield from self._world.fleet.steps(self._warm[path])

    def _bound_sets(self, namespace: str) -> list[str]:
        world = self._world
        bound = world.bindings.get(namespace, {}) if namespace else {}
        return [name for name in sorted(bound) if name in world.rules and world.plans.held_set(name) is None]

    def _keep(self, path: Path) -> None:
        reader = self._warm.get(path)
        if reader is None:
            reader = self._warm[path] = ("question", path)  # nobody who could be woken
            self._world.fleet.subscribe(reader, (), (path,), lazily=True)
        self._warm.move_to_end(path)

    def forget_oldest(self) -> None:
        """Let go of columns that have not been read for longest. Call when no question is under way with them."""
        while len(self._warm) > _WARM:
            _, reader = self._warm.popitem(last=False)
            self._world.fleet.unsubscribe(reader)


class Collection:
    """Objects of another resource, by `namespace/name`. No columns: each object is looked at."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}

    def put(self, name: str, encoded: bytes) -> None:
        self._objects[name] = encoded

    def remove(self, name: str) -> None:
        self._objects.pop(name, None)

    def of(self, scope: Scope, namespace: str) -> Universe:
        """What the asker may be told of, in one namespace or in all."""
        names = sorted(name for name in self._objects if not namespace or name.partition("/")[0] == namespace)
        shown = [
            number
            for number, name in enumerate(names)
            if scope.everything or name in scope.names or name.partition("/")[0] in scope.namespaces
        ]
        rows = np.array(shown, dtype=np.intp)
        encoded: list[bytes | None] = [self._objects[name] for name in names]
        order = np.arange(len(names), dtype=np.intp)
        return Universe(Snapshot(names, encoded, order), rows, len(rows), len(names) - len(rows))
