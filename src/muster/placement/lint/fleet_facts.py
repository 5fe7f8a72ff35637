"""The fleet as lint looks at it: which names and values there are, and what selectors say of all clusters at once.

A grouped is of one moment. Selectors are evaluated once per distinct combination of what they read, as the fleet does
it, but nothing is kept in the fleet: lint looks at placements that are not there, and goes away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import without_times
from muster.selectors import Verdict
from muster.selectors.match import unwrapped
from muster.selectors.paths import WHOLE, Path, key_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from muster.fleet import Fleet
    from muster.placement.schedule.sets import Visibility
    from muster.placement.schedule.tolerations import Taint, Toleration
    from muster.selectors import Selector
    from muster.selectors.membership import Membership

_MOST_GROUPS: Final = 4096  # combinations of values that a selector is evaluated on; with more it is not judged
_MOST_KEPT: Final = 512  # decoded clusters that are kept per combination of paths
_CHUNK: Final = 4096
_NAME: Final = key_path("metadata", "name")


class _Claim(msgspec.Struct, gc=False):
    name: str = ""
    value: str = ""


class _Status(msgspec.Struct, gc=False):
    clusterClaims: list[_Claim] | None = None  # noqa: N815 - the name in the object


class _Metadata(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Cluster(msgspec.Struct, gc=False):
    metadata: _Metadata
    status: _Status | None = None


_DECODER: Final = msgspec.json.Decoder(_Cluster)


@dataclass(frozen=True, slots=True)
class Groups:
    """Clusters by what they have at some paths: one of each kind as an example, and for every cluster its kind."""

    examples: NDArray[np.intp]
    kind_of: NDArray[np.intp]  # by place in the grouped's rows


class GroupedFleet:
    """What selectors say of the clusters that are present. Remembers what it has worked out."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        rows = fleet.rows()
        self.rows: NDArray[np.intp] = rows[fleet.present[rows]]
        self._codes: dict[Path, tuple[NDArray[np.int32], list[Hashable]]] = {}
        self._groups: dict[frozenset[Path], Groups | None] = {}
        self._kept: dict[frozenset[Path], list[JsonObject]] = {}
        self._verdicts: dict[Selector, NDArray[np.int8] | None] = {}
        self._visible: dict[tuple[tuple[str, Membership], ...], NDArray[np.bool_]] = {}
        self._blocked: dict[tuple[Toleration, ...], NDArray[np.bool_]] = {}
        self.tick: Callable[[], None] = _go_on  # called before every evaluation; whoever is in a hurry raises in it

    def __len__(self) -> int:
        return len(self.rows)

    def verdicts(self, selector: Selector) -> NDArray[np.int8] | None:
        """The verdict for each of the rows; None when there are too many different clusters to judge."""
        inner = unwrapped(selector)
        if inner not in self._verdicts:
            self._verdicts[inner] = self._judged(inner)
        return self._verdicts[inner]

    def groups(self, paths: frozenset[Path]) -> Groups | None:
        """The clusters by what they have at these paths; None when that is nearly each one by itself."""
        if paths not in self._groups:
            self._groups[paths] = None if WHOLE in paths else self._grouped(paths)
        return self._groups[paths]

    def examples(self, paths: frozenset[Path]) -> list[JsonObject]:
        """One cluster of each group."""
        groups = self.groups(paths)
        if groups is None:
            return []
        kept = self._kept.get(paths)
        if kept is None:
            kept = [self.fleet.load(row) for row in groups.examples.tolist()]
            if len(kept) <= _MOST_KEPT:
                self._kept[paths] = kept
        return kept

    def values(self, path: Path) -> list[Hashable]:
        """The distinct projections at a path."""
        return self._column(path)[1]

    def blocked(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.bool_]:
        """Rows with a taint that keeps new clusters out and that is never tolerated. Time does not pass here."""
        if tolerations not in self._blocked:
            codes, values = self._column(TAINTS)
            kept_out = [any(_repels(taint, tolerations) for taint in without_times(value)) for value in values]
            self._blocked[tolerations] = np.array([*kept_out, False], dtype=np.bool_)[codes]
        return self._blocked[tolerations]

    def visible(self, visibility: Visibility) -> NDArray[np.bool_]:
        """Rows that a placement can choose from."""
        if visibility.eligible not in self._visible:
            members = np.zeros(len(self.rows), dtype=np.bool_)
            for _, rule in visibility.eligible:
                verdicts = self.verdicts(rule)
                members |= self.fleet.mask(rule).selected[self.rows] if verdicts is None else verdicts == Verdict.YES
            self._visible[visibility.eligible] = members
        return self._visible[visibility.eligible]

    def _judged(self, selector: Selector) -> NDArray[np.int8] | None:
        groups = self.groups(selector.reads)
        if groups is None:
            return None
        verdicts = []
        for cluster in self.examples(selector.reads):
            self.tick()
            verdicts.append(int(selector.match(cluster).verdict))
        return np.array(verdicts, dtype=np.int8)[groups.kind_of]

    def _grouped(self, paths: frozenset[Path]) -> Groups | None:
        combined = np.zeros(len(self.rows), dtype=np.int64)
        for path in sorted(paths, key=repr):
            codes, values = self._column(path)
            if len(values) > _MOST_GROUPS:
                return None
            combined = combined * len(values) + codes
            _, combined = np.unique(combined, return_inverse=True)
        _, first, kinds = np.unique(combined, return_index=True, return_inverse=True)
        return Groups(self.rows[first], kinds.reshape(-1)) if len(first) <= _MOST_GROUPS else None

    def _column(self, path: Path) -> tuple[NDArray[np.int32], list[Hashable]]:
        """Codes and values of a path, read once. The fleet forgets the column again unless others need it."""
        if path == _NAME and path not in self._codes:  # no two are the same, and they are at hand
            names: list[Hashable] = [*self.fleet.names(self.rows.tolist())]
            self._codes[path] = (np.arange(len(names), dtype=np.int32), names)
        if path not in self._codes:
            guest = object()
            self.fleet.subscribe(guest, (), (path,))
            column = self.fleet.column(path)
            self._codes[path] = (column.codes[self.rows], list(column.values))
            self.fleet.unsubscribe(guest)
        return self._codes[path]


