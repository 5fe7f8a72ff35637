"""What would help: changes to the request, each of which was tried and gives an answer.

Only things the asker can change are offered: drop a want, allow other versions, use another channel, begin without a
pin, uninstall what stands in the way, allow a package.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.resolve import Impossible, Resolved, Undecided, resolve
from muster.resolution.telling.plan import Plan
from muster.resolution.telling.story import conflicting_facts
from muster.resolution.time_limits import GoOn, UndecidedError, always

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.resolution.request import Request, Want
    from muster.resolution.solving.problem import Problem
    from muster.resolution.solving.reasons import Fact

_MOST_TRIED = 24  # changes
_NO_PLAN = Plan(())


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that makes the request possible, with the plan that it leads to, for those who want it."""

    reason: Reason
    request: Request
    plan: Plan = _NO_PLAN

    @property
    def text(self) -> str:
        return sentence(self.reason)


def suggested_fixes(problem: Problem, go_on: GoOn = always, *, with_plans: bool = False) -> list[Fix]:
    """Changes that help, the mildest first. Every one was checked by resolving the changed request."""
    found: list[Fix] = []
    try:
        facts = conflicting_facts(problem, go_on=go_on)
        for tried, idea in enumerate(_ideas(problem, facts)):
            if tried >= _MOST_TRIED:
                break
            outcome = resolve(idea.request, go_on)
            if isinstance(outcome, Undecided):
                break  # what was found until now is still true
            if isinstance(outcome, Resolved):
                found.append(_planned(idea, outcome, wanted=with_plans))
        if not found:
            found += _several_drops(problem.request, facts, go_on, with_plans=with_plans)
    except UndecidedError:
        pass  # what was found until now is still true
    return found


def _planned(idea: Fix, outcome: Resolved, *, wanted: bool) -> Fix:
    """With its plan, and without the problem: those of many fixes together would take much memory."""
    return replace(idea, plan=outcome.plan) if wanted else idea


def _several_drops(request: Request, facts: list[Fact], go_on: GoOn, *, with_plans: bool) -> Iterator[Fix]:
    """When no single change helps there is more than one conflict: drop one want of each, until the rest works."""
    dropped: list[str] = []
    while names := sorted(fact.about for fact in facts if fact.kind == "want"):
        last = next(want for want in request.wants if want.name == names[-1])
        dropped.append(str(last))
        request = replace(request, wants=tuple(want for want in request.wants if want != last))
        if not request.wants:
            return
        outcome = resolve(request, go_on)
        if isinstance(outcome, Resolved):
            yield _planned(Fix(_dropping(*dropped), request), outcome, wanted=with_plans)
        if not isinstance(outcome, Impossible):
            return
        facts = conflicting_facts(outcome.problem, go_on=go_on)


def _ideas(problem: Problem, facts: list[Fact]) -> Iterator[Fix]:
    request = problem.request
    concerned = {fact.about for fact in facts if fact.kind == "want"}
    wants = [want for want in sorted(request.wants, key=lambda each: each.name) if want.name in concerned]
    for want in wants:
        yield from _milder(problem, want)
    for fact in facts:
        if fact.kind == "stays":
            kept = tuple(each for each in request.installed if each.name != fact.about)
            if len(kept) < len(request.installed):
                yield Fix(Reason(Code.UNINSTALL, Subject(bundle=fact.about)), replace(request, installed=kept))
        if fact.kind == "not-allowed" and request.allowed_packages is not None:
            allowed = request.allowed_packages | {fact.about}
            allowing = Reason(Code.ALLOW_PACKAGE, Subject(package=fact.about))
            yield Fix(allowing, replace(request, allowed_packages=allowed))
    for want in wants:
        others = tuple(each for each in request.wants if each != want)
        if others or request.installed:
            yield Fix(_dropping(str(want)), replace(request, wants=others))


def _dropping(*wants: str) -> Reason:
    return Reason(Code.DROP_WANTS, parameters={"wants": wants})


def _milder(problem: Problem, want: Want) -> Iterator[Fix]:
    """The want with one of its conditions changed."""
    request = problem.request
    subject = Subject(package=want.package)

    def with_want(changed: Want) -> Request:
        return replace(request, wants=tuple(changed if each == want else each for each in request.wants))

    if want.version_range:
        for version in _versions_outside(problem, want):
            widened = f"{want.version_range} || {version}"
            allowing = Reason(Code.ALLOW_VERSION, subject, {"version": version})
            yield Fix(allowing, with_want(replace(want, version_range=widened)))
    if want.starting:
        elsewhere = Reason(Code.BEGIN_ELSEWHERE, subject, {"start": want.starting})
        yield Fix(elsewhere, with_want(replace(want, starting="")))
    for channel in _channels(problem, want.package):
        if want.channel and channel != want.channel:
            using = Reason(Code.USE_CHANNEL, subject).about(channel=channel)
            yield Fix(using, with_want(replace(want, channel=channel)))


def _channels(problem: Problem, package: str) -> list[str]:
    return sorted({channel for catalog in problem.request.catalogs for channel in catalog.channels(package)})


def _versions_outside(problem: Problem, want: Want) -> list[str]:
    """Versions the range leaves out, newest first."""
    found = {
        entry.bundle.version
        for catalog in problem.request.catalogs
        for number in catalog.by_package.get(want.package, ())
        for entry in [catalog.entries[number]]
        if entry.bundle.version is not None and (not want.channel or entry.channel == want.channel)
    }
    return [str(version) for version in sorted(found, reverse=True)][:8]
