"""The answer to FleetFacets: keys and values that clusters have, with how many have them.

Only clusters that the asker may get are counted, and of sets only those that he may get are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muster.api.fleet_facets import FleetFacetsStatus, KeyCount
from muster.api.fleet_parts import ValueCount
from muster.controllers.placements.keys import SetKey
from muster.questions.evaluating import looked_at
from muster.questions.looks import MATCHED, SelectorLook

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.api.fleet_facets import FleetFacetsSpec
    from muster.controllers.placements.world import PlacementWorld
    from muster.fleet import Fleet
    from muster.questions.asked import Scope
    from muster.questions.facet_index import FacetIndex, Key
    from muster.questions.looks import Look
    from muster.questions.sharing import Work
    from muster.questions.universe import ClusterUniverse, Universe

_SET = "set"


def faceted(
    spec: FleetFacetsSpec, scope: Scope, look: Look, clusters: ClusterUniverse, index: FacetIndex, world: PlacementWorld
) -> Work[FleetFacetsStatus]:
    """The whole answer."""
    fleet = world.fleet
    yield from index.catch_up()
    sets = _sets(spec, scope, world)
    for name in sets:
        yield from fleet.steps(SetKey(name))
    universe = yield from clusters.of(scope, look.reads or ())
    rows = universe.only_shown()
    is_everything = isinstance(look, SelectorLook) and not look.alternatives
    if not is_everything:
        looked = yield from looked_at(universe.snapshot, rows, look)
        rows = rows[looked.has(MATCHED)]
    yield from index.catch_up()
    # From here on it is one moment, as far as counting goes.
    rows = _still_there(fleet, universe, rows)
    mask = np.zeros(fleet.capacity, dtype=np.bool_)
    mask[rows] = True
    has_all = len(rows) == len(fleet)
    counts = index.counts(None if has_all else mask).copy()
    of_keys = index.of_keys(counts)
    by_facet: dict[str, list[tuple[int, str]]] = {}
    for (facet, key), held in index.keys.items():
        count = int(of_keys[held.number])
        if count and key.startswith(spec.key_prefix) and (not spec.facets or facet in spec.facets):
            by_facet.setdefault(facet, []).append((-count, key))
    found: list[KeyCount] = []
    for facet, keys in sorted(by_facet.items()):
        for _, key in sorted(keys)[: spec.most_keys]:
            found.append(KeyCount(facet, key, *_counted(index.keys[facet, key], counts, spec.most_values)))
    more = sum(map(len, by_facet.values())) - len(found)
    if sets:
        found.append(_set_counts(sets, mask, world, spec.most_values))
    shown = tuple(sorted((each for each in found if each.clusters), key=lambda each: each.facet))
    return FleetFacetsStatus(valid=True, clusters=len(rows), hidden=universe.hidden, facets=shown, more_keys=more)


def _still_there(fleet: Fleet, universe: Universe, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows whose cluster is the one that was looked at: in a pause another may have come into its row."""
    if fleet.generation == universe.generation:
        return rows
    name = universe.snapshot.name
    kept = [row for row in rows.tolist() if fleet.row(name(row)) == row]
    return np.array(kept, dtype=np.intp)


def _counted(held: Key, counts: NDArray[np.int64], most: int) -> tuple[int, int, tuple[ValueCount, ...]]:
    """How many clusters have a key, how many values it has, and the most frequent of these."""
    values, numbers = held.ordered()
    of_values = counts[numbers]
    there = int((of_values > 0).sum())
    return int(of_values.sum()), there, most_frequent(values, of_values, min(most, there))


def most_frequent(values: list[str], counts: NDArray[np.int64], most: int) -> tuple[ValueCount, ...]:
    """The values with the greatest counts; of equal ones the first in their order."""
    if not most:
        return ()
    least = np.partition(counts, len(counts) - most)[len(counts) - most]
    above, equal = np.flatnonzero(counts > least), np.flatnonzero(counts == least)
    chosen = [*above.tolist(), *equal[: most - len(above)].tolist()]
    chosen.sort(key=lambda at: (-counts[at], at))
    return tuple(ValueCount(values[at], int(counts[at])) for at in chosen)


def _sets(spec: FleetFacetsSpec, scope: Scope, world: PlacementWorld) -> list[str]:
    if (spec.facets and _SET not in spec.facets) or spec.key_prefix:
        return []
    names = (name for name in world.rules if scope.sets is None or name in scope.sets)
    return sorted(
        name for name in names if world.rules[name].membership is not None and world.plans.held_set(name) is None
    )


def _set_counts(names: list[str], mask: NDArray[np.bool_], world: PlacementWorld, most: int) -> KeyCount:
    members = []
    for name in names:
        known = world.rules.get(name)
        rule = None if known is None else known.membership
        members.append(np.zeros_like(mask) if rule is None else world.fleet.mask(rule).selected & mask)
    counts = np.array([int(each.sum()) for each in members], dtype=np.int64)
    there = int((counts > 0).sum())
    anywhere = int(np.logical_or.reduce(members).sum())
    return KeyCount(_SET, "", anywhere, there, most_frequent(names, counts, min(most, there)))
