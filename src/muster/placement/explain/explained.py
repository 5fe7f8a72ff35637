"""Explanations as values: what the core makes is what commands, HTTP answers, Python and other languages get.

`explanation`, `funnel`, `near_misses` and `outlook` make them from a schedule; `report` puts some of them into the
answer of the hub. Beside every reason stands its sentence, so that nobody who only shows it needs the words of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.placement.explain.tables import Table, Tabular
from muster.reasons import Reader, Reason, redacted, sentence
from muster.selectors.observation import Observation  # noqa: TC001 - msgspec reads annotations at run time

if TYPE_CHECKING:
    from collections.abc import Iterator


NOBODY = Reader(all_clusters=False)
"""Somebody who may get no cluster at all."""


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """Every part of an explanation is written in the manner of Kubernetes and never changed."""


class WordedPart(Part, frozen=True):
    """A part whose sentence is made of its reason, unless it is given: some readers get it cut."""

    def __post_init__(self) -> None:
        for name, why in self.sentences():
            if not getattr(self, name) and why is not None:
                msgspec.structs.force_setattr(self, name, sentence(why))

    def sentences(self) -> Iterator[tuple[str, Reason | None]]:
        """The fields that have sentences, and the reasons they are made of."""
        yield "reason", getattr(self, "why", None)


class ScorerScore(Part, frozen=True):
    """What one scorer gave a cluster, before its weight."""

    scorer: str
    weight: int
    score: int


class ValueCount(Part, frozen=True):
    """A value that decided, and how many of the clusters have it."""

    value: str
    count: int

    def __iter__(self) -> Iterator[str | int]:
        yield from (self.value, self.count)


class ReasonCount(WordedPart, frozen=True):
    """Clusters that a stage removed for one reason: how many, a few of them, and what they have instead.

    `values` has the most frequent first and is empty for those who may not get all clusters. `bare` is the sentence
    without anything that a cluster holds.
    """

    why: Reason
    count: int
    examples: tuple[str, ...] = ()
    values: tuple[ValueCount, ...] = ()
    reason: str = ""
    bare: str = ""

    def sentences(self) -> Iterator[tuple[str, Reason | None]]:
        yield "reason", self.why
        yield "bare", redacted(self.why, NOBODY)


class FunnelStage(Part, frozen=True):
    """A stage of the funnel: how many clusters came in, how many were left, and why the others went.

    `otherReasons` counts the reasons that are not listed, `otherCount` their clusters.
    """

    name: str
    before: int
    after: int
    reasons: tuple[ReasonCount, ...] = ()
    other_reasons: int = 0
    other_count: int = 0


class NearMiss(WordedPart, frozen=True):
    """A cluster that is not selected and came near: how many conditions it fails, which stage removed it, and why."""

    cluster: str
    failures: int
    stage: str
    why: Reason
    reason: str = ""


class Check(WordedPart, frozen=True):
    """One thing that was looked at for a cluster: what, where it is asked for, whether the cluster passes, and why."""

    name: str
    passed: bool
    why: Reason
    field: str = ""
    observed: tuple[Observation, ...] = ()
    reason: str = ""

    @property
    def details(self) -> tuple[str, ...]:
        """The values that were looked at and what they led to, as texts."""
        return tuple(map(str, self.observed))


class ClusterExplanation(WordedPart, Tabular, frozen=True, kw_only=True, omit_defaults=True):
    """The way of one cluster through a placement. `stage` is the one that removed it; empty when it is selected.

    Total and rank are there for clusters that passed every filter, and so is `cutWhy`.
    """

    cluster: str
    placement: str
    selected: bool
    stage: str
    why: Reason
    summary: str
    checks: tuple[Check, ...]
    scores: tuple[ScorerScore, ...]
    total: int | None = None
    rank: int | None = None
    cut_why: Reason | None = None
    cut: str

    def sentences(self) -> Iterator[tuple[str, Reason | None]]:
        yield "summary", self.why
        yield "cut", self.cut_why

    def table(self) -> Table:
        rows = [(each.name, _said(each.passed), each.reason, "; ".join(each.details)) for each in self.checks]
        rows += [(each.scorer, "", f"{each.score} × {each.weight}", "") for each in self.scores]
        if self.rank is not None:
            rows.append((f"rank {self.rank}", _said(self.selected), self.cut, f"score {self.total}"))
        caption = f"{self.cluster} in {self.placement}: {self.summary}"
        return Table(caption, ("check", "passed", "reason", "values"), tuple(rows))


class RankedCluster(Part, frozen=True):
    """A selected cluster with its scores."""

    cluster: str
    rank: int
    total: int
    scores: tuple[ScorerScore, ...]


class PlacementExplanation(Part, Tabular, frozen=True):
    """A placement as a whole. `ranked` has the best of the selected clusters, `selected` the names of all."""

    namespace: str
    name: str
    clusters: int
    wanted: int | None
    fitting: int
    selected: tuple[str, ...]
    funnel: tuple[FunnelStage, ...]
    near_misses: tuple[NearMiss, ...]
    ranked: tuple[RankedCluster, ...]
    fault: str = ""

    @property
    def placement(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def table(self) -> Table:
        rows = []
        for stage in self.funnel:
            rows.append((stage.name, f"{stage.before} → {stage.after}", "", ""))
            rows += [("", f"-{each.count}", each.reason, ", ".join(each.examples)) for each in stage.reasons]
        caption = f"{self.placement}: {len(self.selected)} of {self.clusters} clusters"
        return Table(caption, ("stage", "clusters", "reason", "for example"), tuple(rows))


class SetMembership(WordedPart, frozen=True):
    """Whether a cluster is in a set, why, and to which namespaces the set is bound."""

    name: str
    member: bool
    why: Reason
    namespaces: tuple[str, ...]
    reason: str = ""


class PlacementVerdict(WordedPart, frozen=True):
    """What one placement says of a cluster; the stage is empty when it takes it."""

    placement: str
    selected: bool
    stage: str
    why: Reason
    reason: str = ""


class ClusterVerdicts(Part, Tabular, frozen=True):
    """One cluster: its sets, the placements that take it, and why the others do not, near misses first."""

    cluster: str
    sets: tuple[SetMembership, ...]
    placements: tuple[PlacementVerdict, ...]

    def table(self) -> Table:
        rows = tuple((each.placement, _said(each.selected), each.stage, each.reason) for each in self.placements)
        taken = sum(each.selected for each in self.placements)
        caption = f"{self.cluster}: taken by {taken} of {len(self.placements)} placements"
        return Table(caption, ("placement", "selected", "stage", "reason"), rows)


class SetExplanation(Part, Tabular, frozen=True):
    """One cluster set: its rule, its members, why the others are none, who may choose from it."""

    name: str
    rule: str
    members: tuple[str, ...]
    others: tuple[ReasonCount, ...]
    namespaces: tuple[str, ...]
    placements: tuple[str, ...]
    fault: str = ""

    def table(self) -> Table:
        rows = [("members", str(len(self.members)), self.rule)]
        rows += [("not members", str(each.count), each.reason) for each in self.others]
        rows += [("bound to", str(len(self.namespaces)), ", ".join(self.namespaces))]
        rows += [("placements", str(len(self.placements)), ", ".join(self.placements))]
        return Table(f"{self.name}: {self.fault or self.rule}", ("what", "count", "which"), tuple(rows))


def _said(yes: bool) -> str:
    return "yes" if yes else "no"
