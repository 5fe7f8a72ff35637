"""Mistakes that a placement can have and still be valid: names that no cluster has, comparisons that can never hold.

Looks at a plan, at the spec it was made from, and at the fleet it would choose from. Pure; `muster lint` and the API's
warnings show what it finds. A finding says what, where, and how to fix it; the rules are listed in findings.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from muster.api.placement import AddOnScore, PlacementSpec
from muster.placement.lint.expressions import costs, on_the_fleet, uncompilable
from muster.placement.lint.fields import lint_fields
from muster.placement.lint.findings import RULES, Finding, Severity, meant
from muster.placement.lint.fleet_facts import GroupedFleet, Vocabulary, vocabulary
from muster.placement.lint.predicates import alternatives, predicate_field
from muster.placement.lint.requirements import contradictions, unmet
from muster.placement.lint.sets import lint_binding, lint_set, visible_sets
from muster.placement.schedule.scorers import BUILT_IN, AddOnScorer
from muster.selectors import Verdict
from muster.selectors.cel import CelLimits, CelSelector
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.values.paths import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.parts import LabelSelector as WrittenSelector
    from muster.api.placement import ClusterSelector
    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility
    from muster.placement.schedule.tolerations import Taint, Toleration
    from muster.selectors import Selector

__all__ = [
    "RULES",
    "Finding",
    "GroupedFleet",
    "Severity",
    "Vocabulary",
    "lint",
    "lint_binding",
    "lint_fields",
    "lint_set",
    "lint_spec",
    "vocabulary",
]

_OPERATORS: Final = ("", "Equal", "Exists")


def lint(
    plan: Plan,
    visibility: Visibility,
    known: Vocabulary,
    limit: int,
    spec: PlacementSpec | None = None,
) -> list[Finding]:
    """Everything worth saying about a placement, in the order of its fields. With its spec, fields are exact."""
    found = lint_spec(plan, limit, spec)
    if plan.fault is not None:
        return found
    found += visible_sets(plan, visibility, known)
    if known.clusters:
        on_fleet = [*_predicates(plan, known, spec), *_tolerations(plan, known), *_scores(plan, known, spec)]
        found += [*on_fleet, *_topologies(plan, known)]
        if not any(each.severity is not Severity.INFO for each in found):
            found += _outcome(plan, visibility, known)
    return sorted(found, key=_place_in_the_spec)


def lint_spec(plan: Plan, limit: int, spec: PlacementSpec | None = None) -> list[Finding]:
    """What can be said without a fleet."""
    if plan.fault is not None:
        limits = CelLimits(estimate=limit)
        broken = [
            each for where, text in _expressions(spec or PlacementSpec()) for each in uncompilable(text, where, limits)
        ]
        name = plan.fault.unknown_scorer
        fix = meant(name, list(BUILT_IN)) if name else ""
        return broken or [Finding("misconfigured", plan.fault.field, plan.fault.message, fix)]
    found = list(alternatives(plan))
    for part, where, selector in _parts(plan, spec):
        if isinstance(part, LabelSelector):
            found += contradictions(part, where, selector)
        elif isinstance(part, CelSelector):
            for number, program in enumerate(part.programs):
                found += costs(program, _expression_field(where, part, number), limit)
    return found


def _expressions(spec: PlacementSpec) -> Iterator[tuple[str, str]]:
    for index, predicate in enumerate(spec.predicates):
        for number, text in enumerate(predicate.required_cluster_selector.cel_selector.cel_expressions):
            yield f"{predicate_field(index)}.celSelector.celExpressions[{number}]", text


def _parts(plan: Plan, spec: PlacementSpec | None) -> Iterator[tuple[Selector, str, WrittenSelector | None]]:
    """The selectors of all predicates, each with its field and, if known, what was written there."""
    written = () if spec is None else spec.predicates
    for index, parts in enumerate(plan.predicates):
        selectors = written[index].required_cluster_selector if index < len(written) else None
        expressions = 0
        for part in map(unwrapped, parts):
            if isinstance(part, LabelSelector):
                yield part, f"{predicate_field(index)}.{part.noun}Selector", _written(part, selectors)
            elif isinstance(part, CelSelector):
                yield part, f"{predicate_field(index)}.celSelector.celExpressions[{expressions}]", None
                expressions += len(part.programs)
            else:
                yield part, predicate_field(index), None


def _written(part: LabelSelector, selectors: ClusterSelector | None) -> WrittenSelector | None:
    if selectors is None:
        return None
    return selectors.claim_selector if part.noun == "claim" else selectors.label_selector


def _expression_field(first: str, part: CelSelector, number: int) -> str:
    return first if len(part.programs) == 1 else first.replace("celExpressions[0]", f"celExpressions[{number}]")


def _predicates(plan: Plan, known: Vocabulary, spec: PlacementSpec | None) -> Iterator[Finding]:
    for part, where, selector in _parts(plan, spec):
        if isinstance(part, LabelSelector):
            yield from unmet(part, where, selector, known)
        elif isinstance(part, CelSelector):
            yield from on_the_fleet(
                part, [_expression_field(where, part, at) for at in range(len(part.programs))], known
            )
    for number, group in enumerate(plan.groups.groups):
        where = f"spec.decisionStrategy.groupStrategy.decisionGroups[{number}].groupClusterSelector"
        for each in group.selectors:
            if isinstance(each, LabelSelector):
                yield from unmet(each, f"{where}.{each.noun}Selector", None, known)


def _tolerations(plan: Plan, known: Vocabulary) -> Iterator[Finding]:
    for number, each in enumerate(plan.tolerations):
        if not any(each.matches(taint) for taint in known.taints):
            message, fix = _useless(each, known)
            yield Finding("useless-toleration", f"spec.tolerations[{number}]", message, fix)


def _useless(toleration: Toleration, known: Vocabulary) -> tuple[str, str]:
    if toleration.operator not in _OPERATORS:
        message = f"operator {toleration.operator!r} tolerates nothing"
        return message, meant(toleration.operator, ["Equal", "Exists"])
    same_key = sorted(str(taint) for taint in known.taints if taint.key == toleration.key)
    if same_key:
        asked = f"{toleration.key}={toleration.value}" + (f":{toleration.effect}" if toleration.effect else "")
        return f"tolerates {asked}, which no cluster has", f"there is {', '.join(same_key)}"
    message = f"tolerates {toleration.key!r}, and no cluster has such a taint"
    return message, meant(toleration.key, sorted({taint.key for taint in known.taints}))


def _scores(plan: Plan, known: Vocabulary, spec: PlacementSpec | None) -> Iterator[Finding]:
    configurations = () if spec is None else spec.prioritizer_policy.configurations
    places = {
        each.score_coordinate.add_on: at
        for at, each in enumerate(configurations)
        if each.score_coordinate is not None and each.score_coordinate.add_on is not None
    }
    for weighted in plan.scorers:
        scorer = getattr(weighted.scorer, "scorer", weighted.scorer)
        if not isinstance(scorer, AddOnScorer):
            continue
        at = places.get(AddOnScore(scorer.resource, scorer.score))
        where = "spec.prioritizerPolicy" + ("" if at is None else f".configurations[{at}].scoreCoordinate.addOn")
        if scorer.resource not in known.scores:
            message = f"no cluster has the score {scorer.resource!r}"
            yield Finding("no-such-score", where, message, meant(scorer.resource, known.scores))
        elif scorer.score not in known.scores[scorer.resource]:
            message = f"no score {scorer.resource!r} has the item {scorer.score!r}"
            yield Finding("no-such-score", where, message, meant(scorer.score, known.scores[scorer.resource]))


def _topologies(plan: Plan, known: Vocabulary) -> Iterator[Finding]:
    for number, constraint in enumerate(plan.spread):
        last = constraint.path[-1]
        noun, name = ("claim", last.value) if isinstance(last, Where) else ("label", str(last))
        present = known.claims if noun == "claim" else known.labels
        if name not in present:
            where = f"spec.spreadPolicy.spreadConstraints[{number}].topologyKey"
            yield Finding(f"no-such-{noun}", where, f"no cluster has the {noun} {name!r}", meant(name, present))


def _outcome(plan: Plan, visibility: Visibility, known: Vocabulary) -> Iterator[Finding]:
    """What comes out as a whole, when nothing else is wrong."""
    grouped = known.grouped
    matching = _matching(plan.predicates, grouped)
    if matching is None:
        return
    visible = grouped.visible(visibility)
    if not visible.any():
        return
    candidates = matching & visible
    if not candidates.any():
        elsewhere = int(matching.sum())
        message, fix = "no cluster matches, though each condition holds for some", "loosen a condition"
        if elsewhere:
            message = f"no cluster that the placement can see matches; {elsewhere:,} that it cannot see do"
            fix = "bind or name the sets that have them, or loosen a condition"
        yield Finding("selects-nothing", "spec.predicates", message, fix)
        return
    left = candidates & ~grouped.blocked(plan.tolerations)
    if not left.any():
        message = f"all {int(candidates.sum()):,} clusters that match carry taints that are not tolerated"
        untolerated = [str(each) for each in sorted(known.taints, key=str) if not _tolerated(each, plan)]
        yield Finding("all-tainted", "spec.tolerations", message, f"there is {', '.join(untolerated[:3])}")
    elif plan.number is not None and int(left.sum()) < plan.number:
        message = f"{plan.number} clusters are wanted, {int(left.sum())} match"
        yield Finding("too-few-clusters", "spec.numberOfClusters", message)


def _tolerated(taint: Taint, plan: Plan) -> bool:
    return any(each.matches(taint) for each in plan.tolerations)


def _matching(
    predicates: Sequence[Sequence[Selector]], grouped: GroupedFleet
) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """The clusters that match any predicate; None where that cannot be judged."""
    if not predicates:
        return np.ones(len(grouped), dtype=np.bool_)
    matching = np.zeros(len(grouped), dtype=np.bool_)
    for parts in predicates:
        one = np.ones(len(grouped), dtype=np.bool_)
        for part in parts:
            verdicts = grouped.verdicts(part)
            if verdicts is None:
                return None
            one &= verdicts == Verdict.YES
        matching |= one
    return matching


_FIELDS: Final = ("metadata", "spec.clusterSets", "spec.predicates", "spec.tolerations", "spec.numberOfClusters")


def _place_in_the_spec(finding: Finding) -> int:
    return next((at for at, field in enumerate(_FIELDS) if finding.where.startswith(field)), len(_FIELDS))
