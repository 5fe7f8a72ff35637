"""Mistakes that a placement can have and still be valid: names that no cluster has, comparisons that can never hold.

Looks at a plan and at the fleet it would choose from. Pure; `muster lint` prints what it finds. A finding says what,
where, and how to fix it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.placement.taints import TAINTS
from muster.placement.tolerations import taints_of
from muster.selectors.cel import CelSelector, path_of
from muster.selectors.labels import LabelSelector
from muster.selectors.paths import LABELS, SCORES, Element, Path
from muster.values.labels import Operator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from muster.fleet import Fleet
    from muster.placement.plan import Plan
    from muster.placement.sets import Visibility
    from muster.selectors import Selector

_SAMPLE: Final = 5000  # clusters looked at for names and values; a name that none of so many has is a mistake
_COSTLY: Final = 0.25  # of the limit
_EQUALITIES: Final = (Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at."""

    where: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" + (f" ({self.fix})" if self.fix else "")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the clusters of a fleet have: label keys and values, claim names and values, score names."""

    labels: Mapping[str, frozenset[str]]
    claims: Mapping[str, frozenset[str]]
    scores: frozenset[str]
    clusters: int


def vocabulary(fleet: Fleet) -> Vocabulary:
    labels: dict[str, set[str]] = {}
    claims: dict[str, set[str]] = {}
    scores: set[str] = set()
    for row in fleet.rows()[:_SAMPLE].tolist():
        cluster = fleet.load(row)
        for key, value in ((cluster.get("metadata") or {}).get("labels") or {}).items():
            labels.setdefault(key, set()).add(value)
        for claim in (cluster.get("status") or {}).get("clusterClaims") or ():
            claims.setdefault(claim.get("name", ""), set()).add(claim.get("value", ""))
        scores |= fleet.scores.of(fleet.name(row)).keys()
    return Vocabulary(
        {key: frozenset(values) for key, values in labels.items()},
        {key: frozenset(values) for key, values in claims.items()},
        frozenset(scores),
        len(fleet),
    )


def lint(plan: Plan, fleet: Fleet, visibility: Visibility, known: Vocabulary, limit: int) -> list[Finding]:
    """Everything worth saying about a placement, in the order of its fields."""
    if plan.fault is not None:
        return [Finding("spec", plan.fault.message)]
    return [
        *_sets(plan, visibility, fleet),
        *_predicates(plan, fleet, known, limit),
        *_tolerations(plan, fleet),
        *_scorers(plan, known),
    ]


def _sets(plan: Plan, visibility: Visibility, fleet: Fleet) -> Iterator[Finding]:
    if not visibility.bound:
        fix = f"create a ManagedClusterSetBinding in {plan.namespace}"
        yield Finding("metadata.namespace", f"no cluster set is bound to namespace {plan.namespace}", fix)
        return
    for name in plan.cluster_sets:
        if name not in visibility.bound:
            yield Finding(
                "spec.clusterSets", f"{name!r} is not bound to the namespace", _nearest(name, visibility.bound)
            )
    if visibility.eligible and not visibility.available(fleet).any():
        names = ", ".join(name for name, _ in visibility.eligible)
        yield Finding("spec.clusterSets", f"no cluster is in {names}")


def _predicates(plan: Plan, fleet: Fleet, known: Vocabulary, limit: int) -> Iterator[Finding]:
    seen: dict[tuple[Selector, ...], int] = {}
    for number, parts in enumerate(plan.predicates):
        where = f"spec.predicates[{number}]"
        if not parts and len(plan.predicates) > 1:
            yield Finding(where, "matches every cluster, so the other predicates mean nothing", "remove it, or them")
        if parts in seen:
            yield Finding(where, f"is the same as predicate {seen[parts] + 1}", "remove one")
        seen.setdefault(parts, number)
        for part in parts:
            if isinstance(part, CelSelector):
                yield from _expression(part, f"{where}.celSelector", fleet, known, limit)
            elif isinstance(part, LabelSelector):
                yield from _requirements(part, f"{where}.{part.noun}Selector", known)


