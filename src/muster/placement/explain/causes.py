"""Why decisions moved: which objects changed, in which fields, by whom, and where the way of a cluster turned. Pure.

The placement controller keeps what has changed since a placement was last decided, and hands it in with the clusters
that were gained and lost. What explains one of them comes first; what only happened at the same time comes last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from muster.fleet import Fleet
from muster.placement.explain.differences import FieldChange, changed_fields, changed_paths, writer_of
from muster.placement.schedule.cycle import Cycle, decided
from muster.placement.schedule.groups import NO_GROUPS
from muster.placement.schedule.pipeline import reason_against, schedule
from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import taints_of, tolerance
from muster.reasons import Code, Reason, bare, sentence
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.selectors.paths import WHOLE, describe, project
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.times import time_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from muster.placement.explain.differences import Writer
    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility

MOST_FIELDS: Final = 5  # that one cause shows
CLUSTER: Final = "ManagedCluster"
SCORE: Final = "AddOnPlacementScore"
_LONGEST: Final = 500  # characters of a reason
NOT_MOVED: Final = "not one of those that moved"

# What became of an object.
CREATED: Final = "Created"
CHANGED: Final = "Changed"
DELETED: Final = "Deleted"
SCORE_EXPIRED: Final = "ScoreExpired"
TOLERATION_EXPIRED: Final = "TolerationExpired"
SEEN_AFTER_RESTART: Final = "SeenAfterRestart"
OTHER_DECISIONS: Final = "OtherDecisions"
UNRECORDED: Final = "Unrecorded"


class Ref(NamedTuple):
    """An object."""

    kind: str
    namespace: str
    name: str

    @property
    def cluster(self) -> str:
        """The cluster that it says something about, if it is about one."""
        return self.name if self.kind == CLUSTER else self.namespace if self.kind == SCORE else ""


@dataclass(frozen=True, slots=True)
class Change:
    """An object before and after; None where it was not or is not there."""

    ref: Ref
    old: JsonMapping | None
    new: JsonMapping | None
    expired: bool = False  # nobody wrote: a score's time was over


@dataclass(frozen=True, slots=True)
class Cause:
    """What became of which object, and by whom as far as the object tells."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    deed: str = ""
    fields: tuple[FieldChange, ...] = ()
    manager: str = ""
    operation: str = ""
    time: str = ""  # of the manager's last change
    note: str = ""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        deed = DEEDS.get(self.deed, self.deed)
        text = f"{self.kind} {place} {deed}" if self.name else f"{self.kind} {deed}" if self.kind else deed
        if self.fields:
            text += f": {'; '.join(map(str, self.fields))}"
        if self.note:
            text += f" ({self.note})"
        return f"{text}, by {self.manager}" if self.manager else text

    @property
    def ref(self) -> Ref:
        return Ref(self.kind, self.namespace, self.name)

    def by(self, writer: Writer | None) -> Cause:
        """The same with who did it, if that is known."""
        if writer is None:
            return self
        return replace(self, manager=writer.manager, operation=writer.operation, time=writer.time)

    def as_object(self) -> JsonObject:
        """As a history keeps it: without what is empty."""
        fields: JsonObject = msgspec.to_builtins(self)
        return {name: value for name, value in fields.items() if value}


DEEDS: Final = {
    CREATED: "was created",
    CHANGED: "changed",
    DELETED: "was deleted",
    SCORE_EXPIRED: "expired",
    TOLERATION_EXPIRED: "has a taint that is no longer tolerated",
    SEEN_AFTER_RESTART: "changed while no controller was running",
    OTHER_DECISIONS: "no object that the placement reads has changed; decisions of other placements count too",
    UNRECORDED: "the controllers ended before they had written down why",
}