def _go_on() -> None:
    """There is time."""


def _repels(taint: Taint, tolerations: tuple[Toleration, ...]) -> bool:
    return taint.effect != "PreferNoSelect" and not any(each.matches(taint) for each in tolerations)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the clusters of a fleet have: label keys and values, claims and values, scores and their items, taints."""

    labels: Mapping[str, frozenset[str]]
    claims: Mapping[str, frozenset[str]]
    scores: Mapping[str, frozenset[str]]
    taints: frozenset[Taint]
    grouped: GroupedFleet = field(repr=False, compare=False)

    @property
    def clusters(self) -> int:
        return len(self.grouped)


def vocabulary(fleet: Fleet) -> Vocabulary:
    """All names and values, of all clusters: a name that one cluster in a hundred thousand has is no mistake."""
    grouped = GroupedFleet(fleet)
    labels: dict[str, set[str]] = {}
    claims: dict[str, set[str]] = {}
    scores: dict[str, set[str]] = {}
    rows = grouped.rows.tolist()
    for start in range(0, len(rows), _CHUNK):
        # Pairs first, names then: most pairs are had by many clusters.
        label_pairs: set[tuple[str, str]] = set()
        claim_pairs: set[tuple[str, str]] = set()
        for cluster in _decoded(fleet, rows[start : start + _CHUNK]):
            if cluster.metadata.labels:
                label_pairs.update(cluster.metadata.labels.items())
            if cluster.status is not None and cluster.status.clusterClaims:
                claim_pairs.update([(claim.name, claim.value) for claim in cluster.status.clusterClaims])
        for pairs, names in ((label_pairs, labels), (claim_pairs, claims)):
            for key, value in pairs:
                names.setdefault(key, set()).add(value)
    for row in rows:
        for name, score in fleet.scores.of(fleet.name(row)).items():
            scores.setdefault(name, set()).update(item["name"] for item in score.items)
    taints = frozenset(taint for value in grouped.values(TAINTS) for taint in without_times(value))
    return Vocabulary(_frozen(labels), _frozen(claims), _frozen(scores), taints, grouped)


def _frozen(names: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(values) for name, values in names.items()}


def _decoded(fleet: Fleet, rows: Sequence[int]) -> list[_Cluster]:
    encoded = fleet.encoded(rows)
    try:
        return [_DECODER.decode(each) for each in encoded]
    except msgspec.ValidationError:
        return [_tolerantly(each) for each in encoded]


def _tolerantly(encoded: bytes) -> _Cluster:
    """A cluster whose names cannot be read has none."""
    try:
        return _DECODER.decode(encoded)
    except msgspec.ValidationError:
        return _Cluster(_Metadata())
