"""Why decisions moved: which objects changed, in which fields, by whom, and where the way of a cluster turned. Pure.

The placement controller keeps what has changed since a placement was last decided, and hands it in with the clusters
that were gained and lost. What explains one of them comes first; what only happened at the same time comes last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.placement_decision import PlacementDecision
from muster.api.placement_history import (
    CHANGED,
    CREATED,
    DELETED,
    SCORE_EXPIRED,
    TOLERATION_EXPIRED,
    Cause,
    FieldChange,
    Flip,
)
from muster.api.reading import Reader
from muster.fleet import Fleet
from muster.placement.explain.differences import changed_fields, changed_paths, writer_of
from muster.placement.schedule.cycle import Cycle, decided
from muster.placement.schedule.groups import NO_GROUPS
from muster.placement.schedule.pipeline import reason_against, schedule
from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import taint_of, tolerance
from muster.reasons import Code, Reason, bare, sentence
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.selectors.paths import WHOLE, describe
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.times import time_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import datetime

    from muster.api.managed_cluster import ManagedCluster
    from muster.placement.explain.differences import Writer
    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility
    from muster.selectors.paths import Path

MOST_FIELDS: Final = 5  # that one cause shows
CLUSTER: Final = "ManagedCluster"
SCORE: Final = "AddOnPlacementScore"
_LONGEST: Final = 500  # characters of a reason
NOT_MOVED: Final = "not one of those that moved"
_SCORES: Final = Reader(AddOnPlacementScore)
_DECISIONS: Final = Reader(PlacementDecision)


class Ref(NamedTuple):
    """An object."""

    kind: str
    namespace: str
    name: str

    @property
    def cluster(self) -> str:
        """The cluster that it says something about, if it is about one."""
        return self.name if self.kind == CLUSTER else self.namespace if self.kind == SCORE else ""


def ref_of(cause: Cause) -> Ref:
    """The object that a cause is about."""
    return Ref(cause.kind, cause.namespace, cause.name)


@dataclass(frozen=True, slots=True)
class Change:
    """An object before and after; None where it was not or is not there."""

    ref: Ref
    old: JsonObject | None
    new: JsonObject | None
    expired: bool = False  # nobody wrote: a score's time was over


def written_by(cause: Cause, writer: Writer | None) -> Cause:
    """The same with who did it, if that is known."""
    if writer is None:
        return cause
    return msgspec.structs.replace(cause, manager=writer.manager, operation=writer.operation, time=writer.time)


def worded_flip(cluster: str, stage: str, was: Reason, now: Reason) -> Flip:
    """A flip in words, with the codes of its reasons."""
    return Flip(cluster, stage, sentence(was), sentence(now), str(was.code), str(now.code))


def shortened(flip: Flip) -> Flip:
    """As much of a flip as a history keeps."""
    return msgspec.structs.replace(flip, was=_cut(flip.was), now=_cut(flip.now))


@dataclass(frozen=True, slots=True)
class ClusterSituation:
    """What a cluster is judged by, and the cluster."""

    plan: Plan
    visibility: Visibility
    now: datetime
    cluster: JsonMapping | None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class StageVerdict(NamedTuple):
    """The stage that a cluster does not pass and why; no stage when it passes all."""

    stage: str
    why: Reason


def stage_verdict(situation: ClusterSituation, *, own: bool) -> StageVerdict:
    """How one cluster stands, whatever others do. `own`: it is decided already."""
    if situation.cluster is None:
        return StageVerdict("Cluster", Reason(Code.NO_SUCH_CLUSTER))
    if situation.plan.fault is not None:
        fault = Reason(Code.PLACEMENT_MISCONFIGURED, parameters={"fault": str(situation.plan.fault)})
        return StageVerdict("Placement", fault)
    fleet = Fleet()
    name = str(situation.cluster["metadata"]["name"])
    fleet.put_many([msgspec.json.encode(situation.cluster)])
    plan = replace(situation.plan, number=None, scorers=(), spread=(), groups=NO_GROUPS)
    cycle = Cycle(plan, fleet, situation.visibility, situation.now, decided(fleet, [name] if own else [], {}))
    result = schedule(cycle)
    row = fleet.row(name)
    why = reason_against(result, name)
    if why is None:
        return StageVerdict("", Reason(Code.FITS))
    if not result.available[row]:
        return StageVerdict("ClusterSets", why)
    stage = next((stage.name for stage in result.stages if not stage.passing[row]), "")
    if stage == "Predicate":
        return StageVerdict(stage, _unmatched(plan, situation.cluster))
    return StageVerdict(stage, why.about(stage=""))


def _unmatched(plan: Plan, cluster: JsonMapping) -> Reason:
    """Why no predicate holds. Histories are read by everybody in the namespace: an expression is told without what it
    found in the cluster, and an error by its class; a label or claim that the placement asks for is told."""
    reasons = []
    for number, parts in enumerate(plan.predicates, start=1):
        for part in parts:
            match = part.match(cluster)
            if not match:
                why = match.why if isinstance(unwrapped(part), LabelSelector) else bare(match.why)
                reasons.append(why.about(predicate=number))
                break
    return Reason(Code.NO_PREDICATE_HOLDS, parts=tuple(reasons))


def flip_of(cluster: str, was: ClusterSituation, now: ClusterSituation, *, gained: bool) -> Flip:
    """Where the way of a cluster turned. One that fits before and after was picked, or others were."""
    before, after = stage_verdict(was, own=not gained), stage_verdict(now, own=not gained)
    stage = (before.stage if gained else after.stage) or "Pick"
    if stage == "Pick":
        picked = (Reason(Code.FITS_NOT_PICKED), Reason(Code.PICKED))
        return worded_flip(cluster, stage, *(picked if gained else picked[::-1]))
    return worded_flip(cluster, stage, before.why, after.why)


def reads_of(plan: Plan, visibility: Visibility) -> frozenset[Path]:
    """Every path of a cluster that the placement depends on."""
    rules = (rule for _, rule in visibility.eligible)
    return plan.paths.union(*(each.reads for each in (*plan.selectors, *rules)))


def causes_of(changes: Iterable[Change], moved: Collection[str], reads: Collection[Path]) -> tuple[list[Cause], int]:
    """The causes among what has changed, those about clusters that moved first, and how many others there were.

    What concerns a cluster that did not move counts only when nothing else was found: it can have turned the order of
    the others.
    """
    direct: list[Change] = []
    general: list[Change] = []
    beside: list[Change] = []
    for change in changes:
        cluster = change.ref.cluster
        (general if not cluster else direct if cluster in moved else beside).append(change)
    chosen = general + direct or beside
    return [cause for change in chosen if (cause := cause_of(change, reads))], len(chosen)


def unnamed(causes: Iterable[Cause], known: Collection[str]) -> list[Cause]:
    """The causes for readers who know these clusters: what concerns another one is told without its name."""
    told = (
        Cause(each.kind, deed=each.deed, note=NOT_MOVED)
        if (about := ref_of(each).cluster) and about not in known
        else each
        for each in causes
    )
    return list(dict.fromkeys(told))


def cause_of(change: Change, reads: Collection[Path]) -> Cause | None:
    """A change as a cause; None when it is none, because it was taken back before anybody looked."""
    ref, old, new = change.ref, change.old, change.new
    if old is None and new is None:
        return None
    if old is None or new is None:
        writer = writer_of(None, new)
        deed = CREATED if old is None else SCORE_EXPIRED if change.expired else DELETED
        return _cause(ref, deed, (), writer)
    if change.expired:
        return _cause(ref, SCORE_EXPIRED, (), None, _score(new).status.valid_until or "")
    fields = _fields(ref.kind, old, new, reads)
    if not fields:
        return None
    return _cause(ref, CHANGED, tuple(fields), writer_of(old, new, fields[0].field))


def _cause(ref: Ref, deed: str, fields: tuple[FieldChange, ...], writer: Writer | None, note: str = "") -> Cause:
    return written_by(Cause(ref.kind, ref.namespace, ref.name, deed, fields, note=note), writer)


def _fields(kind: str, old: JsonObject, new: JsonObject, reads: Collection[Path]) -> list[FieldChange]:
    if kind == CLUSTER:
        asked = [path for path in reads if path != WHOLE]
        fields = [_plain(each) for each in changed_paths(old, new, asked, MOST_FIELDS)]
        return fields or [_area(each) for each in changed_paths(old, new, reads, 1)]
    if kind == SCORE:
        return [*_score_fields(_score(old), _score(new))][:MOST_FIELDS]
    if kind == "PlacementDecision":
        return changed_fields(_decisions(old), _decisions(new), MOST_FIELDS, "status.decisions")
    # Whatever a spec has counts, known to a struct or not.
    return changed_fields(_spec(old), _spec(new), MOST_FIELDS, "spec")


def _spec(obj: JsonObject) -> Json:
    spec = obj.get("spec")
    return {} if spec is None else spec


def _plain(change: FieldChange) -> FieldChange:
    """Of what is no plain value, such as all labels, only that it changed: nobody asked for each of them. Taints are
    told, because they are there to be asked about."""
    if change.field == describe(TAINTS):
        return change
    return msgspec.structs.replace(change, old=_closed(change.old), new=_closed(change.new))


def _closed(text: str) -> str:
    return {"{": "{…}", "[": "[…]"}.get(text[:1], text)


def _area(change: FieldChange) -> FieldChange:
    """For a placement that reads whole clusters: where something changed, and not what."""
    area = ".".join(change.field.replace("[", ".").split(".")[:2])
    return FieldChange(area, "…", "…")


def _score_fields(old: AddOnPlacementScore, new: AddOnPlacementScore) -> Iterator[FieldChange]:
    """By the names of the items: add-ons write them in any order."""
    before, after = _items(old), _items(new)
    for name in dict.fromkeys((*before, *after)):
        yield from changed_fields(before.get(name, {}), after.get(name, {}), MOST_FIELDS, f"status.scores[name={name}]")
    yield from changed_fields(_validity(old), _validity(new), 1, "status")


def _validity(score: AddOnPlacementScore) -> dict[str, str]:
    until = score.status.valid_until
    return {"validUntil": until} if until else {}


def _items(score: AddOnPlacementScore) -> dict[str, JsonObject]:
    return {
        each.name: {"value": each.value} if each.quantity is None else {"value": each.value, "quantity": each.quantity}
        for each in score.status.scores
    }


def _score(obj: JsonObject) -> AddOnPlacementScore:
    found = _SCORES.fitted(obj)
    return AddOnPlacementScore() if isinstance(found, Fault) else found.obj


def _decisions(page: JsonObject) -> list[str]:
    found = _DECISIONS.fitted(page)
    return [] if isinstance(found, Fault) else [each.cluster_name for each in found.obj.status.decisions]


def expired_toleration(cluster: ManagedCluster, plan: Plan, now: datetime) -> Cause | None:
    """That a toleration with an end no longer covers a taint of a cluster, if that is what keeps it out."""
    taints = map(taint_of, cluster.spec.taints)
    blocking = tolerance(taints, plan.tolerations, now, decided=True).blocked_by
    if blocking is None:
        return None
    ends = [end for each in plan.tolerations if each.matches(blocking) and (end := each.expires(blocking)) is not None]
    if not ends:
        return None
    seconds = max(each.seconds or 0 for each in plan.tolerations if each.matches(blocking))
    note = f"taint {blocking}, tolerated for {seconds} s, until {time_text(max(ends))}"
    return Cause(CLUSTER, "", cluster.metadata.name, TOLERATION_EXPIRED, note=note)
