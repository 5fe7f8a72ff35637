"""Why this version and not that one: a package in the light of a finished resolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.catalog.bundles import Entry
from muster.resolution.solving import reasons as r
from muster.resolution.telling.story import tell
from muster.resolution.time_limits import GoOn, always
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.resolution.resolve import Resolved

_SHOWN = 5  # other versions that are explained at length


@dataclass(frozen=True, slots=True)
class PackageExplanation:
    """What became of a package, who asked for it, and what is against each other version."""

    package: str
    reason: Reason
    asked_by: tuple[Reason, ...] = ()
    others: tuple[Reason, ...] = ()

    def __str__(self) -> str:
        lines = [sentence(self.reason), *(f"  because {sentence(each)}" for each in self.asked_by)]
        for other in self.others:
            lines += [f"  {sentence(other)}", *(f"    {sentence(fact)}" for fact in other.parts)]
        return "\n".join(lines)

    def to_json(self) -> JsonObject:
        return {
            "package": self.package,
            "text": str(self),
            "reason": msgspec.to_builtins(self.reason),
            "reasons": {
                "askedBy": msgspec.to_builtins(self.asked_by),
                "others": msgspec.to_builtins(self.others),
            },
        }


def explain_package(outcome: Resolved, package: str, go_on: GoOn = always) -> PackageExplanation:
    """Looks at every other version again, with what had been chosen when it was passed over."""
    problem, plan = outcome.problem, outcome.plan
    step = plan.step(package)
    numbers = [number for entry, number in problem.numbers.items() if r.family(entry) == package]
    subject = Subject(package=package)
    if step is None and not numbers:
        known = any(catalog.by_package.get(package) for catalog in problem.request.catalogs)
        return PackageExplanation(package, Reason(Code.NOTHING_ASKS if known else Code.NO_CATALOG_HAS, subject))
    found = Reason(Code.OTHERS_PREFERRED, subject)
    if step is not None:
        found = Reason(Code.BUNDLE_CHOSEN, subject).about(bundle=step.name)
    chosen = set(outcome.solution.chosen)
    preferred = {each.name for each in step.passed_over} if step else set()
    left = [number for number in numbers if number not in chosen]
    against = (_against(outcome, number, preferred, go_on) for number in left[:_SHOWN])
    others = [each for each in against if each is not None]
    if len(left) > _SHOWN:
        others.append(Reason(Code.MORE_LESS_PREFERRED, parameters={"more": len(left) - _SHOWN}))
    return PackageExplanation(package, found, step.reasons if step is not None else (), tuple(others))


def _against(outcome: Resolved, number: int, preferred: set[str], go_on: GoOn) -> Reason | None:
    """What is against a version; if nothing is, it was simply less preferred."""
    entry = outcome.problem.variables[number]
    if not isinstance(entry, Entry):
        return None
    story = tell(outcome.problem, assumed=_before(outcome, number), go_on=go_on)
    subject = Subject(package=entry.package, channel=entry.channel, bundle=entry.name)
    where = {} if entry.installed else {"catalog": entry.catalog.name}
    if not story.facts:
        return Reason(Code.LESS_PREFERRED, subject, where)
    facts = tuple(each.reason for each in story.facts)
    return Reason(Code.CANNOT_BE, subject, {**where, "preferred": entry.name in preferred}, parts=facts)


def _before(outcome: Resolved, number: int) -> list[int]:
    """The candidate, with what had been chosen when it was passed over."""
    for choice in outcome.solution.choices:
        if number in choice.passed_over:
            return [*outcome.solution.chosen[: choice.standing], number]
    return [number]
