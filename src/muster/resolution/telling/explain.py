"""Why this version and not that one: a package in the light of a finished resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.resolution.catalog.bundles import Entry
from muster.resolution.solving import reasons as r
from muster.resolution.solving.sat import GoOn, always
from muster.resolution.telling.story import tell

if TYPE_CHECKING:
    from muster.resolution.resolve import Resolved

_SHOWN = 5  # other versions that are explained at length


def explain_package(outcome: Resolved, package: str, go_on: GoOn = always) -> str:
    """Several lines: who asked for it, what was chosen, and what is against each other version."""
    problem, plan = outcome.problem, outcome.plan
    step = plan.step(package)
    numbers = [number for entry, number in problem.numbers.items() if r.family(entry) == package]
    if step is None:
        if not numbers:
            known = any(catalog.by_package.get(package) for catalog in problem.request.catalogs)
            return f"{package}: " + ("nothing asks for it" if known else "no catalog has it")
        lines = [f"{package}: it could meet a requirement, but others were preferred"]
    else:
        lines = [f"{package}: {step.name} is chosen"]
        lines += [f"  because {asked}" for asked in step.asked_by]
    chosen = set(outcome.solution.chosen)
    preferred = {each.name for each in step.passed_over} if step else set()
    others = [number for number in numbers if number not in chosen]
    for number in others[:_SHOWN]:
        lines += _against(outcome, number, preferred, go_on)
    if len(others) > _SHOWN:
        lines.append(f"  and {len(others) - _SHOWN} more that were less preferred")
    return "\n".join(lines)


def _against(outcome: Resolved, number: int, preferred: set[str], go_on: GoOn) -> list[str]:
    """What is against a version; if nothing is, it was simply less preferred."""
    entry = outcome.problem.variables[number]
    if not isinstance(entry, Entry):
        return []
    story = tell(outcome.problem, assumed=_before(outcome, number), go_on=go_on)
    if not story.facts:
        return [f"  {entry}: possible, but less preferred"]
    lead = "preferred, but it cannot be" if entry.name in preferred else "it cannot be"
    return [f"  {entry}: {lead}:", *(f"    {each.sentence}" for each in story.facts)]


def _before(outcome: Resolved, number: int) -> list[int]:
    """The candidate, with what had been chosen when it was passed over."""
    for choice in outcome.solution.choices:
        if number in choice.passed_over:
            return [*outcome.solution.chosen[: choice.standing], number]
    return [number]
