"""Why a preferred candidate could not be chosen: the plain reason where there is one, else the facts in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.reasons import Code, Reason, Subject
from muster.resolution.catalog.bundles import Entry
from muster.resolution.constraints.forms import messages
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind
from muster.resolution.telling.reasons import reason_of

if TYPE_CHECKING:
    from muster.resolution.solving.clauses import Choice, Clause, Solution
    from muster.resolution.solving.problem import Problem


def why_passed_over(problem: Problem, solution: Solution, choice: Choice, candidate: int) -> Reason:
    """Looks one step far; `explain.py` tells the whole of it."""
    standing = set(solution.chosen[: choice.standing])
    found = (_plain_reason(problem, clause, candidate, standing) for clause in problem.about(candidate))
    return next((each for each in found if each is not None), Reason(Code.NEEDS_CONFLICT))


def _plain_reason(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> Reason | None:
    match clause.reason:
        case r.Deprecated() | r.NotAllowed() | r.Faulty():
            return reason_of(clause, problem)
        case r.Needs() if clause.kind is Kind.DEPENDENCY:
            return _unmet(problem, clause, standing)
        case r.OnePackage(package=package):
            taken = _taken(problem, clause, candidate, standing)
            return Reason(Code.PACKAGE_TAKEN, Subject(package=package), {"by": taken}) if taken else None
        case r.OneProvider(api=api):
            taken = _taken(problem, clause, candidate, standing)
            return Reason(Code.API_TAKEN, parameters={"by": taken, **api._asdict()}) if taken else None
        case _:
            return None


def _unmet(problem: Problem, clause: Clause, standing: set[int]) -> Reason | None:
    constraint = clause.reason.requirement.constraint
    asked, said = what_is_asked(constraint), tuple(messages(constraint))
    told = {"messages": said} if said else {}
    if not clause.others:
        return Reason(Code.NEED_UNMET, parameters=told, parts=(asked,))
    blocked = _all_blocked(problem, clause, standing)
    return Reason(Code.NEED_BLOCKED, parameters=told, parts=(asked, *blocked)) if blocked else None


def _all_blocked(problem: Problem, clause: Clause, standing: set[int]) -> tuple[Reason, ...]:
    """Why none of those who could meet a requirement can be chosen; empty if one perhaps can."""
    if any(other in standing for other in clause.others):
        return ()
    reasons: dict[Reason, None] = {}
    for other in clause.others:
        found = (_in_the_way(problem, each, other, standing) for each in problem.about(other))
        reason = next((each for each in found if each is not None), None)
        if reason is None:
            return ()
        reasons[reason] = None
    return tuple(reasons)


def _in_the_way(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> Reason | None:
    """What a choice that stands already has against a candidate."""
    return _plain_reason(problem, clause, candidate, standing) if clause.kind is Kind.AT_MOST else None


def _taken(problem: Problem, clause: Clause, candidate: int, standing: set[int]) -> str:
    for other in clause.others:
        variable = problem.variables[other]
        if other in standing and other != candidate and isinstance(variable, Entry):
            return variable.name
    return ""
