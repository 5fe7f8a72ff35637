"""Selection without a hub: objects in, names and reasons out. `muster.select` and `muster.explain` are this module.

A Placement is scheduled as the hub would schedule it, with the sets, bindings and scores found among the objects. Where
there are no sets and bindings at all, every cluster counts as visible: a directory of clusters is a fleet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias, overload

import msgspec

from muster.api import parts
from muster.api.placement_decision import PlacementDecision
from muster.api.profile_forms import managed_form
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.fleet import Fleet, score_of
from muster.placement import Cycle, Rule, decided, plan_read, schedule, visible, why_not
from muster.placement.explain.across_placements import explain_everywhere, explain_set
from muster.placement.explain.explanation import explain_cluster, explain_placement
from muster.placement.explain.tables import Table, Tabular
from muster.placement.schedule.plan import PLACEMENTS
from muster.placement.schedule.sets import bindings_read, bound_in, rules_read
from muster.plugins import installed
from muster.selectors import CelSelectorSpec, Verdict, compile_selector, spec_of
from muster.selectors.cel import cel_compiler
from muster.selectors.labels import LabelSelector, label_selector
from muster.selectors.specs import AllOf
from muster.values.arguments import expected, moment, plain_object, plain_objects, texts
from muster.values.json import JsonMapping, JsonObject
from muster.values.labels import InvalidSelectorError, parse_selector
from muster.values.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.placement import Plan, Profile, ScheduleResult, Visibility
    from muster.placement.explain.explained import (
        ClusterExplanation,
        ClusterVerdicts,
        PlacementExplanation,
        SetExplanation,
    )
    from muster.selectors import Match, Selector

Objects: TypeAlias = "Iterable[JsonMapping] | JsonMapping"  # many, a List of them, or one
CLUSTERS = frozenset({"ManagedCluster"})
PURPOSED = frozenset({"Cluster", "ClusterRequest"})
PROFILE = "ClusterProfile"
LABELLED = CLUSTERS | PURPOSED | {PROFILE, "Agent"}  # what a fleet is made of; all of it carries labels
_LABELS_ONLY = frozenset({"matchLabels", "matchExpressions", "labelSelector"})
_EVERYTHING = Rule(label_selector(parts.LabelSelector()))
_MOST_ROWS = 100  # of a table
_OBJECTS = Reader(parts.PartialObject)
_DECISIONS = Reader(PlacementDecision)


@dataclass(frozen=True, slots=True, repr=False)
class Selection(Tabular):
    """What was selected, in order, and why for every object. Prints as a table; notebooks show it as one."""

    names: tuple[str, ...]
    reasons: Mapping[str, str]  # of every object that was looked at
    failed: tuple[str, ...] = ()  # objects on which an expression could not be evaluated
    result: ScheduleResult | None = None  # of a Placement

    def why(self, name: str) -> str:
        """The reason for one object. Raises InvalidObjectError when there was no such object."""
        expected(name, str, "name", "the name of an object")
        if name not in self.reasons:
            like = nearest(name, self.reasons, 1)
            hint = f"; did you mean {like[0]!r}?" if like else ""
            raise InvalidObjectError("", f"there is no object {name!r} in the fleet{hint}")
        return self.reasons[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        return f"<Selection: {len(self.names)} of {len(self.reasons)} selected>"

    def table(self) -> Table:
        """Those that were selected first, then the others with their reasons, as many as a page has."""
        chosen = set(self.names)
        others = (name for name in self.reasons if name not in chosen)
        rows = [(name, "yes", self.reasons[name]) for name in self.names[:_MOST_ROWS]]
        rows += [
            (name, "failed" if name in self.failed else "no", self.reasons[name])
            for name in islice(others, _MOST_ROWS - len(rows))
        ]
        looked_at = len(self.reasons)
        more = f" (the first {_MOST_ROWS} are shown)" if looked_at > _MOST_ROWS else ""
        return Table(f"{len(self.names)} of {looked_at} selected{more}", ("Name", "Selected", "Why"), tuple(rows))


def select(
    fleet: Objects,
    cel: str | Sequence[str] | None = None,
    *,
    labels: str | None = None,
    selector: JsonMapping | None = None,
    placement: JsonMapping | None = None,
    kind: str | None = None,
    now: datetime | None = None,
) -> Selection:
    """Select from the fleet by CEL, by a label selector, by a selector document, or by a Placement.

    CEL and labels may be combined; both must hold. Objects of other kinds than the one asked for are passed over:
    ManagedClusters by default, objects with purposes for a selector with matchPurposes or matchIdentities, and for
    labels alone clusters, profiles, requests and hosts alike. ClusterProfiles, when they are asked for, can be spoken
    of as ManagedClusters, too. Raises InvalidObjectError for what cannot be compiled.

    >>> import muster
    >>> fleet = [{"kind": "ManagedCluster", "metadata": {"name": "a", "labels": {"cloud": "Amazon"}}}]
    >>> print(muster.select(fleet, labels="cloud=Azure"))
    0 of 1 selected
    NAME   SELECTED   WHY
    a      no         label cloud is 'Amazon'; wanted cloud=Azure
    """
    objects = plain_objects(fleet, "fleet")
    at = moment(now, "now")
    expressions = texts(cel, "cel")
    if kind is not None:
        expected(kind, str, "kind", "the name of a kind")
    if placement is not None:
        placement = plain_object(placement, "placement")
    if kind == PROFILE:
        if placement is not None:
            objects = _inventory(objects, placement)
        else:
            objects = [managed_form(each) for each in objects if each.get("kind") == PROFILE]
    if placement is not None:
        if expressions or labels or selector is not None:
            raise InvalidObjectError("", "a Placement says everything itself: leave out CEL, labels and selector")
        return _by_placement(objects, placement, at)
    if labels is not None:
        expected(labels, str, "labels", "a label selector such as 'cloud=Amazon,tier!=gold'")
    if selector is not None:
        selector = plain_object(selector, "selector")
    clusters = _fleet(objects, at)
    parts: list[Selector] = []
    if labels:
        try:
            parts.append(LabelSelector(parse_selector(labels)))
        except InvalidSelectorError as error:
            raise InvalidObjectError("", f"label selector {labels!r}: {error}") from error
    if expressions:
        parts.append(compile_selector(CelSelectorSpec(expressions), scores=clusters.scores))
    if selector is not None:
        parts.append(compile_selector(spec_of(dict(selector)), scores=clusters.scores))
    kinds = frozenset({kind}) if kind else _kinds(selector, only_labels=bool(labels) and not expressions)
    return _by_selector(objects, AllOf(tuple(parts)), kinds)


def _inventory(objects: Sequence[JsonObject], placement: JsonMapping) -> list[JsonObject]:
    """The profiles that a placement chooses from, as clusters: those of its namespace, which is one inventory.

    A profile is where it may be used, so that there is no set to look at. Raises InvalidObjectError when a placement
    without a namespace would find a cluster twice.
    """
    namespace = PLACEMENTS.partly(dict(placement)).obj.metadata.namespace
    found: dict[str, JsonObject] = {}
    for each in objects:
        if each.get("kind") != PROFILE:
            continue
        metadata = _OBJECTS.partly(each).obj.metadata
        if namespace and metadata.namespace != namespace:
            continue
        if metadata.name in found:
            text = f"there are several ClusterProfiles {metadata.name!r}: say metadata.namespace in the Placement"
            raise InvalidObjectError("", text)
        cluster = managed_form(each)
        plain = {key: value for key, value in cluster["metadata"].items() if key != "namespace"}
        found[metadata.name] = {**cluster, "kind": "ManagedCluster", "metadata": plain}
    return [*found.values(), *(each for each in objects if each.get("kind") == "AddOnPlacementScore")]


def _kinds(selector: JsonMapping | None, *, only_labels: bool) -> frozenset[str]:
    """What a selector is about, by what it says."""
    if selector is None:
        return LABELLED if only_labels else CLUSTERS
    if not selector.keys().isdisjoint({"matchPurposes", "matchIdentities"}):
        return PURPOSED
    return LABELLED if selector and selector.keys() <= _LABELS_ONLY else CLUSTERS


def _by_selector(objects: Sequence[JsonMapping], wanted: Selector, kinds: frozenset[str]) -> Selection:
    names, failed = [], []
    reasons = _Words()
    for obj in objects:
        if obj.get("kind", "ManagedCluster") not in kinds:
            continue
        name = name_of(obj)
        match = wanted.match(obj)
        reasons.matches[name] = match
        if match.verdict is Verdict.YES:
            names.append(name)
        elif match.verdict is Verdict.ERROR:
            failed.append(name)
    return Selection(tuple(sorted(names)), reasons, tuple(sorted(failed)))


def name_of(obj: JsonMapping) -> str:
    """The name of an object as people write it, with its namespace if it is in one."""
    return _shown(_OBJECTS.partly(dict(obj)).obj.metadata)


def _shown(metadata: parts.Identity) -> str:
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def _fleet(objects: Sequence[JsonMapping], now: datetime) -> Fleet:
    fleet = Fleet()
    for obj in objects:
        if obj.get("kind") == "AddOnPlacementScore":
            metadata = _OBJECTS.partly(obj).obj.metadata
            fleet.put_score(metadata.namespace, metadata.name, score_of(obj))
    fleet.advance(now)
    fleet.put_many(msgspec.json.encode(obj) for obj in objects if obj.get("kind", "ManagedCluster") in CLUSTERS)
    return fleet


def _by_placement(objects: Sequence[JsonMapping], placement: JsonMapping, now: datetime) -> Selection:
    snapshot = Snapshot(objects, now)
    result = snapshot.schedule(PLACEMENTS.partly(dict(placement)))
    if result.fault is not None:
        raise InvalidObjectError("", result.fault.message)
    names = tuple(name for page in result.pages() for name in page.clusters)
    reasons = _Reasons(result, snapshot.profile)
    failing = result.failing.tolist() if result.failing is not None else []
    return Selection(names, reasons, tuple(sorted(snapshot.fleet.names(failing))), result)


class Snapshot:
    """Objects at one moment, ready for any number of schedules: they are read and the fleet is built once."""

    def __init__(self, objects: Iterable[JsonMapping], now: datetime) -> None:
        every = list(objects)
        self.now = now
        self.fleet = _fleet(every, now)
        self.profile, self._scorers = installed()
        self.placements = [PLACEMENTS.partly(each) for each in _of_kind(every, "Placement")]
        self.rules = rules_read(_of_kind(every, "ManagedClusterSet"))
        self.bindings = bindings_read(_of_kind(every, "ManagedClusterSetBinding"))
        self._decisions = [_DECISIONS.partly(each).obj for each in _of_kind(every, "PlacementDecision")]
        self._everything_is_visible = not self.rules and not self.bindings

    def schedule(self, placement: Reading[Placement]) -> ScheduleResult:
        """Decide where a placement goes, as the hub would. A fault of the placement is in the result."""
        plan, sets = self.compiled(placement)
        own, foreign = _decided_names(self._decisions, plan.namespace, plan.name)
        return schedule(Cycle(plan, self.fleet, sets, self.now, decided(self.fleet, own, foreign)), self.profile)

    def compiled(self, placement: Reading[Placement]) -> tuple[Plan, Visibility]:
        """A placement, ready to be scheduled, and the sets that it may choose from."""
        plan = plan_read(placement, cel_compiler(self.fleet.scores), self._scorers)
        if self._everything_is_visible:
            everything = dict.fromkeys(plan.cluster_sets or ("everything",), _EVERYTHING)
            return plan, visible(plan.cluster_sets, everything, everything)
        return plan, visible(plan.cluster_sets, bound_in(plan.namespace, self.bindings), self.rules)

    def placement(self, name: str) -> Reading[Placement]:
        """The placement of that name, or of that namespace and name with a slash between. Raises InvalidObjectError."""
        found = [each for each in self.placements if name in (each.obj.metadata.name, _shown(each.obj.metadata))]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidObjectError("", f"placement {name!r} is in several namespaces: name one as NAMESPACE/NAME")
        raise InvalidObjectError("", f"there is no Placement {name!r}")


def _of_kind(objects: Sequence[JsonMapping], kind: str) -> list[JsonObject]:
    return [dict(obj) for obj in objects if obj.get("kind") == kind]


@overload
def explain(
    fleet: Objects,
    placement: str | JsonMapping,
    *,
    cluster: None = None,
    now: datetime | None = None,
) -> PlacementExplanation: ...
@overload
def explain(
    fleet: Objects,
    placement: str | JsonMapping,
    *,
    cluster: str,
    now: datetime | None = None,
) -> ClusterExplanation: ...
@overload
def explain(fleet: Objects, *, cluster: str, now: datetime | None = None) -> ClusterVerdicts: ...
@overload
def explain(fleet: Objects, *, cluster_set: str, now: datetime | None = None) -> SetExplanation: ...
def explain(
    fleet: Objects,
    placement: str | JsonMapping | None = None,
    *,
    cluster: str | None = None,
    cluster_set: str | None = None,
    now: datetime | None = None,
) -> PlacementExplanation | ClusterExplanation | ClusterVerdicts | SetExplanation:
    """Say why: of a placement, of one cluster in it, of one cluster in all placements, or of a cluster set.

    A placement is an object, or the name of one among the objects. The result prints as a table, and notebooks show it
    as one. Raises InvalidObjectError for a name that is not there.
    """
    snapshot = Snapshot(plain_objects(fleet, "fleet"), moment(now, "now"))
    for given, name in ((cluster, "cluster"), (cluster_set, "cluster_set")):
        if given is not None:
            expected(given, str, name, "a name")
    if cluster_set is not None:
        rule = snapshot.rules.get(cluster_set)
        if rule is None:
            raise InvalidObjectError("", f"there is no ManagedClusterSet {cluster_set!r}")
        placements = (each.obj for each in snapshot.placements)
        return explain_set(cluster_set, rule, snapshot.fleet, snapshot.bindings, placements)
    if cluster is not None and cluster not in snapshot.fleet:
        raise InvalidObjectError("", f"there is no ManagedCluster {cluster!r}")
    if placement is None:
        if cluster is None:
            raise InvalidObjectError("", "say what to explain: a placement, a cluster, or a cluster set")
        results = map(snapshot.schedule, snapshot.placements)
        return explain_everywhere(cluster, results, snapshot.rules, snapshot.bindings, snapshot.fleet, snapshot.profile)
    if isinstance(placement, str):
        result = snapshot.schedule(snapshot.placement(placement))
    else:
        result = snapshot.schedule(PLACEMENTS.partly(plain_object(placement, "placement")))
    if cluster is None:
        return explain_placement(result, snapshot.profile)
    return explain_cluster(result, cluster, snapshot.profile, snapshot.rules)


def _decided_names(decisions: list[PlacementDecision], namespace: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Clusters decided for this placement, and how often others have decided for each cluster."""
    own: list[str] = []
    foreign: dict[str, int] = {}
    for page in decisions:
        label = page.metadata.labels.get("cluster.open-cluster-management.io/placement")
        is_own = page.metadata.namespace == namespace and label == name
        for decision in page.status.decisions:
            if is_own:
                own.append(decision.cluster_name)
            else:
                foreign[decision.cluster_name] = foreign.get(decision.cluster_name, 0) + 1
    return own, foreign


class _Words(Mapping[str, str]):
    """Reasons of matches, worded when asked for."""

    def __init__(self) -> None:
        self.matches: dict[str, Match] = {}

    def __getitem__(self, name: str) -> str:
        return self.matches[name].reason

    def __iter__(self) -> Iterator[str]:
        return iter(self.matches)

    def __len__(self) -> int:
        return len(self.matches)


class _Reasons(Mapping[str, str]):
    """Reasons of a schedule, worked out when asked for."""

    def __init__(self, result: ScheduleResult, profile: Profile) -> None:
        self._result = result
        self._profile = profile

    def __iter__(self) -> Iterator[str]:
        fleet = self._result.cycle.fleet
        return iter(fleet.names(fleet.rows()))

    def __len__(self) -> int:
        return len(self._result.cycle.fleet)

    def __getitem__(self, name: str) -> str:
        if name not in self._result.cycle.fleet:
            raise KeyError(name)
        reason = why_not(self._result, name, self._profile)
        return "selected: it passes every filter and ranks high enough" if reason is None else reason
