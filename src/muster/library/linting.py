"""`muster.lint`: mistakes in objects that are valid and still cannot be meant. `muster lint` judges with it as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from muster.api.managed_cluster_set import ManagedClusterSet
from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.reading import Reader
from muster.library.overlays import in_namespace, overlaid
from muster.placement.explain.tables import Table, Tabular
from muster.placement.lint.placements import lint as lint_plan
from muster.placement.lint.placements import lint_binding, lint_fields, lint_set, lint_spec, vocabulary
from muster.placement.schedule.plan import PLACEMENTS
from muster.selection import Snapshot
from muster.selectors.cel import CelLimits
from muster.values.arguments import moment, plain_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.placement import Plan, Rule, Visibility
    from muster.placement.lint.findings import Finding
    from muster.placement.lint.fleet_facts import Vocabulary
    from muster.selection import Objects
    from muster.values.json import JsonObject

JUDGED = ("Placement", "ManagedClusterSet", "ManagedClusterSetBinding")
ABOUT_SETS = frozenset({"empty-sets", "no-binding", "no-such-set", "set-not-bound"})


@dataclass(frozen=True, slots=True)
class World:
    """Everything that objects are judged by. `compiled` gives a placement's plan and the sets it may choose from."""

    rules: Mapping[str, Rule]
    known: Vocabulary
    namespace: str
    compiled: Callable[[Reading[Placement]], tuple[Plan, Visibility]]
    knows_sets: bool = True  # else nothing can be said of them


def world_of(objects: list[JsonObject], now: datetime) -> World:
    """What is in these objects to judge by."""
    snapshot = Snapshot(overlaid(objects, "default"), now)
    return World(snapshot.rules, vocabulary(snapshot.fleet), "default", snapshot.compiled)


def judged(obj: JsonObject, world: World) -> list[Finding]:
    """What there is to say of one object, whose namespace is known."""
    found = lint_fields(obj)
    if any(each.code == "invalid-value" for each in found):
        return found  # what has the wrong shape cannot be judged any further
    match obj["kind"]:
        case "Placement":
            found += _judged_placement(obj, world)
        case "ManagedClusterSet":
            found += lint_set(Reader(ManagedClusterSet).partly(obj).obj, world.known)
        case "ManagedClusterSetBinding" if world.rules:
            found += lint_binding(Reader(ManagedClusterSetBinding).partly(obj).obj, world.rules)
    return [each for each in found if world.knows_sets or each.code not in ABOUT_SETS]


def _judged_placement(obj: JsonObject, world: World) -> list[Finding]:
    limit, placement = CelLimits().estimate, PLACEMENTS.partly(obj)
    plan, seen = world.compiled(placement)
    if not world.known.clusters and not world.rules:
        return lint_spec(plan, limit, placement.obj.spec)
    return lint_plan(plan, seen, world.known, limit, placement.obj.spec)


@dataclass(frozen=True, slots=True)
class FoundIn:
    """A finding, and the object it is about: its kind and name as people write it."""

    object: str
    finding: Finding

    @property
    def code(self) -> str:
        """Stable: docs/reference/lint.md has all of them."""
        return self.finding.code

    @property
    def severity(self) -> str:
        """error, warning or info."""
        return self.finding.severity.value


class Findings(Sequence[FoundIn], Tabular):
    """What lint has found, in the order of the objects. Prints as a table; notebooks show it as one."""

    __slots__ = ("_found", "clusters")

    def __init__(self, found: Sequence[FoundIn], clusters: int) -> None:
        self._found = tuple(found)
        self.clusters = clusters  # that the objects were judged by

    @overload
    def __getitem__(self, at: int) -> FoundIn: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[FoundIn]: ...
    def __getitem__(self, at: int | slice) -> FoundIn | Sequence[FoundIn]:
        return self._found[at]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Findings: {len(self)}, judged by {self.clusters} clusters>"

    def table(self) -> Table:
        """Each with its fix."""
        rows = tuple(
            (each.severity, each.code, each.object, each.finding.where, each.finding.message, each.finding.remedy)
            for each in self
        )
        by = f"judged by {self.clusters} clusters" if self.clusters else "judged without a fleet"
        headers = ("Severity", "Code", "Object", "Field", "Message", "Fix")
        return Table(f"{len(self) or 'no'} findings, {by}", headers, rows)


def lint(objects: Objects, fleet: Objects = (), *, now: datetime | None = None) -> Findings:
    """Look for mistakes in placements, sets and bindings, judged by the clusters among them and in the fleet.

    Without any cluster only what can be judged by itself is. Raises InvalidObjectError for what is no object.

    >>> import muster
    >>> placement = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
    ...              "metadata": {"name": "shop"}, "spec": {"numberOfCluster": 2}}
    >>> [each.code for each in muster.lint(placement)]
    ['unknown-field']
    """
    every, others = plain_objects(objects, "objects"), plain_objects(fleet, "fleet")
    world = world_of([*others, *every], moment(now, "now"))
    found = []
    for obj in every:
        if obj.get("kind") in JUDGED:
            placed = in_namespace(obj, world.namespace)
            metadata = placed["metadata"]
            name = f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]
            found += [FoundIn(f"{obj['kind']} {name}", each) for each in judged(placed, world)]
    return Findings(found, world.known.clusters)
