"""Why a placement selected what it did: the whole of it, and the way of one cluster through it. Pure.

Made from a schedule's own record, so that it cannot say anything else than what was decided. `muster explain`, the API
and `muster.explain` show these values; how they are laid out is theirs. The funnel itself is made in funnel.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from muster.errors import InvalidObjectError
from muster.placement.clauses import MISSING
from muster.placement.filters import FILTERS
from muster.placement.funnel import PICK, SETS, FunnelStage, ReasonCount, funnel, stage_names
from muster.placement.near_misses import NearMiss, near_misses
from muster.placement.pipeline import STANDARD, why_not
from muster.placement.ranking import ScorerScore, left_out, standing
from muster.placement.tables import Table, Tabular
from muster.placement.taints import TAINTS
from muster.placement.tolerations import taints_of, tolerance
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector
from muster.selectors.cel_reasons import Observation, observations
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.selectors.membership import membership
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muster.placement.cycle import Cycle
    from muster.placement.pipeline import Profile
    from muster.placement.result import ScheduleResult

__all__ = [
    "Check",
    "ClusterExplanation",
    "FunnelStage",
    "NearMiss",
    "Observation",
    "PlacementExplanation",
    "RankedCluster",
    "ReasonCount",
    "ScorerScore",
    "explain_cluster",
    "explain_placement",
    "funnel",
]

_MOST_RANKED: Final = 10
_MOST_NEAR: Final = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at for a cluster: what, where it is asked for, whether the cluster passes, and why."""

    name: str
    passed: bool
    reason: str
    field: str = ""
    observed: tuple[Observation, ...] = ()

    @property
    def details(self) -> tuple[str, ...]:
        """The values that were looked at and what they led to, as texts."""
        return tuple(map(str, self.observed))


@dataclass(frozen=True, slots=True)
class ClusterExplanation(Tabular):
    """The way of one cluster through a placement. `stage` is the one that removed it; empty when it is selected."""

    cluster: str
    placement: str
    selected: bool
    stage: str
    summary: str
    checks: tuple[Check, ...]
    scores: tuple[ScorerScore, ...] = ()
    total: int | None = None
    rank: int | None = None
    cut: str = ""

    def table(self) -> Table:
        rows = [(each.name, _said(each.passed), each.reason, "; ".join(each.details)) for each in self.checks]
        rows += [(each.scorer, "", f"{each.score} × {each.weight}", "") for each in self.scores]
        if self.rank is not None:
            rows.append((f"rank {self.rank}", _said(self.selected), self.cut, f"score {self.total}"))
        caption = f"{self.cluster} in {self.placement}: {self.summary}"
        return Table(caption, ("check", "passed", "reason", "values"), tuple(rows))


@dataclass(frozen=True, slots=True)
class RankedCluster:
    """A selected cluster with its scores."""

    cluster: str
    rank: int
    total: int
    scores: tuple[ScorerScore, ...]


@dataclass(frozen=True, slots=True)
class PlacementExplanation(Tabular):
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


def explain_placement(
    result: ScheduleResult, profile: Profile = STANDARD, *, near: int = _MOST_NEAR
) -> PlacementExplanation:
    """The funnel, the clusters that came nearest without being selected, and the best of those that are."""
    plan = result.cycle.plan
    return PlacementExplanation(
        plan.namespace,
        plan.name,
        clusters=len(result.cycle.fleet),
        wanted=plan.number,
        fitting=len(result.feasible),
        selected=tuple(result.selected),
        funnel=funnel(result, profile),
        near_misses=near_misses(result, profile, near),
        ranked=tuple(_ranked(result, row) for row in result.ranked[:_MOST_RANKED].tolist()),
        fault="" if result.fault is None else str(result.fault),
    )


def explain_cluster(
    result: ScheduleResult,
    name: str,
    profile: Profile = STANDARD,
    cluster_sets: Iterable[Mapping[str, Any]] = (),
) -> ClusterExplanation:
    """Everything that was looked at for one cluster. Raises KeyError when there is no such cluster.

    With all cluster sets there are, those that have the cluster and that the placement cannot choose from are named.
    """
    cycle = result.cycle
    row = cycle.fleet.row(name)
    if row is None:
        raise KeyError(name)
    reason = why_not(result, name, profile)
    stage = "" if reason is None else _stage_that_removed(result, row, profile)
    place = standing(result, row)
    if place is not None and reason is not None:
        reason = f"{reason}; {left_out(result, row)}" if cycle.plan.spread else reason
    cluster = cycle.fleet.load(row)
    checks = (
        *_set_checks(cycle, cluster, cluster_sets),
        *_predicate_checks(cycle, cluster),
        _taint_check(cycle, row),
        *_plugin_checks(cycle, row, profile),
    )
    return ClusterExplanation(
        name,
        f"{cycle.plan.namespace}/{cycle.plan.name}",
        selected=reason is None,
        stage=stage,
        summary="selected" if reason is None else reason,
        checks=checks,
        scores=() if place is None else place.scores,
        total=None if place is None else place.total,
        rank=None if place is None else place.rank,
        cut="" if place is None else place.cut,
    )


def _stage_that_removed(result: ScheduleResult, row: int, profile: Profile) -> str:
    if not result.available[row]:
        return SETS
    if result.fault is not None:
        return stage_names(result, profile)[-1]
    return next((stage.name for stage in result.stages if not stage.passing[row]), PICK)


