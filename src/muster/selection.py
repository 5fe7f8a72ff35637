"""Selection without a hub: objects in, names and reasons out. `muster select` and `muster.select` are this module.

A Placement is scheduled as the hub would schedule it, with the sets, bindings and scores found among the objects. Where
there are no sets and bindings at all, every cluster counts as visible: a directory of clusters is a fleet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from muster.errors import InvalidObjectError
from muster.fleet import Fleet, score_of
from muster.placement import Cycle, decided, plan_of, schedule, visibility, why_not
from muster.plugins import installed
from muster.selectors import CelSelectorSpec, Verdict, compile_selector, spec_of
from muster.selectors.cel import cel_compiler
from muster.selectors.labels import LabelSelector
from muster.selectors.specs import AllOf
from muster.values.labels import InvalidSelectorError, parse_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.placement import Profile, ScheduleResult
    from muster.selectors import Selector

CLUSTERS = frozenset({"ManagedCluster"})
PURPOSED = frozenset({"Cluster", "ClusterRequest"})
_EVERYTHING = {
    "metadata": {"name": "everything"},
    "spec": {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}},
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected, in order, and why for every object."""

    names: tuple[str, ...]
    reasons: Mapping[str, str]  # of every object that was looked at
    failed: tuple[str, ...] = ()  # objects on which an expression could not be evaluated
    result: ScheduleResult | None = None  # of a Placement

    def why(self, name: str) -> str:
        """The reason for one object. Raises KeyError when there was no such object."""
        return self.reasons[name]


def select(
    fleet: Iterable[Mapping[str, Any]],
    cel: str | Sequence[str] | None = None,
    *,
    labels: str | None = None,
    selector: Mapping[str, Any] | None = None,
    placement: Mapping[str, Any] | None = None,
    kind: str | None = None,
    now: datetime | None = None,
) -> Selection:
    """Select from the fleet by CEL, by a label selector, by a selector document, or by a Placement.

    CEL and labels may be combined; both must hold. Objects of other kinds than the one asked for are passed over:
    ManagedClusters by default, or objects with purposes for a selector with matchPurposes or matchIdentities. Raises
    InvalidObjectError for what cannot be compiled.
    """
    objects = list(fleet)
    moment = now or datetime.now(UTC)
    if placement is not None:
        if cel or labels or selector is not None:
            raise InvalidObjectError("", "a Placement says everything itself: leave out CEL, labels and selector")
        return _by_placement(objects, placement, moment)
    clusters = _fleet(objects, moment)
    parts: list[Selector] = []
    if labels:
        try:
            parts.append(LabelSelector(parse_selector(labels)))
        except InvalidSelectorError as error:
            raise InvalidObjectError("", f"label selector {labels!r}: {error}") from error
    if cel:
        expressions = (cel,) if isinstance(cel, str) else tuple(cel)
        parts.append(compile_selector(CelSelectorSpec(expressions), scores=clusters.scores))
    if selector is not None:
        parts.append(compile_selector(spec_of(dict(selector)), scores=clusters.scores))
    kinds = frozenset({kind}) if kind else PURPOSED if _names_purposes(selector) else CLUSTERS
    return _by_selector(objects, AllOf(tuple(parts)), kinds)


def _names_purposes(selector: Mapping[str, Any] | None) -> bool:
    return selector is not None and not selector.keys().isdisjoint({"matchPurposes", "matchIdentities"})


def _by_selector(objects: list[Mapping[str, Any]], wanted: Selector, kinds: frozenset[str]) -> Selection:
    names, failed, reasons = [], [], {}
    for obj in objects:
        if obj.get("kind", "ManagedCluster") not in kinds:
            continue
        name = name_of(obj)
        match = wanted.match(obj)
        reasons[name] = match.reason
        if match.verdict is Verdict.YES:
            names.append(name)
        elif match.verdict is Verdict.ERROR:
            failed.append(name)
    return Selection(tuple(sorted(names)), reasons, tuple(sorted(failed)))


def name_of(obj: Mapping[str, Any]) -> str:
    metadata = obj["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def _fleet(objects: list[Mapping[str, Any]], now: datetime) -> Fleet:
    fleet = Fleet()
    for obj in objects:
        if obj.get("kind") == "AddOnPlacementScore":
            fleet.put_score(obj["metadata"].get("namespace", ""), obj["metadata"]["name"], score_of(obj))
    fleet.advance(now)
    fleet.put_many(msgspec.json.encode(obj) for obj in objects if obj.get("kind", "ManagedCluster") in CLUSTERS)
    return fleet


def _by_placement(objects: list[Mapping[str, Any]], placement: Mapping[str, Any], now: datetime) -> Selection:
    fleet = _fleet(objects, now)
    profile, scorers = installed()
    plan = plan_of(placement, cel_compiler(fleet.scores), scorers)
    if plan.fault is not None:
        raise InvalidObjectError("", plan.fault.message)
    sets = [obj for obj in objects if obj.get("kind") == "ManagedClusterSet"]
    bindings = [obj for obj in objects if obj.get("kind") == "ManagedClusterSetBinding"]
    if not sets and not bindings:
        wanted = plan.cluster_sets or ("everything",)
        sets = [{**_EVERYTHING, "metadata": {"name": name}} for name in wanted]
        bindings = [{"metadata": {"name": name, "namespace": plan.namespace}} for name in wanted]
    own, foreign = _decisions(objects, plan.namespace, plan.name)
    seen = visibility(plan.namespace, plan.cluster_sets, bindings, sets)
    result = schedule(Cycle(plan, fleet, seen, now, decided(fleet, own, foreign)), profile)
    names = tuple(name for page in result.pages() for name in page.clusters)
    reasons = _Reasons(result, profile)
    failing = result.failing.tolist() if result.failing is not None else []
    return Selection(names, reasons, tuple(sorted(fleet.names(failing))), result)


def _decisions(objects: list[Mapping[str, Any]], namespace: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Clusters decided for this placement, and how often others have decided for each cluster."""
    own: list[str] = []
    foreign: dict[str, int] = {}
    for obj in objects:
        if obj.get("kind") != "PlacementDecision":
            continue
        metadata = obj["metadata"]
        label = (metadata.get("labels") or {}).get("cluster.open-cluster-management.io/placement")
        for decision in (obj.get("status") or {}).get("decisions") or ():
            cluster = decision["clusterName"]
            if metadata.get("namespace") == namespace and label == name:
                own.append(cluster)
            else:
                foreign[cluster] = foreign.get(cluster, 0) + 1
    return own, foreign


class _Reasons(dict[str, str]):
    """Reasons of a schedule, worked out when asked for."""

    def __init__(self, result: ScheduleResult, profile: Profile) -> None:
        super().__init__()
        self._result = result
        self._profile = profile

    def __missing__(self, name: str) -> str:
        if name not in self._result.cycle.fleet:
            raise KeyError(name)
        reason = why_not(self._result, name, self._profile)
        return "selected: it passes every filter and ranks high enough" if reason is None else reason