class Flip(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster that was gained or lost: the stage that made the difference, and how the cluster stood there.

    As a history keeps it: sentences, with the codes of their reasons.
    """

    cluster: str
    stage: str
    was: str
    now: str
    was_code: str = ""
    now_code: str = ""

    @classmethod
    def of(cls, cluster: str, stage: str, was: Reason, now: Reason) -> Flip:
        return cls(cluster, stage, sentence(was), sentence(now), str(was.code), str(now.code))

    def __str__(self) -> str:
        return f"{self.stage}: {self.was} → {self.now}" if self.stage else f"{self.was} → {self.now}"

    def as_object(self) -> dict[str, str]:
        codes = {"wasCode": self.was_code, "nowCode": self.now_code}
        told = {"cluster": self.cluster, "stage": self.stage, "was": _cut(self.was), "now": _cut(self.now)}
        return told | {name: code for name, code in codes.items() if code}


@dataclass(frozen=True, slots=True)
class Standpoint:
    """What a cluster is judged by, and the cluster."""

    plan: Plan
    seen: Visibility
    now: datetime
    cluster: JsonMapping | None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


class Standing(NamedTuple):
    """The stage that a cluster does not pass and why; no stage when it passes all."""

    stage: str
    why: Reason


def standing(point: Standpoint, *, own: bool) -> Standing:
    """How one cluster stands, whatever others do. `own`: it is decided already."""
    if point.cluster is None:
        return Standing("Cluster", Reason(Code.NO_SUCH_CLUSTER))
    if point.plan.fault is not None:
        fault = Reason(Code.PLACEMENT_MISCONFIGURED, parameters={"fault": str(point.plan.fault)})
        return Standing("Placement", fault)
    fleet = Fleet()
    name = str(point.cluster["metadata"]["name"])
    fleet.put_many([msgspec.json.encode(point.cluster)])
    plan = replace(point.plan, number=None, scorers=(), spread=(), groups=NO_GROUPS)
    cycle = Cycle(plan, fleet, point.seen, point.now, decided(fleet, [name] if own else [], {}))
    result = schedule(cycle)
    row = fleet.row(name)
    why = reason_against(result, name)
    if why is None:
        return Standing("", Reason(Code.FITS))
    if not result.available[row]:
        return Standing("ClusterSets", why)
    stage = next((stage.name for stage in result.stages if not stage.passing[row]), "")
    if stage == "Predicate":
        return Standing(stage, _unmatched(plan, point.cluster))
    return Standing(stage, why.about(stage=""))


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


def flip_of(cluster: str, was: Standpoint, now: Standpoint, *, gained: bool) -> Flip:
    """Where the way of a cluster turned. One that fits before and after was picked, or others were."""
    before, after = standing(was, own=not gained), standing(now, own=not gained)
    stage = (before.stage if gained else after.stage) or "Pick"
    if stage == "Pick":
        picked = (Reason(Code.FITS_NOT_PICKED), Reason(Code.PICKED))
        return Flip.of(cluster, stage, *(picked if gained else picked[::-1]))
    return Flip.of(cluster, stage, before.why, after.why)


def reads_of(plan: Plan, seen: Visibility) -> frozenset[Json]:
    """Every path of a cluster that the placement depends on."""
    rules = (rule for _, rule in seen.eligible)
    return plan.paths.union(*(each.reads for each in (*plan.selectors, *rules)))


def causes_of(changes: Iterable[Change], moved: Collection[str], reads: Collection[Json]) -> tuple[list[Cause], int]:
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
        Cause(each.kind, deed=each.deed, note=NOT_MOVED) if each.ref.cluster and each.ref.cluster not in known else each
        for each in causes
    )
    return list(dict.fromkeys(told))


def cause_of(change: Change, reads: Collection[Json]) -> Cause | None:
    """A change as a cause; None when it is none, because it was taken back before anybody looked."""
    ref, old, new = change.ref, change.old, change.new
    if old is None and new is None:
        return None
    if old is None or new is None:
        writer = writer_of(None, new)
        deed = CREATED if old is None else SCORE_EXPIRED if change.expired else DELETED
        return _cause(ref, deed, (), writer)
    if change.expired:
        return _cause(ref, SCORE_EXPIRED, (), None, str((new.get("status") or {}).get("validUntil") or ""))
    fields = _fields(ref.kind, old, new, reads)
    if not fields:
        return None
    return _cause(ref, CHANGED, tuple(fields), writer_of(old, new, fields[0].field))


def _cause(ref: Ref, deed: str, fields: tuple[FieldChange, ...], writer: Writer | None, note: str = "") -> Cause:
    return Cause(ref.kind, ref.namespace, ref.name, deed, fields, note=note).by(writer)


def _fields(kind: str, old: JsonMapping, new: JsonMapping, reads: Collection[Json]) -> list[FieldChange]:
    if kind == CLUSTER:
        asked = [path for path in reads if path != WHOLE]
        fields = [_plain(each) for each in changed_paths(old, new, asked, MOST_FIELDS)]
        return fields or [_area(each) for each in changed_paths(old, new, reads, 1)]
    if kind == SCORE:
        return [*_score_fields(old, new)][:MOST_FIELDS]
    if kind == "PlacementDecision":
        return changed_fields(_decisions(old), _decisions(new), MOST_FIELDS, "status.decisions")
    return changed_fields(old.get("spec") or {}, new.get("spec") or {}, MOST_FIELDS, "spec")


def _plain(change: FieldChange) -> FieldChange:
    """Of what is no plain value, such as all labels, only that it changed: nobody asked for each of them. Taints are
    told, because they are there to be asked about."""
    if change.field == describe(TAINTS):
        return change
    return replace(change, old=_closed(change.old), new=_closed(change.new))


def _closed(text: str) -> str:
    return {"{": "{…}", "[": "[…]"}.get(text[:1], text)


def _area(change: FieldChange) -> FieldChange:
    """For a placement that reads whole clusters: where something changed, and not what."""
    area = ".".join(change.field.replace("[", ".").split(".")[:2])
    return FieldChange(area, "…", "…")


def _score_fields(old: JsonMapping, new: JsonMapping) -> Iterator[FieldChange]:
    """By the names of the items: add-ons write them in any order."""
    before, after = _items(old), _items(new)
    for name in dict.fromkeys((*before, *after)):
        yield from changed_fields(before.get(name, {}), after.get(name, {}), MOST_FIELDS, f"status.scores[name={name}]")
    yield from changed_fields(_validity(old), _validity(new), 1, "status")


def _validity(score: JsonMapping) -> dict[str, str]:
    until = (score.get("status") or {}).get("validUntil")
    return {"validUntil": until} if until else {}


def _items(score: JsonMapping) -> dict[str, JsonObject]:
    items: Sequence[JsonMapping] = (score.get("status") or {}).get("scores") or ()
    return {str(item.get("name")): {key: item[key] for key in item if key != "name"} for item in items}


def _decisions(page: JsonMapping) -> list[str]:
    return [str(each.get("clusterName")) for each in (page.get("status") or {}).get("decisions") or ()]


def expired_toleration(cluster: JsonMapping, plan: Plan, now: datetime) -> Cause | None:
    """That a toleration with an end no longer covers a taint of a cluster, if that is what keeps it out."""
    taints = taints_of(project(cluster, TAINTS))
    blocking = tolerance(taints, plan.tolerations, now, decided=True).blocked_by
    if blocking is None:
        return None
    ends = [end for each in plan.tolerations if each.matches(blocking) and (end := each.expires(blocking)) is not None]
    if not ends:
        return None
    seconds = max(each.seconds or 0 for each in plan.tolerations if each.matches(blocking))
    note = f"taint {blocking}, tolerated for {seconds} s, until {time_text(max(ends))}"
    return Cause(CLUSTER, "", str(cluster["metadata"]["name"]), TOLERATION_EXPIRED, note=note)
