"""A move of decisions: what is taken down of it when it is decided, and how that becomes an entry of the history. Pure.

Taking down is cheap, because a decision waits for it: names, and references to what the decision was made from. Finding
causes and reasons is done later, from those references alone, while the world may already have moved on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import ManagedCluster
from muster.api.placement_history import (
    CREATED,
    OTHER_DECISIONS,
    SEEN_AFTER_RESTART,
    Cause,
    Flip,
    HistoryEntry,
    NamedClusters,
)
from muster.api.reading import Reader
from muster.controllers.runtime.conditions import timestamp
from muster.fleet import DELETION, ScoreTable, score_of
from muster.placement import planned
from muster.placement.explain.causes import (
    CLUSTER,
    SCORE,
    ClusterSituation,
    Ref,
    causes_of,
    expired_toleration,
    flip_of,
    reads_of,
    ref_of,
    shortened,
    unnamed,
    worded_flip,
    written_by,
)
from muster.placement.explain.differences import writer_since
from muster.reasons import Code, Reason, sentence
from muster.selectors.cel import cel_compiler
from muster.selectors.paths import SCORES
from muster.values.faults import Fault
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.controllers.placements.changes import Pending
    from muster.controllers.runtime.mirror import Stored
    from muster.fleet import Fleet, Score
    from muster.placement import Plan, Visibility

MOST_EXAMPLES: Final = 10  # clusters that an entry names, of those gained and of those lost
MOST_FLIPS: Final = 5  # clusters whose turn it tells, of each
MOST_CAUSES: Final = 10
_PLACEMENT: Final = "Placement"
_CLUSTERS: Final = Reader(ManagedCluster)


@dataclass(frozen=True, slots=True)
class Basis:
    """What a placement was decided from."""

    placement: Stored[Placement]
    plan: Plan
    visibility: Visibility
    now: datetime


@dataclass(frozen=True, slots=True)
class ExampleState:
    """A cluster that was gained or lost, as it is now, with the scores that it has."""

    name: str
    gained: bool
    encoded: bytes | None
    scores: Mapping[str, Score]


@dataclass(frozen=True, slots=True)
class Surrounding:
    """A set or a binding that counts for a placement, as it is now."""

    ref: Ref
    encoded: bytes


@dataclass(frozen=True, slots=True)
class Move:
    """Decisions that are about to move."""

    now: Basis
    was: Basis | None  # None when this is the first time
    before: int
    after: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    examples: tuple[ExampleState, ...]
    pending: Pending
    unseen: bool  # something may have changed that nobody has told
    around: tuple[Surrounding, ...] = ()  # the sets and bindings that count, where that is so


def examples_of(fleet: Fleet, gained: tuple[str, ...], lost: tuple[str, ...]) -> Iterator[ExampleState]:
    for names, is_gained in ((gained, True), (lost, False)):
        for name in names[:MOST_FLIPS]:
            row = fleet.row(name)
            encoded = None if row is None else next(iter(fleet.encoded([row])), None)
            yield ExampleState(name, is_gained, encoded, fleet.scores.of(name))


class MoveReport:
    """The causes and flips of a move. `flips` may take long for expressions that do, so it is asked for one by one."""

    def __init__(self, move: Move) -> None:
        self._move = move
        self._changes = move.pending.changes()
        self._by_ref = {change.ref: change for change in self._changes}
        self._clusters = {each.name: _decoded(each.encoded) for each in move.examples}

    def flips(self) -> Iterator[Flip]:
        """Where each example turned. A placement that is new turned nothing: it decided for the first time."""
        move = self._move
        if move.was is None and not (move.unseen and move.before):
            return
        was_plan, now_plan = self._plans()
        for each in move.examples:
            now = ClusterSituation(now_plan, move.now.visibility, move.now.now, self._clusters[each.name])
            if move.was is None or (move.unseen and not self._changed(each.name)):
                yield self._unseen(each, now)
                continue
            known = self._by_ref.get(Ref(CLUSTER, "", each.name))
            state = self._clusters[each.name] if known is None else known.old
            was = ClusterSituation(was_plan or move.was.plan, move.was.visibility, move.was.now, state)
            yield flip_of(each.name, was, now, gained=each.gained)

    @staticmethod
    def _unseen(example: ExampleState, now: ClusterSituation) -> Flip:
        """For a cluster of which nobody knows how it stood."""
        unknown = Reason(Code.NOT_KNOWN)
        if example.gained:
            return worded_flip(example.name, "", unknown, Reason(Code.FITS))
        flip = flip_of(example.name, now, now, gained=False)
        return msgspec.structs.replace(flip, was=sentence(unknown), was_code=str(unknown.code))

    def _changed(self, cluster: str) -> bool:
        return any(change.ref.cluster in ("", cluster) for change in self._changes)

    def _plans(self) -> tuple[Plan | None, Plan]:
        """The plans before and after, over the scores of then and of now where expressions read changed ones."""
        move = self._move
        scores = [change for change in self._changes if change.ref.kind == SCORE]
        reads_scores = any(path[:1] == (SCORES,) for each in move.now.plan.selectors for path in each.reads)
        if not scores or not reads_scores or move.was is None:
            return None, move.now.plan
        before, after = ScoreTable(), ScoreTable()
        before.now, after.now = move.was.now, move.now.now
        for example in move.examples:
            for name, score in example.scores.items():
                before.put(example.name, name, score)
                after.put(example.name, name, score)
        for change in scores:
            if change.old is None:
                before.remove(change.ref.namespace, change.ref.name)
            else:
                before.put(change.ref.namespace, change.ref.name, score_of(change.old))
        return (
            planned(move.was.placement.obj, cel_compiler(before)),
            planned(move.now.placement.obj, cel_compiler(after)),
        )

    def causes(self, since: str) -> tuple[list[Cause], int]:
        """The causes, as many as are kept, and how many more there are. `since`: when the last entry was made."""
        move = self._move
        reads = reads_of(move.now.plan, move.now.visibility) | {DELETION}
        if move.was is not None:
            reads |= reads_of(move.was.plan, move.was.visibility)
        moved = {*move.gained, *move.lost}
        found, total = causes_of(self._changes, moved, reads)
        found = unnamed(found, moved)  # everybody in the namespace reads the history, and the event
        timed = [cause for cause in self._expired_tolerations(found) if cause is not None]
        found += timed
        total += len(timed)
        if move.unseen and not since and not move.before and move.was is None:
            return [self._created()], 0  # nothing was ever decided: however late somebody looks, it begins with this
        if move.unseen:
            unseen = list(self._seen_after_restart(since, found))
            found += unseen
            total += len(unseen)
        if not found:
            return [Cause(deed=SEEN_AFTER_RESTART if move.unseen else OTHER_DECISIONS)], 0
        kept = found[:MOST_CAUSES]
        return kept, total - len(kept) + move.pending.more

    def _created(self) -> Cause:
        placement = self._move.now.placement
        created = Cause(_PLACEMENT, *placement.place, CREATED)
        return written_by(created, writer_since(placement.plain(), "", with_status=False))

    def _expired_tolerations(self, found: list[Cause]) -> Iterator[Cause | None]:
        """Of lost clusters that did not change themselves."""
        explained = {cause.name for cause in found if cause.kind == CLUSTER}
        for each in self._move.examples:
            if each.gained or each.name in explained or each.encoded is None:
                continue
            cluster = _CLUSTERS.read(each.encoded)
            if not isinstance(cluster, Fault):
                yield expired_toleration(cluster.obj, self._move.now.plan, self._move.now.now)

    def _seen_after_restart(self, since: str, found: list[Cause]) -> Iterator[Cause]:
        """Objects that were written while nobody watched, as far as their managers' times tell."""
        explained = set(map(ref_of, found))
        placement = self._move.now.placement
        states: list[tuple[Ref, JsonObject | None]] = [(Ref(_PLACEMENT, *placement.place), placement.plain())]
        states += [(each.ref, _decoded(each.encoded)) for each in self._move.around]
        states += [(Ref(CLUSTER, "", name), cluster) for name, cluster in self._clusters.items()]
        for ref, obj in states:
            if obj is None or ref in explained:
                continue
            writer = writer_since(obj, since, with_status=ref.kind == CLUSTER)
            if writer is not None:
                yield written_by(Cause(*ref, SEEN_AFTER_RESTART), writer)
        for ref, obj in states:
            if obj is None and ref not in explained:
                yield Cause(*ref, SEEN_AFTER_RESTART, note="it is gone")

    def entry(self, causes: list[Cause], more: int, flips: list[Flip], skipped: int = 0) -> HistoryEntry:
        """As the history keeps it. `skipped`: moves before this one that nobody had the time to write down."""
        move = self._move
        return HistoryEntry(
            timestamp(move.now.now),
            move.now.placement.obj.metadata.generation,
            move.before,
            move.after,
            _named(move.gained),
            _named(move.lost),
            tuple(causes),
            tuple(map(shortened, flips)),
            more,
            skipped,
        )


def summary(entry: HistoryEntry, flips: list[Flip]) -> str:
    """An entry in one line, for an event: the most telling first, because the end may be cut off."""
    parts = []
    for verb, clusters in (("gained", entry.gained), ("lost", entry.lost)):
        if clusters is not None and clusters.count:
            beyond = ", …" if clusters.count > len(clusters.examples) else ""
            parts.append(f"{verb} {clusters.count} ({', '.join(clusters.examples)}{beyond})")
    text = f"{'; '.join(parts)}, because {'; '.join(map(str, entry.causes))}"
    if entry.more:
        text += f"; and {entry.more} more"
    return text + "".join(f". {flip.cluster}: {flip}" for flip in flips)


def _named(names: tuple[str, ...]) -> NamedClusters:
    return NamedClusters(len(names), names[:MOST_EXAMPLES])


def _decoded(encoded: bytes | None) -> JsonObject | None:
    if encoded is None:
        return None
    obj: JsonObject = msgspec.json.decode(encoded)
    return obj
