"""Predicates side by side: they are alternatives, so one that says the same as another, or less, means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.placement.lint.findings import Finding
from muster.placement.lint.requirements import implies
from muster.selectors.cel import CelSelector
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from muster.placement.schedule.plan import Plan
    from muster.selectors import Selector


def predicate_field(index: int) -> str:
    return f"spec.predicates[{index}].requiredClusterSelector"


def alternatives(plan: Plan) -> Iterator[Finding]:
    """Predicates that others make superfluous."""
    conditions = [_conditions(parts) for parts in plan.predicates]
    for index, own in enumerate(conditions):
        where = f"spec.predicates[{index}]"
        if not own:
            if len(conditions) > 1:
                message = "matches every cluster, so the other predicates mean nothing"
                fix = "remove it, or put all conditions into one predicate: predicates are alternatives"
                yield Finding("matches-everything", where, message, fix)
            continue
        for other, theirs in enumerate(conditions):
            if other == index or not theirs or not _covers(theirs, own):
                continue
            if not _covers(own, theirs):
                message = f"selects nothing that predicate {other + 1} does not select anyway"
                fix = f"predicates are alternatives: remove this one, or remove predicate {other + 1} to ask for more"
                yield Finding("shadowed-predicate", where, message, fix)
                break
            if other < index:
                yield Finding("duplicate-predicate", where, f"says the same as predicate {other + 1}", "remove one")
                break


def _conditions(parts: Sequence[Selector]) -> list[tuple[str, Hashable]]:
    """Single conditions, which must all hold."""
    found: list[tuple[str, Hashable]] = []
    for part in map(unwrapped, parts):
        match part:
            case LabelSelector(requirements=requirements):
                found += [(part.noun, each) for each in requirements.requirements]
            case CelSelector(programs=programs):
                found += [("cel", program.text) for program in programs]
            case _:
                found.append(("other", id(part)))  # no two of them are known to be the same
    return found


def _covers(wide: Sequence[tuple[str, Hashable]], narrow: Sequence[tuple[str, Hashable]]) -> bool:
    """Whether whatever meets the narrow conditions meets the wide ones."""
    return all(any(_implied(condition, by) for by in narrow) for condition in wide)


def _implied(condition: tuple[str, Hashable], by: tuple[str, Hashable]) -> bool:
    if condition[0] != by[0]:
        return False
    if condition[0] in ("label", "claim"):
        return implies(by[1], condition[1])  # type: ignore[arg-type]  # both are requirements, by their noun
    return condition[1] == by[1]