def _ranked(result: ScheduleResult, row: int) -> RankedCluster:
    place = standing(result, row)
    if place is None:
        raise LookupError(f"row {row} is selected and does not fit")
    return RankedCluster(result.cycle.fleet.name(row), place.rank, place.total, place.scores)


# ------------------------------------------------------------------------------------------------- sets and bindings


def _set_checks(cycle: Cycle, cluster: Mapping[str, Any], cluster_sets: Iterable[Mapping[str, Any]]) -> Iterator[Check]:
    seen, namespace, faults = cycle.visibility, cycle.plan.namespace, dict(cycle.visibility.broken)
    for name, rule in seen.eligible:
        match = rule.match(cluster)
        binding = f"bound by ManagedClusterSetBinding {namespace}/{name}"
        if name in faults:
            binding += f"; it cannot be evaluated as it is now, and its last good rule holds: {faults[name]}"
        yield Check(f"set {name}", bool(match), f"{match.reason} ({binding})", "spec.clusterSets")
    row = cycle.fleet.row(str(cluster["metadata"]["name"]))
    stays = row is not None and bool(cycle.decided.own[row])
    for name in seen.unknown:
        reason = f"cannot be evaluated: {faults[name]}{'; it is decided already, and stays' if stays else ''}"
        yield Check(f"set {name}", passed=stays, reason=reason, field="spec.clusterSets")
    if not seen.bound:
        yield Check("binding", passed=False, reason=f"no cluster set is bound to namespace {namespace}")
    known = set(seen.eligible_names)
    for each in cluster_sets:
        name = str(each["metadata"]["name"])
        if name in known or not _has(each, cluster):
            continue
        if name in seen.bound:
            reason = "has the cluster and is bound, but spec.clusterSets does not name it"
        else:
            reason = f"has the cluster, but no ManagedClusterSetBinding {namespace}/{name} lets the placement see it"
        yield Check(f"set {name}", passed=False, reason=reason, field="spec.clusterSets")


def _has(cluster_set: Mapping[str, Any], cluster: Mapping[str, Any]) -> bool:
    try:
        return bool(membership(cluster_set).match(cluster))
    except InvalidObjectError:
        return False


# -------------------------------------------------------------------------------------- predicates, taints, plugins


def _predicate_checks(cycle: Cycle, cluster: Mapping[str, Any]) -> Iterator[Check]:
    for index, parts in enumerate(cycle.plan.predicates):
        where = f"spec.predicates[{index}].requiredClusterSelector"
        expressions = 0
        for part in map(unwrapped, parts):
            if isinstance(part, CelSelector):
                for program in part.programs:
                    field = f"{where}.celSelector.celExpressions[{expressions}]"
                    alone = CelSelector((program,), part.scores, part.limits)
                    yield _expression_check(f"predicate {index + 1}", alone, cluster, field)
                    expressions += 1
            elif isinstance(part, LabelSelector):
                field = f"{where}.{part.noun}Selector"
                yield from _requirement_checks(f"predicate {index + 1}", part, cluster, field)
            else:
                match = part.match(cluster)
                yield Check(f"predicate {index + 1}", bool(match), match.reason, where)


def _expression_check(name: str, selector: CelSelector, cluster: Mapping[str, Any], field: str) -> Check:
    match = selector.match(cluster)
    (program,) = selector.programs
    said = {Verdict.YES: "is true", Verdict.NO: "is false", Verdict.ERROR: "cannot be evaluated"}[match.verdict]
    seen = () if match else observations(program, {"managedCluster": selector.view(cluster)})
    return Check(name, bool(match), f"'{program.text}' {said}", field, seen)


def _requirement_checks(name: str, selector: LabelSelector, cluster: Mapping[str, Any], field: str) -> Iterator[Check]:
    if selector.requirements.nothing:
        yield Check(name, passed=False, reason=selector.match(cluster).reason, field=field)
        return
    values = selector.values(cluster)
    for requirement in selector.requirements.requirements:
        value = go_quote(values[requirement.key]) if requirement.key in values else MISSING
        seen = Observation(f'{selector.noun}s["{requirement.key}"]', value)
        passed = requirement.matches(values)
        yield Check(name, passed, f"{selector.noun} {requirement}", field, (seen,))


def _taint_check(cycle: Cycle, row: int) -> Check:
    column = cycle.fleet.column(TAINTS)
    taints = taints_of(column.values[column.codes[row]])
    own = bool(cycle.decided.own[row])
    standing_ = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own)
    shown = ", ".join(map(str, taints)) or "none"
    field = "spec.tolerations"
    if standing_.blocked_by is not None:
        return Check("taints", passed=False, reason=f"{standing_.blocked_by} is not tolerated", field=field)
    if standing_.until is not None:
        until = f"{shown}, tolerated until {standing_.until:%Y-%m-%dT%H:%M:%SZ}"
        return Check("taints", passed=True, reason=until, field=field)
    if standing_.disliked:
        return Check("taints", passed=True, reason=f"{shown}: ranks after clusters without it", field=field)
    return Check("taints", passed=True, reason=f"{shown}, tolerated" if taints else "none", field=field)


def _plugin_checks(cycle: Cycle, row: int, profile: Profile) -> Iterator[Check]:
    for stage in profile.filters:
        if stage.name not in FILTERS:
            reason = stage.why_not(cycle, row)
            yield Check(stage.name, passed=reason is None, reason=reason or "passes")


def _said(passed: bool) -> str:
    return "yes" if passed else "no"