def _requirements(part: LabelSelector, where: str, known: Vocabulary) -> Iterator[Finding]:
    present = known.labels if part.noun == "label" else known.claims
    equal: dict[str, frozenset[str]] = {}
    for each in part.requirements.requirements:
        positive = each.operator in _EQUALITIES
        if each.key not in present and (positive or each.operator is Operator.EXISTS):
            yield Finding(where, f"no cluster has the {part.noun} {each.key!r}", _nearest(each.key, present))
        elif positive and not each.values & present[each.key]:
            wanted = ", ".join(sorted(each.values))
            near = _nearest(wanted, present[each.key])
            yield Finding(where, f"no cluster has {each.key} in ({wanted})", near)
        if positive:
            both = equal.get(each.key, each.values) & each.values
            if not both:
                yield Finding(where, f"asks for two different values of {each.key!r} at once: nothing can match")
            equal[each.key] = both


def _expression(part: CelSelector, where: str, fleet: Fleet, known: Vocabulary, limit: int) -> Iterator[Finding]:
    for program in part.programs:
        for path in sorted({path_of(read) for read in program.reads}, key=repr):
            yield from _read(path, where, program.text, fleet, known)
        worst = program.estimate(managed_cluster_sizes).max
        if worst > _COSTLY * limit:
            share = f"{worst / limit:.0%} of the limit"
            yield Finding(where, f"'{program.text}' may cost up to {worst}, {share}", "compare fewer or shorter things")


def _read(path: Path, where: str, text: str, fleet: Fleet, known: Vocabulary) -> Iterator[Finding]:
    """A name in an expression that no cluster has, or that only some have and that is not asked for first."""
    if path[:1] == (SCORES,) and len(path) > 1:
        if path[1] not in known.scores:
            yield Finding(where, f"no cluster has the score {path[1]!r}", _nearest(str(path[1]), known.scores))
        return
    if len(path) == 3 and path[:2] == ("metadata", LABELS) and isinstance(path[2], str):
        key = path[2]
        if key not in known.labels:
            yield Finding(where, f"no cluster has the label {key!r}", _nearest(key, known.labels))
            return
        missing = _without(fleet, path)
        if missing and "has(" not in text and "?" not in text:
            safe = f'managedCluster.metadata.labels[?"{key}"].orValue("")'
            yield Finding(where, f"fails on {missing} clusters that have no label {key!r}", f"write {safe}")
    if path[:2] == ("status", "clusterClaims") and len(path) == 3 and isinstance(path[2], Element):
        name = path[2].value
        if name not in known.claims:
            yield Finding(where, f"no cluster has the claim {name!r}", _nearest(name, known.claims))


def _without(fleet: Fleet, path: Path) -> int:
    """How many clusters have nothing at a path."""
    column = fleet.column(path)
    absent = [code for code, value in enumerate(column.values) if isinstance(value, tuple)]
    return int(np.isin(column.codes, absent).sum()) if absent else 0


def _tolerations(plan: Plan, fleet: Fleet) -> Iterator[Finding]:
    column = fleet.column(TAINTS)
    taints = {(taint.key, taint.value): taint for value in column.values for taint in taints_of(value)}
    for number, toleration in enumerate(plan.tolerations):
        if not any(toleration.matches(taint) for taint in taints.values()):
            keys = sorted({key for key, _ in taints})
            where = f"spec.tolerations[{number}]"
            yield Finding(where, "tolerates no taint that a cluster has", _nearest(toleration.key, keys))


def _scorers(plan: Plan, known: Vocabulary) -> Iterator[Finding]:
    for weighted in plan.scorers:
        name = weighted.scorer.name
        if name.startswith("AddOn/") and (resource := name.split("/")[1]) not in known.scores:
            yield Finding(
                "spec.prioritizerPolicy", f"no cluster has the score {resource!r}", _nearest(resource, known.scores)
            )


def _nearest(name: str, present: Iterable[Any]) -> str:
    known: Sequence[str] = sorted(str(each) for each in present)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"there are {', '.join(known[:5])}{' …' if len(known) > 5 else ''}" if known else "there are none"
