"""Mistakes that a placement can have and still be valid: names that no cluster has, comparisons that can never hold.

Looks at a plan, at the spec it was made from, and at the fleet it would choose from. Pure; `muster lint` and the API's
warnings show what it finds. A finding says what, where, and how to fix it; the rules are listed in findings.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from muster.placement.lint.expressions import costs, on_the_fleet, uncompilable
from muster.placement.lint.fields import lint_fields
from muster.placement.lint.findings import RULES, Finding, Severity, meant
from muster.placement.lint.fleet_facts import Survey, Vocabulary, vocabulary
from muster.placement.lint.predicates import alternatives, predicate_field
from muster.placement.lint.requirements import contradictions, unmet
from muster.placement.lint.sets import lint_binding, lint_set, visible_sets
from muster.placement.schedule.scorers import BUILT_IN, AddOnScorer
from muster.selectors import Verdict
from muster.selectors.cel import CelLimits, CelSelector
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.selectors.paths import Element
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility
    from muster.placement.schedule.tolerations import Toleration
    from muster.selectors import Selector

__all__ = [
    "RULES",
    "Finding",
    "Severity",
    "Survey",
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
    spec: JsonMapping | None = None,
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


def lint_spec(plan: Plan, limit: int, spec: JsonMapping | None = None) -> list[Finding]:
    """What can be said without a fleet."""
    if plan.fault is not None:
        limits = CelLimits(estimate=limit)
        broken = [each for where, text in _expressions(spec or {}) for each in uncompilable(text, where, limits)]
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


def _expressions(spec: JsonMapping) -> Iterator[tuple[str, str]]:
    for index, predicate in enumerate(spec.get("predicates") or ()):
        selector = ((predicate or {}).get("requiredClusterSelector") or {}).get("celSelector") or {}
        for number, text in enumerate(selector.get("celExpressions") or ()):
            yield f"{predicate_field(index)}.celSelector.celExpressions[{number}]", str(text)


def _parts(plan: Plan, spec: JsonMapping | None) -> Iterator[tuple[Selector, str, JsonMapping | None]]:
    """The selectors of all predicates, each with its field and, if known, what was written there."""
    written = (spec or {}).get("predicates") or ()
    for index, parts in enumerate(plan.predicates):
        selectors = ((written[index] or {}).get("requiredClusterSelector") or {}) if index < len(written) else None
        expressions = 0
        for part in map(unwrapped, parts):
            if isinstance(part, LabelSelector):
                name = f"{part.noun}Selector"
                yield part, f"{predicate_field(index)}.{name}", None if selectors is None else selectors.get(name)
            elif isinstance(part, CelSelector):
                yield part, f"{predicate_field(index)}.celSelector.celExpressions[{expressions}]", None
                expressions += len(part.programs)
            else:
                yield part, predicate_field(index), None


def _expression_field(first: str, part: CelSelector, number: int) -> str:
    return first if len(part.programs) == 1 else first.replace("celExpressions[0]", f"celExpressions[{number}]")


def _predicates(plan: Plan, known: Vocabulary, spec: JsonMapping | None) -> Iterator[Finding]:
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


def _scores(plan: Plan, known: Vocabulary, spec: JsonMapping | None) -> Iterator[Finding]:
    configurations = ((spec or {}).get("prioritizerPolicy") or {}).get("configurations") or ()
    places = {
        (
            (add_on := (each.get("scoreCoordinate") or {}).get("addOn") or {}).get("resourceName"),
            add_on.get("scoreName"),
        ): at
        for at, each in enumerate(configurations)
    }
    for weighted in plan.scorers:
        scorer = getattr(weighted.scorer, "scorer", weighted.scorer)
        if not isinstance(scorer, AddOnScorer):
            continue
        at = places.get((scorer.resource, scorer.score))
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
        noun, name = ("claim", last.value) if isinstance(last, Element) else ("label", str(last))
        present = known.claims if noun == "claim" else known.labels
        if name not in present:
            where = f"spec.spreadPolicy.spreadConstraints[{number}].topologyKey"
            yield Finding(f"no-such-{noun}", where, f"no cluster has the {noun} {name!r}", meant(name, present))


def _outcome(plan: Plan, visibility: Visibility, known: Vocabulary) -> Iterator[Finding]:
    """What comes out as a whole, when nothing else is wrong."""
    survey = known.survey
    matching = _matching(plan.predicates, survey)
    if matching is None:
        return
    visible = survey.visible(visibility)
    if not visible.any():
        return
    seen = matching & visible
    if not seen.any():
        elsewhere = int(matching.sum())
        message, fix = "no cluster matches, though each condition holds for some", "loosen a condition"
        if elsewhere:
            message = f"no cluster that the placement can see matches; {elsewhere:,} that it cannot see do"
            fix = "bind or name the sets that have them, or loosen a condition"
        yield Finding("selects-nothing", "spec.predicates", message, fix)
        return
    left = seen & ~survey.blocked(plan.tolerations)
    if not left.any():
        message = f"all {int(seen.sum()):,} clusters that match carry taints that are not tolerated"
        untolerated = [str(each) for each in sorted(known.taints, key=str) if not _tolerated(each, plan)]
        yield Finding("all-tainted", "spec.tolerations", message, f"there is {', '.join(untolerated[:3])}")
    elif plan.number is not None and int(left.sum()) < plan.number:
        message = f"{plan.number} clusters are wanted, {int(left.sum())} match"
        yield Finding("too-few-clusters", "spec.numberOfClusters", message)


def _tolerated(taint: Json, plan: Plan) -> bool:
    return any(each.matches(taint) for each in plan.tolerations)


def _matching(predicates: Sequence[Sequence[Selector]], survey: Survey) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """The clusters that match any predicate; None where that cannot be judged."""
    if not predicates:
        return np.ones(len(survey), dtype=np.bool_)
    matching = np.zeros(len(survey), dtype=np.bool_)
    for parts in predicates:
        one = np.ones(len(survey), dtype=np.bool_)
        for part in parts:
            verdicts = survey.verdicts(part)
            if verdicts is None:
                return None
            one &= verdicts == Verdict.YES
        matching |= one
    return matching


_FIELDS: Final = ("metadata", "spec.clusterSets", "spec.predicates", "spec.tolerations", "spec.numberOfClusters")


def _place_in_the_spec(finding: Finding) -> int:
    return next((at for at, field in enumerate(_FIELDS) if finding.where.startswith(field)), len(_FIELDS))
