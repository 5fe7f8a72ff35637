"""Spread over topologies: regions first, then zones within a region, and so on, by the order of the constraints.

Clusters are taken one at a time, always from the topology that has the fewest so far; among those the best score,
then the name. A constraint that says DoNotSchedule leaves out clusters that would raise the skew above maxSkew, and
clusters that have no such topology; ScheduleAnyway treats the latter as a topology of their own.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.errors import InvalidObjectError
from muster.selectors.paths import claim_path, label_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from muster.api.placement import SpreadPolicy
    from muster.fleet import Fleet
    from muster.selectors.paths import Path


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    path: Path
    max_skew: int
    required: bool


def spread_constraints(policy: SpreadPolicy) -> tuple[SpreadConstraint, ...]:
    """From a Placement's spreadPolicy. Raises InvalidObjectError."""
    constraints = []
    for index, term in enumerate(policy.spread_constraints):
        where = f"spec.spreadPolicy.spreadConstraints[{index}]"
        key, kind, skew = term.topology_key, term.topology_key_type or "Label", term.max_skew
        if not key:
            raise InvalidObjectError(f"{where}.topologyKey", "a label key or claim name is required")
        if kind not in ("Label", "Claim"):
            raise InvalidObjectError(f"{where}.topologyKeyType", f"must be Label or Claim, not {kind!r}")
        reaction = term.when_unsatisfiable or "ScheduleAnyway"
        if reaction not in ("ScheduleAnyway", "DoNotSchedule"):
            raise InvalidObjectError(
                f"{where}.whenUnsatisfiable", f"must be ScheduleAnyway or DoNotSchedule, not {reaction!r}"
            )
        if skew < 1:
            raise InvalidObjectError(f"{where}.maxSkew", f"must be at least 1, not {skew}")
        path = label_path(key) if kind == "Label" else claim_path(key)
        constraints.append(SpreadConstraint(path, skew, reaction == "DoNotSchedule"))
    return tuple(constraints)


_NOWHERE: Final = -1  # the code of clusters that do not say where they are
Topology = tuple[int, ...]  # codes of the constraints' columns, outermost first


class _Counts:
    """How many clusters have been taken, per topology and per level."""

    def __init__(self, constraints: Sequence[SpreadConstraint], topologies: Sequence[Topology]) -> None:
        self._constraints = constraints
        self._taken: dict[Topology, int] = {}
        self._siblings: dict[Topology, list[Topology]] = {}
        for topology in topologies:
            for level in range(len(constraints)):
                node = topology[: level + 1]
                if node not in self._taken:
                    self._taken[node] = 0
                    self._siblings.setdefault(node[:-1], []).append(node)

    def key(self, topology: Topology) -> tuple[int, ...]:
        """What is taken so far at each level; the smallest is next."""
        return tuple(self._taken[topology[: level + 1]] for level in range(len(self._constraints)))

    def allows(self, topology: Topology) -> bool:
        for level, constraint in enumerate(self._constraints):
            if constraint.required:
                node = topology[: level + 1]
                least = min(self._taken[sibling] for sibling in self._siblings[node[:-1]])
                if self._taken[node] + 1 - least > constraint.max_skew:
                    return False
        return True

    def take(self, topology: Topology) -> None:
        for level in range(len(self._constraints)):
            self._taken[topology[: level + 1]] += 1


def spread(
    fleet: Fleet, constraints: Sequence[SpreadConstraint], ranked: NDArray[np.intp], number: int
) -> NDArray[np.intp]:
    """At most `number` of the ranked rows, spread; best first within what the constraints ask for."""
    queues = _queues(fleet, constraints, ranked)
    counts = _Counts(constraints, list(queues))
    place = {row: at for at, row in enumerate(ranked.tolist())}
    # A topology's key only ever grows, so an entry that is out of date is put back with its present one.
    heap = [(counts.key(topology), place[rows[-1]], topology) for topology, rows in queues.items()]
    heapq.heapify(heap)
    waiting: list[tuple[tuple[int, ...], int, Topology]] = []
    taken: list[int] = []
    while heap and len(taken) < number:
        key, at, topology = heapq.heappop(heap)
        if key != counts.key(topology):
            heapq.heappush(heap, (counts.key(topology), at, topology))
            continue
        if not counts.allows(topology):
            waiting.append((key, at, topology))
            continue
        rows = queues[topology]
        taken.append(rows.pop())
        counts.take(topology)
        for entry in waiting:  # what was too much may no longer be
            heapq.heappush(heap, entry)
        waiting.clear()
        if rows:
            heapq.heappush(heap, (counts.key(topology), place[rows[-1]], topology))
    return np.array(taken, dtype=np.intp)


def _queues(
    fleet: Fleet, constraints: Sequence[SpreadConstraint], ranked: NDArray[np.intp]
) -> dict[Topology, list[int]]:
    """Rows by topology, the best one last."""
    best_last = ranked[::-1]
    codes = [_topologies(fleet, constraint)[best_last].tolist() for constraint in constraints]
    required = [level for level, constraint in enumerate(constraints) if constraint.required]
    queues: dict[Topology, list[int]] = {}
    for row, *topology in zip(best_last.tolist(), *codes, strict=True):
        if not any(topology[level] == _NOWHERE for level in required):
            queues.setdefault(tuple(topology), []).append(row)
    return queues


def _topologies(fleet: Fleet, constraint: SpreadConstraint) -> NDArray[np.int32]:
    """The topology of every row. There are several ways to have none (no claims, no such claim), which are one."""
    column = fleet.column(constraint.path)
    codes = [code if _has_value(value) else _NOWHERE for code, value in enumerate(column.values)]
    return np.array([*codes, _NOWHERE], dtype=np.int32)[column.codes]


def with_topology(fleet: Fleet, constraint: SpreadConstraint, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of the clusters say in which topology they are."""
    column = fleet.column(constraint.path)
    told = np.array([*map(_has_value, column.values), False], dtype=np.bool_)
    return told[column.codes[rows]]


def _has_value(projection: object) -> bool:
    """Whether the cluster has the label (a string) or the claim (a list that is not empty)."""
    return isinstance(projection, str) or (isinstance(projection, bytes) and projection != b"[]")
